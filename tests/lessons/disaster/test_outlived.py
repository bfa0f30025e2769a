"""Exercise outlived: what the survivor says of a key that it never got, and of one of its own."""

from __future__ import annotations

from labkit.lessons.disaster.outlived import NOTE, look, rotated, untouched


def test_the_survivors_own_version_is_another_key():
    lab = rotated("near")
    made = lab["paris"].post("transit/encrypt/letters", {"plaintext": NOTE}).data["ciphertext"]
    lab.crash("paris")
    lab.run("5s")
    lab["tokyo"].promote()
    first = lab["tokyo"].post("transit/decrypt/letters", {"ciphertext": made})
    lab["tokyo"].post("transit/keys/letters/rotate", {})
    second = lab["tokyo"].post("transit/decrypt/letters", {"ciphertext": made})

    assert made.startswith("vault:v2:")
    assert (first.status, first.errors) == (400, ["invalid ciphertext: version is too new"])
    assert (second.status, second.errors) == (400, ["cipher: message authentication failed"])


def test_a_function_that_raises_or_returns_something_else_is_said():
    assert look(lambda lab, note: 1 / 0).near.text == "it raised ZeroDivisionError: division by zero"
    assert look(lambda lab, note: lab["paris"].get("sys/health")).near.text == "it made a Response, which is not a text"
    assert not look(lambda lab, note: note).near.is_ciphertext
    assert not look(lambda lab, note: {"a": 1}).near.is_ciphertext
    assert not untouched(lambda lab, note: note)
    assert untouched(lambda lab, note: None)


def test_whoever_moves_the_primary_first_is_judged_too():
    def moves(lab, note):
        lab.failover("paris", "tokyo")
        return lab["tokyo"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]

    assert [seen.status for seen in look(moves)] == [200, 200]
    assert look(lambda lab, note: lab.crash("tokyo") and "vault:v1:")[0].status == 0


def test_what_a_secondary_refused_is_said_beside_the_error_that_follows():
    def asks_tokyo(lab, note):
        return lab["tokyo"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]

    assert look(asks_tokyo).near.text.endswith(
        "; before that POST transit/encrypt/letters at tokyo answered path disabled in replication DR secondary mode"
    )
