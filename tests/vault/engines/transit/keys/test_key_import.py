"""``import`` and ``import_version``: which material becomes which key, and every refusal in its order."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from labkit import Vault
from labkit.vault.engines.transit.derivation import counter_mode
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.engines.transit.keys.key_import import PUBLIC_OF_DERIVED
from labkit.vault.engines.transit.pairs.pkcs8 import UNREADABLE
from tests.refusals import refused

VECTORS = Path(__file__).parents[4] / "vectors"
VECTOR_FILE = json.loads((VECTORS / "transit_import.json").read_text())
WRAPPED = VECTOR_FILE["wrapped"]
FOX = "dGhlIHF1aWNrIGJyb3duIGZveA=="
PLAIN = [v for v in json.loads((VECTORS / "transit_symmetric.json").read_text())["vectors"] if "key_hex" in v]
COUNTED = bytes(range(32))
CONTEXT = "Y29udGV4dC0x"
HELLO = base64.b64encode(b"hello world").decode()

Wrap = Callable[..., str]


@pytest.mark.usefixtures("wrapping_key")
def test_keys_wrapped_by_clients_of_real_servers_are_read(service: Any) -> None:
    vector = next(v for v in PLAIN if v["case"] == "plain" and v["type"] == "aes256-gcm96")
    for name in ("SHA1", "SHA224", "SHA256", "SHA384", "SHA512"):
        body = {"type": "aes256-gcm96", "hash_function": name, "ciphertext": WRAPPED[f"aes256-gcm96_{name}"]}
        assert service.post(f"transit/keys/{name}/import", body).status == 204
        opened = service.post(f"transit/decrypt/{name}", {"ciphertext": vector["ciphertext"]})
        assert opened.data == {"plaintext": vector["plaintext_b64"]}
        other = {**body, "hash_function": "SHA256" if name != "SHA256" else "SHA1"}
        assert refused(service.post("transit/keys/other/import", other), "crypto/rsa: decryption error")


def test_published_ciphertexts_are_decrypted_with_their_imported_keys(service: Any, wrapped: Wrap) -> None:
    cases = [v for v in PLAIN if v["case"] in ("plain", "plain+aad", "derived-counter")]
    assert len(cases) >= 9
    for number, vector in enumerate(cases):
        name = f"{vector['case']}-{vector['type']}-{number}".replace("+", "-")
        sent = {"context": vector.get("context_b64", ""), "associated_data": vector.get("aad_b64", "")}
        body = {"type": vector["type"], "ciphertext": wrapped(bytes.fromhex(vector["key_hex"]))}
        derived = {"derived": True, "context": CONTEXT} if sent["context"] else {}
        assert service.post(f"transit/keys/{name}/import", {**body, **derived}).status == 204, name
        opened = service.post(f"transit/decrypt/{name}", {"ciphertext": vector["ciphertext"], **sent})
        assert opened.data == {"plaintext": vector["plaintext_b64"]}, name
        bent = vector["ciphertext"][:-5] + ("A" if vector["ciphertext"][-5] != "A" else "B") + vector["ciphertext"][-4:]
        assert service.post(f"transit/decrypt/{name}", {"ciphertext": bent, **sent}).status == 400, name


def test_an_imported_key_is_like_any_other(service: Any, wrapped: Wrap) -> None:
    body = {"type": "AES128-GCM96", "ciphertext": wrapped(COUNTED[:16]), "hash_function": "sha256"}

    assert service.post("transit/keys/k/import", body).status == 204

    shown = service.get("transit/keys/k").data
    assert (shown["type"], shown["latest_version"], shown["imported_key"]) == ("aes128-gcm96", 1, True)
    assert (shown["exportable"], shown["allow_plaintext_backup"], shown["auto_rotate_period"]) == (False, False, 0)
    assert shown["imported_key_allow_rotation"] is False
    assert service.list("transit/keys").data == {"keys": ["k"]}
    made = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    assert service.post("transit/decrypt/k", {"ciphertext": made}).data == {"plaintext": HELLO}
    text = "imported key k does not allow rotation within Vault"
    assert refused(service.post("transit/keys/k/rotate"), text)


def test_settings_may_be_text_and_are_the_keys(service: Any, wrapped: Wrap) -> None:
    flags = dict.fromkeys(("allow_rotation", "exportable", "allow_plaintext_backup"), "true")
    body = {"type": "aes256-gcm96", "ciphertext": wrapped(COUNTED), "auto_rotate_period": "2h", **flags}

    assert service.post("transit/keys/k/import", body).status == 204

    shown = service.get("transit/keys/k").data
    assert (shown["exportable"], shown["allow_plaintext_backup"], shown["auto_rotate_period"]) == (True, True, 7200)
    assert shown["imported_key_allow_rotation"] is True
    assert service.post("transit/keys/k/rotate").data["imported_key"] is False
    text = "the import_version endpoint can only be used with an imported key"
    assert refused(service.post("transit/keys/k/import_version", {"ciphertext": wrapped(COUNTED)}), text)


def test_a_derived_key_works_in_counter_mode(service: Any, wrapped: Wrap) -> None:
    body = {"type": "aes256-gcm96", "ciphertext": wrapped(COUNTED), "derived": True, "context": CONTEXT}
    assert service.post("transit/keys/k/import", body).status == 204
    derived = counter_mode(COUNTED, base64.b64decode(CONTEXT))
    service.post("transit/keys/plain/import", {"type": "aes256-gcm96", "ciphertext": wrapped(derived)})

    made = service.post("transit/encrypt/k", {"plaintext": HELLO, "context": CONTEXT}).data["ciphertext"]

    assert service.get("transit/keys/k").data["kdf"] == "hmac-sha256-counter"
    assert service.post("transit/decrypt/plain", {"ciphertext": made}).data == {"plaintext": HELLO}


def test_an_hmac_key_has_the_size_that_it_came_with(service: Any, wrapped: Wrap) -> None:
    for size in (32, 33, 512):
        body = {"type": "hmac", "ciphertext": wrapped(bytes(size)), "allow_rotation": True}
        assert service.post(f"transit/keys/k{size}/import", body).status == 204
        assert service.get(f"transit/keys/k{size}").data["key_size"] == size
        assert service.post(f"transit/keys/k{size}/rotate").data["key_size"] == size
    for size in (31, 513):
        answer = service.post("transit/keys/x/import", {"type": "hmac", "ciphertext": wrapped(bytes(size))})
        assert refused(answer, f"error importing key: invalid key size {size} bytes for key type hmac")


def test_each_refusal_of_an_import_in_its_order(service: Any, wrapped: Wrap) -> None:
    service.post("transit/keys/there")
    good = wrapped(COUNTED)
    wrong = {"convergent_encryption": False, "auto_rotate_period": 60, "type": "x", "hash_function": "MD5"}
    some_type = {"type": "aes256-gcm96"}
    for name, body, text in (
        ("there", wrong, "import cannot be used on keys with convergent encryption enabled"),
        (
            "there",
            {**some_type, "auto_rotate_period": 60, "hash_function": "MD5"},
            "allow_rotation must be set to true if auto-rotation is enabled",
        ),
        (
            "there",
            {"auto_rotate_period": 60, "allow_rotation": True},
            "auto rotate period must be 0 to disable or at least an hour",
        ),
        ("there", {"type": "des", "hash_function": "MD5"}, "unknown key type: des"),
        ("new", {**some_type, "derived": True}, "missing context: a key that is imported with derived needs one"),
        ("new", {**some_type, "derived": True, "context": "*"}, "failed to base64-decode context"),
        (
            "new",
            {"type": "hmac", "derived": True, "context": CONTEXT},
            "key derivation and convergent encryption not supported for keys of type hmac",
        ),
        (
            "there",
            {**some_type, "hash_function": "MD5"},
            "the import path cannot be used with an existing key; "
            "use import-version to rotate an existing imported key",
        ),
        ("new", {**some_type, "ciphertext": "*", "hash_function": "MD5"}, "unknown hash function: MD5"),
        ("new", some_type, "missing ciphertext or public_key: the key to import, wrapped, or its public half"),
        ("new", {**some_type, "ciphertext": "AAA"}, "illegal base64 data at input byte 0"),
        ("new", {**some_type, "ciphertext": "AAAA"}, "provided ciphertext is too short"),
        ("new", {**some_type, "public_key": "x"}, "provided type does not support public_key import"),
        (
            "new",
            {**some_type, "ciphertext": wrapped(COUNTED[:31]), "public_key": "x"},
            "error importing key: invalid key size 31 bytes for key type aes256-gcm96",
        ),
        (
            "new",
            {"type": "aes128-gcm96", "ciphertext": good},
            "error importing key: invalid key size 32 bytes for key type aes128-gcm96",
        ),
    ):
        assert refused(service.post(f"transit/keys/{name}/import", body), text)
    missing = service.post("transit/keys/new/import", {"ciphertext": good})
    assert missing.errors[0].startswith("missing type: say what kind of key is imported, one of ")
    assert "managed_key" not in missing.errors[0]
    assert service.get("transit/keys/new").status == 404
    assert service.get("transit/keys/there").data["imported_key"] is False


def test_another_version_of_an_imported_key(service: Any, wrapped: Wrap) -> None:
    body = {"type": "aes256-gcm96", "ciphertext": wrapped(COUNTED)}
    service.post("transit/keys/k/import", body)
    first = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]

    sent = {"ciphertext": wrapped(COUNTED[::-1], hashes.SHA384()), "hash_function": "SHA384"}
    assert service.post("transit/keys/k/import_version", sent).status == 204

    assert service.get("transit/keys/k").data["latest_version"] == 2
    assert service.get("transit/keys/k").data["imported_key"] is True
    second = service.post("transit/encrypt/k", {"plaintext": HELLO}).data
    assert second["key_version"] == 2
    for ciphertext in (first, second["ciphertext"]):
        assert service.post("transit/decrypt/k", {"ciphertext": ciphertext}).data == {"plaintext": HELLO}
    service.post("transit/keys/other/import", {**body, "ciphertext": wrapped(COUNTED[::-1])})
    as_first = second["ciphertext"].replace(":v2:", ":v1:")
    assert service.post("transit/decrypt/other", {"ciphertext": as_first}).data == {"plaintext": HELLO}


def test_each_refusal_of_another_version_in_its_order(
    service: Any,
    wrapped: Wrap,
    keyring_of: Callable[..., Keyring],
    put_keyring: Callable[[str, Keyring], None],
) -> None:
    service.post("transit/keys/own")
    service.post("transit/keys/k/import", {"type": "aes256-gcm96", "ciphertext": wrapped(COUNTED)})
    convergent = {"derived": True, "kdf": 1, "convergent_encryption": True, "convergent_version": -1, "imported": True}
    put_keyring("conv", keyring_of("aes256-gcm96", bytes(32), entry_convergent=3, **convergent))
    before = service.get("transit/keys/k").data
    good = wrapped(COUNTED)
    for name, body, text in (
        ("none", {"hash_function": "x"}, "no key found with name none; to import a new key, use the import/ endpoint"),
        ("own", {"hash_function": "x"}, "the import_version endpoint can only be used with an imported key"),
        ("conv", {"hash_function": "x"}, "import_version cannot be used on keys with convergent encryption enabled"),
        ("k", {"hash_function": "x", "version": 9}, "unknown hash function: x"),
        ("k", {"version": 9}, "missing ciphertext or public_key: the key to import, wrapped, or its public half"),
        ("k", {"ciphertext": "?"}, "illegal base64 data at input byte 0"),
        ("k", {"ciphertext": "AAAA"}, "provided ciphertext is too short"),
        ("k", {"public_key": "x"}, "provided type does not support public_key import"),
        ("k", {"ciphertext": good, "version": 9}, "no such key version"),
        ("k", {"ciphertext": good, "version": 0}, "no such key version"),
        ("k", {"ciphertext": good, "version": 1}, "provided type does not support importing key versions"),
        ("k", {"ciphertext": wrapped(COUNTED[:30])}, "invalid key size 30 bytes for key type aes256-gcm96"),
    ):
        assert refused(service.post(f"transit/keys/{name}/import_version", body), text)
    assert service.get("transit/keys/k").data == before


def test_fips_mode_takes_no_key_of_a_type_that_is_not_certified() -> None:
    fips = Vault.dev(seed=7, fips=True)

    refusal = fips.post("transit/keys/k/import", {"type": "chacha20-poly1305", "ciphertext": "AAAA"})

    assert refusal.status == 400
    assert "FIPS 140-2 mode" in refusal.errors[0]


@pytest.mark.usefixtures("wrapping_key")
def test_an_ed25519_key_signs_as_where_it_came_from(service: Any, wrapped: Wrap) -> None:
    signature = "vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA=="
    ciphertext = WRAPPED["ed25519_SHA256"]

    assert service.post("transit/keys/s/import", {"type": "ed25519", "ciphertext": ciphertext}).status == 204

    assert service.post("transit/sign/s", {"input": FOX}).data["signature"] == signature
    shown = service.get("transit/keys/s").data["keys"]["1"]
    assert (shown["name"], shown["public_key"]) == ("ed25519", "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=")
    derived = {"type": "ed25519", "ciphertext": ciphertext, "derived": True, "context": CONTEXT}
    assert service.post("transit/keys/d/import", derived).status == 204
    made = service.post("transit/sign/d", {"input": FOX, "context": CONTEXT}).data
    assert made["public_key"] == "Bxt54DbRV32vGQJixSn6XKUVoYMqxqB5IuxAg+LdW8Q="
    assert made["signature"] == (
        "vault:v1:HaU5kavLkL1JjWZa4eiO689i347r3+amwBOGZpL8aYePXNj+ezXAW4faPMP2DOEp1jWGJQy0vuclg80AxIODCg=="
    )
    assert service.get("transit/keys/d").data["kdf"] == "hkdf_sha256"


@pytest.mark.usefixtures("wrapping_key")
def test_a_public_half_verifies_until_its_private_one_comes(service: Any, wrapped: Wrap) -> None:
    service.post("transit/keys/own", {"type": "ed25519", "exportable": True})
    for _ in range(2):
        service.post("transit/keys/own/rotate")
    ders = [pkcs8_of(text) for text in service.get("transit/export/signing-key/own").data["keys"].values()]
    pems = [public_pem_of(der) for der in ders]
    signed = service.post("transit/sign/own", {"input": FOX, "key_version": 1}).data["signature"]

    assert service.post("transit/keys/p/import", {"type": "ed25519", "public_key": pems[0]}).status == 204

    assert service.post("transit/verify/p", {"input": FOX, "signature": signed}).data == {"valid": True}
    assert refused(
        service.post("transit/sign/p", {"input": FOX}), "requested version for signing does not contain a private part"
    )
    digest = service.post("transit/hmac/p", {"input": FOX}).data["hmac"]
    before = service.get("transit/keys/p").data
    # Another private half makes another version; the fitting one completes the one that it is for.
    assert service.post("transit/keys/p/import_version", {"public_key": pems[1]}).status == 204
    assert service.post("transit/keys/p/import_version", {"ciphertext": wrapped(ders[2])}).status == 204
    assert service.get("transit/keys/p").data["latest_version"] == 3
    for body, text in (
        ({"ciphertext": wrapped(ders[1]), "version": 1}, "cannot import key, key pair does not match"),
        (
            {"public_key": pems[0], "version": 1},
            "cannot add a public key to a key version that already has a public key set",
        ),
        ({"ciphertext": wrapped(ders[2]), "version": 3}, "private key imported, key version cannot be updated"),
        ({"ciphertext": wrapped(b"junk" * 8), "version": 3}, "private key imported, key version cannot be updated"),
        ({"ciphertext": wrapped(ders[0]), "version": 4}, "no such key version"),
    ):
        assert refused(service.post("transit/keys/p/import_version", body), text)
    for version in (1, 2):
        body = {"ciphertext": wrapped(ders[version - 1]), "version": str(version)}
        assert service.post("transit/keys/p/import_version", body).status == 204
    after = service.get("transit/keys/p").data
    assert (after["latest_version"], after["keys"]["1"]) == (3, before["keys"]["1"])
    assert service.post("transit/sign/p", {"input": FOX, "key_version": 1}).data["signature"] == signed
    assert service.post("transit/verify/p", {"input": FOX, "hmac": digest}).data == {"valid": True}


@pytest.mark.usefixtures("wrapping_key")
def test_the_latest_public_half_is_completed_without_saying_so(service: Any, wrapped: Wrap) -> None:
    der = base64.b64decode(VECTOR_FILE["ed25519_pkcs8_b64"])
    service.post("transit/keys/p/import", {"type": "ed25519", "public_key": public_pem_of(der)})

    assert service.post("transit/keys/p/import_version", {"ciphertext": wrapped(der)}).status == 204

    assert service.get("transit/keys/p").data["latest_version"] == 1
    assert service.post("transit/sign/p", {"input": FOX}).status == 200
    assert service.post("transit/keys/p/import_version", {"ciphertext": wrapped(der)}).status == 204
    assert service.get("transit/keys/p").data["latest_version"] == 2


@pytest.mark.usefixtures("wrapping_key")
def test_material_of_another_kind_is_named(service: Any, wrapped: Wrap) -> None:
    der = base64.b64decode(VECTOR_FILE["ed25519_pkcs8_b64"])
    derived = {"derived": True, "context": CONTEXT}
    for body, text in (
        ({"ciphertext": wrapped(COUNTED)}, f"error parsing asymmetric key: {UNREADABLE}"),
        ({"public_key": "x"}, "error parsing public key: not in PEM format"),
        ({"public_key": public_pem_of(der), **derived}, PUBLIC_OF_DERIVED),
        (
            {"ciphertext": wrapped(base64.b64decode(VECTOR_FILE["encodings"]["rsa_pss_oid_pkcs8_b64"]))},
            "invalid key type: expected ed25519, got *rsa.PrivateKey",
        ),
    ):
        answer = service.post("transit/keys/x/import", {"type": "ed25519", **body})
        assert refused(answer, f"error importing key: {text}")
    assert service.get("transit/keys/x").status == 404


def pkcs8_of(both: str) -> bytes:
    """PKCS #8 of an Ed25519 key as export shows it."""
    key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(both)[:32])
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def public_pem_of(der: bytes) -> str:
    key = load_der_private_key(der, None)
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
