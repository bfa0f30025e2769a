"""Exercise outlived: what the survivor says of a key that it never got, and of one of its own."""

from __future__ import annotations

import pytest

from labkit.lessons.disaster.outlived import DISTANCES, MAX_NEAR_S, NOTE, OUTLIVED, look, rotated, untouched
from labkit.lessons.judging import judge


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


def test_whoever_moves_the_primary_first_makes_a_text_that_opens_and_is_refused_for_the_move():
    def moves(lab, note):
        lab.failover("paris", "tokyo")
        return lab["tokyo"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]

    assert [seen.status for seen in look(moves)] == [200, 200]
    assert judge(OUTLIVED, (moves,)).condition == "at paris"
    assert look(lambda lab, note: lab.crash("tokyo") and "vault:v1:")[0].status == 0


def test_what_a_secondary_refused_is_said_beside_the_error_that_follows():
    def asks_tokyo(lab, note):
        return lab["tokyo"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]

    assert look(asks_tokyo).near.text.endswith(
        "; before that POST transit/encrypt/letters at tokyo answered path disabled in replication DR secondary mode"
    )


@pytest.mark.parametrize(
    ("seconds", "refused_by"), [(0.05, "opens"), (1, "from afar"), (2, "from afar"), (4, "in time")]
)
def test_no_time_that_is_chosen_is_right(seconds, refused_by):
    def sleeps(lab, note):
        lab.run(f"{seconds}s")
        return lab["paris"].post("transit/encrypt/letters", {"plaintext": note}).data["ciphertext"]

    assert judge(OUTLIVED, (sleeps,)).condition == refused_by


def test_a_copy_over_the_far_line_takes_longer_than_is_allowed_over_the_near_one():
    crossing_s = 0.08

    assert crossing_s < MAX_NEAR_S < crossing_s * DISTANCES["far"]


def test_what_is_right_is_said_with_its_reason():
    assert "3.3 s over the far one" in judge(OUTLIVED, (OUTLIVED.ways["by lag"],)).seen
    assert judge(OUTLIVED, (OUTLIVED.ways["by version"],)).seen.startswith("It did not wait for the new version")
