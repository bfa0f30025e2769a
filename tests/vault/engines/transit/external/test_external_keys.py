"""How the key store is asked: once a request, and what becomes of a store that does not answer."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Fetch, Response, respond, silence

NONCE = "AAAAAAAAAAAAAAAA"


@pytest.fixture
def asked(managed: Any) -> list[Fetch]:
    """What is fetched from now on."""
    seen: list[Fetch] = []
    answer = managed.keystore.answer

    def note(fetch: Fetch) -> Response:
        seen.append(fetch)
        answered: Response = answer(fetch)
        return answered

    managed.keystore.answer = note
    return seen


def test_a_batch_is_asked_for_at_once(managed: Any, asked: list[Fetch]) -> None:
    items = [{"plaintext": "aGk=", "nonce": NONCE}] * 50

    results = managed.post("transit/encrypt/aes", {"batch_input": items}).data["batch_results"]

    assert (len(results), len(asked)) == (50, 1)
    assert "plaintext" not in repr(asked)


def test_nothing_is_asked_for_what_is_refused_here(managed: Any, asked: list[Fetch]) -> None:
    managed.post("transit/encrypt/aes", {"plaintext": "aGk="})
    managed.post("transit/encrypt/aes", {"batch_input": [{"plaintext": "?"}]})
    managed.post("transit/keys/ordinary")
    managed.post("transit/encrypt/ordinary", {"plaintext": "aGk="})

    assert asked == []


MALFORMED: list[Any] = [
    *({"results": []}, {"results": [5]}, {"results": [{}]}, {"results": [{"output": 5, "valid": "yes"}]}, {}, None)
]
ANSWERS = [silence("away"), respond(500, {"error": "broken"}), *[respond(200, body) for body in MALFORMED]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("encrypt/aes", {"plaintext": "aGk=", "nonce": NONCE}),
        ("sign/ec", {"input": "aGk="}),
        ("verify/ec", {"input": "aGk=", "signature": "vault:v1:AAAA"}),
        ("keys/new", {"type": "managed_key", "managed_key_name": "aes"}),
        ("keys/aes/rotate", {"managed_key_name": "aes"}),
    ],
)
def test_a_store_that_does_not_answer_is_503_and_changes_nothing(managed: Any, path: str, body: Any) -> None:
    stored = managed.core.storage.state()["items"]
    for answer in ANSWERS:
        managed.keystore.answer = lambda fetch, answer=answer: answer

        refused = managed.post(f"transit/{path}", body)

        another = path.startswith("keys") and answer.status == 200 and answer.body is not None
        said = "is for None" if another else "the key store did not answer"
        assert (refused.status, said in refused.errors[0]) == (400 if another else 503, True), answer
    assert managed.core.storage.state()["items"] == stored


def test_somebody_else_may_be_first_to_generate(managed: Any) -> None:
    managed.keystore.delete("label-aes")
    answer = managed.keystore.answer

    def race(fetch: Fetch) -> Response:
        if fetch.request.method == "POST":
            managed.keystore.answer = answer
            managed.keystore.generate("label-aes")
        answered: Response = answer(fetch)
        return answered

    managed.keystore.answer = race
    assert managed.post("transit/keys/new", {"type": "managed_key", "managed_key_name": "aes"}).ok


def test_a_key_that_is_made_meanwhile_stays_as_it_is(managed: Any) -> None:
    answer = managed.keystore.answer

    def meanwhile(fetch: Fetch) -> Response:
        managed.keystore.answer = answer
        managed.post("transit/keys/new")
        answered: Response = answer(fetch)
        return answered

    managed.keystore.answer = meanwhile
    made = managed.post("transit/keys/new", {"type": "managed_key", "managed_key_name": "aes"})

    assert (made.data["type"], made.warnings) == ("aes256-gcm96", ["key new already existed"])


def test_a_managed_key_that_is_gone_or_may_not_is_named(managed: Any) -> None:
    managed.post("sys/managed-keys/pkcs11/ec", {"key_label": "l", "mechanism": "CKM_ECDSA", "usages": "verify"})
    assert managed.post("transit/sign/ec", {"input": "aGk="}).errors == [
        "the managed key ec is used to verify, not to sign"
    ]
    for name in ("aes", "ec", "oaep", "pss"):
        managed.delete(f"sys/managed-keys/pkcs11/{name}")

    refused = managed.post("transit/encrypt/aes", {"plaintext": "aGk=", "nonce": NONCE})
    assert refused.status == 400
    assert refused.errors[0].startswith("no managed key with id ")


@pytest.mark.parametrize("label", ["a b?c=d#e", "100%", "a//b/", "é\n", "../k", "x" * 256])
def test_a_label_may_have_any_characters(managed: Any, label: str) -> None:
    sent = {"key_label": label, "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
    managed.post("sys/managed-keys/pkcs11/odd", sent).raise_for_status()

    made = managed.post("transit/keys/odd", {"type": "managed_key", "managed_key_name": "odd"})

    if label.isprintable() and len(label.strip("/")) == len(label) and "//" not in label:
        assert made.ok
        assert label in managed.keystore.labels
        assert managed.post("transit/encrypt/odd", {"plaintext": "aGk=", "nonce": NONCE}).ok
    else:
        assert made.status in (200, 400)
    assert managed.post("sys/managed-keys/pkcs11/odd", {**sent, "key_label": "x" * 257}).status == 400
