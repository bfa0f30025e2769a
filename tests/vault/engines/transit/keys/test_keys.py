"""keys/<name>: made, read, listed and deleted."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import to_base64

HELLO = to_base64(b"hello world")
NO_DERIVATION = "1 error occurred:\n\t* key derivation and convergent encryption not supported for keys of type {}\n\n"


def test_a_key_is_told_as_made(service: Any, clock: Any) -> None:
    made = service.post("transit/keys/k")

    assert made.status == 200
    assert made.warnings == []
    assert made.data == {
        "name": "k",
        "type": "aes256-gcm96",
        "derived": False,
        "deletion_allowed": False,
        "exportable": False,
        "allow_plaintext_backup": False,
        "supports_encryption": True,
        "supports_decryption": True,
        "supports_signing": False,
        "supports_derivation": True,
        "latest_version": 1,
        "min_available_version": 0,
        "min_decryption_version": 1,
        "min_encryption_version": 0,
        "auto_rotate_period": 0,
        "imported_key": False,
        "keys": {"1": clock.now_ns // 1_000_000_000},
    }
    assert service.get("transit/keys/k").data == made.data


@pytest.mark.parametrize("key_type", ["aes128-gcm96", "aes256-gcm96", "chacha20-poly1305"])
def test_every_symmetric_type_can_be_made_and_used(service: Any, key_type: str) -> None:
    assert service.post("transit/keys/k", {"type": key_type}).data["type"] == key_type

    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    assert service.post("transit/decrypt/k", {"ciphertext": text}).data == {"plaintext": HELLO}


@pytest.mark.parametrize(("sent", "size"), [(None, 32), (0, 32), (32, 32), ("512", 512)])
def test_an_hmac_key_tells_its_size(service: Any, sent: Any, size: int) -> None:
    told = service.post("transit/keys/k", {"type": "hmac", "key_size": sent}).data

    assert told["key_size"] == size
    assert list(told["keys"]) == ["1"]
    assert not any(told[f"supports_{what}"] for what in ("encryption", "decryption", "signing", "derivation"))


def test_options_may_come_as_text(service: Any) -> None:
    sent = {"exportable": "true", "allow_plaintext_backup": "1", "derived": "t", "auto_rotate_period": "24h"}

    told = service.post("transit/keys/k", sent).data

    assert (told["exportable"], told["allow_plaintext_backup"], told["derived"]) == (True, True, True)
    assert (told["auto_rotate_period"], told["kdf"], told["convergent_encryption"]) == (86_400, "hkdf_sha256", False)


def test_a_convergent_key_tells_its_kind(service: Any) -> None:
    told = service.post("transit/keys/k", {"derived": True, "convergent_encryption": True}).data

    assert (told["convergent_encryption"], told["convergent_encryption_version"]) == (True, -1)


# Each request has the faults of those below it as well, where they go together: the first one counts.
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            {"auto_rotate_period": "10m", "convergent_encryption": True, "type": "des"},
            "auto rotate period must be 0 to disable or at least an hour",
        ),
        ({"convergent_encryption": True, "type": "des"}, "convergent encryption requires derivation to be enabled"),
        ({"type": "des", "key_size": 40}, "unknown key type des"),
        ({"type": "AES256-GCM96"}, "unknown key type AES256-GCM96"),
        ({"type": ""}, "unknown key type "),
        ({"key_size": 40}, "key_size is not valid for algorithm aes256-gcm96"),
        ({"type": "rsa-2048", "key_size": 256, "derived": True}, "key_size is not valid for algorithm rsa-2048"),
        ({"type": "rsa-2048", "derived": True}, NO_DERIVATION.format("rsa-2048")),
        ({"type": "ecdsa-p256", "derived": True, "convergent_encryption": True}, NO_DERIVATION.format("ecdsa-p256")),
        (
            {"type": "ed25519", "derived": True, "convergent_encryption": True},
            "1 error occurred:\n\t* convergent encryption not supported for keys of type ed25519\n\n",
        ),
        ({"type": "hmac", "key_size": 31, "derived": True}, "invalid key_size 31"),
        ({"type": "hmac", "key_size": 513}, "invalid key_size 513"),
        ({"type": "hmac", "key_size": -1}, "invalid key_size -1"),
        ({"type": "hmac", "derived": True}, NO_DERIVATION.format("hmac")),
        (
            {"auto_rotate_period": "x"},
            'Field validation failed: error converting input for field "auto_rotate_period": '
            'time: invalid duration "x"',
        ),
    ],
)
def test_bad_options_are_refused(service: Any, body: dict[str, Any], why: str) -> None:
    refused = service.post("transit/keys/k", body)

    assert (refused.status, refused.errors) == (400, [why])
    assert service.get("transit/keys/k").status == 404


@pytest.mark.parametrize(
    "body", [{"derived": "maybe"}, {"key_size": "big"}, {"auto_rotate_period": -5}, {"exportable": []}]
)
def test_a_parameter_of_the_wrong_kind_is_refused(service: Any, body: dict[str, Any]) -> None:
    refused = service.post("transit/keys/k", body)

    assert refused.status == 400
    prefix = f'Field validation failed: error converting input for field "{next(iter(body))}"'
    assert refused.errors[0].startswith(prefix)


def test_an_existing_key_stays_as_it_is(service: Any) -> None:
    first = service.post("transit/keys/k").data

    again = service.post("transit/keys/k", {"type": "chacha20-poly1305", "exportable": True})

    assert (again.status, again.data) == (200, first)
    assert again.warnings == ["key k already existed"]
    assert service.post("transit/keys/k", {"type": "des"}).status == 400


@pytest.mark.parametrize("name", ["a", "_", "k-1", "a.b", "A_9", "a--..b", "0", "config", "import"])
def test_names_that_keys_may_have(service: Any, name: str) -> None:
    assert service.post(f"transit/keys/{name}").data["name"] == name
    assert service.list("transit/keys").data == {"keys": [name]}


@pytest.mark.parametrize("name", ["k-", "-k", ".k", "k.", "bad name", "a/b", "ä", "a+b"])
def test_names_that_are_no_paths(service: Any, name: str) -> None:
    refused = service.post(f"transit/keys/{name.replace(' ', '%20')}")

    assert (refused.status, refused.errors) == (404, ["1 error occurred:\n\t* unsupported path\n\n"])


def test_a_missing_key_is_not_found(service: Any) -> None:
    missing = service.get("transit/keys/none")

    assert (missing.status, missing.errors) == (404, [])


def test_keys_are_listed_by_name(service: Any) -> None:
    empty = service.list("transit/keys")
    assert (empty.status, empty.errors) == (404, [])

    for name in ("b", "a.b", "C", "a"):
        service.post(f"transit/keys/{name}")

    assert service.list("transit/keys").data == {"keys": ["C", "a", "a.b", "b"]}


def test_a_key_is_deleted_only_where_that_is_allowed(service: Any) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]

    refused = service.delete("transit/keys/k")
    assert (refused.status, refused.errors) == (
        400,
        ["error deleting policy k: deletion is not allowed for this key"],
    )

    service.post("transit/keys/k/config", {"deletion_allowed": True})
    assert service.delete("transit/keys/k").status == 204
    assert service.get("transit/keys/k").status == 404
    assert service.list("transit/keys").status == 404
    assert service.post("transit/decrypt/k", {"ciphertext": text}).errors == ["encryption key not found"]

    missing = service.delete("transit/keys/k")
    assert (missing.status, missing.errors) == (
        400,
        ["error deleting policy k: could not delete key; not found"],
    )


def test_a_key_of_a_deleted_ones_name_is_another(service: Any) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    service.post("transit/keys/k/config", {"deletion_allowed": True})
    service.delete("transit/keys/k")
    service.post("transit/keys/k")

    refused = service.post("transit/decrypt/k", {"ciphertext": text})

    assert refused.errors == ["cipher: message authentication failed"]


def test_no_answer_shows_key_material(service: Any) -> None:
    answers = [
        service.post("transit/keys/k", {"exportable": True, "allow_plaintext_backup": True}),
        service.post("transit/keys/k/rotate"),
        service.post("transit/keys/k/config", {"min_decryption_version": 2}),
        service.get("transit/keys/k"),
    ]

    assert [answer.status for answer in answers] == [200, 200, 200, 200]
    # what is as long as a key of 32 bytes, in hex or base64
    assert not any(re.search(r"[0-9A-Za-z+/]{43}", str(answer.body)) for answer in answers)


# ---- FIPS 140-2 mode -------------------------------------------------------------------------------


@pytest.mark.parametrize(("key_type", "made"), [("chacha20-poly1305", False), ("aes128-gcm96", True), ("hmac", True)])
def test_in_fips_mode_no_key_is_made_of_a_type_that_is_not_certified(key_type: str, made: bool) -> None:
    vault = Vault.dev(fips=True)

    answer = vault.post("transit/keys/orders", {"type": key_type})

    assert answer.ok == made
    assert (vault.get("transit/keys/orders").status == 200) == made
    if not made:
        assert answer.status == 400
        assert answer.errors == [
            "key type chacha20-poly1305 is not certified for FIPS 140-2 mode, which is on; certified: "
            "aes256-gcm96, aes128-gcm96, ecdsa-p256, ecdsa-p384, ecdsa-p521, rsa-2048, rsa-3072, rsa-4096, "
            "managed_key, hmac"
        ]


def test_in_fips_mode_encrypt_makes_no_such_key_either() -> None:
    vault = Vault.dev(fips=True)

    for body in (
        {"plaintext": "YQ==", "type": "chacha20-poly1305"},
        {"batch_input": [{"plaintext": "YQ==", "type": "chacha20-poly1305"}]},
    ):
        assert vault.post("transit/encrypt/orders", body).status == 400
    assert vault.list("transit/keys").status == 404
    assert vault.post("transit/encrypt/orders", {"plaintext": "YQ=="}).ok


def test_what_was_encrypted_before_is_decrypted_in_fips_mode_too(tmp_path: Path) -> None:
    path = str(tmp_path / "lab.db")
    with closing(Vault.open(path)) as vault:
        text = vault.post("transit/encrypt/a", {"plaintext": "YQ==", "type": "chacha20-poly1305"}).data["ciphertext"]
    with closing(Vault.open(path, fips=True)) as vault:
        assert vault.post("transit/decrypt/a", {"ciphertext": text}).data == {"plaintext": "YQ=="}
