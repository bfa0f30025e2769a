"""``byok-export``: keys that move to another mount or cluster wrapped, and every refusal."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap_with_padding
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from labkit import Vault
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from tests.refusals import refused

HELLO = base64.b64encode(b"hello world").decode()


@pytest.fixture
def destination(service: Any, wrapping_key: RSAPrivateKey) -> RSAPrivateKey:
    """A key in transit/ named `there`, whose public half is the wrapping key of transit/ itself."""
    public = service.get("transit/wrapping_key").data["public_key"]
    assert service.post("transit/keys/there/import", {"type": "rsa-4096", "public_key": public}).status == 204
    return wrapping_key


def opened(private: RSAPrivateKey, wrapped: str, algorithm: Any = None) -> bytes:
    raw, algorithm = base64.b64decode(wrapped), algorithm or SHA256()
    size = private.key_size // 8
    key = private.decrypt(raw[:size], OAEP(MGF1(algorithm), algorithm, None))
    return aes_key_unwrap_with_padding(key, raw[size:])


def test_what_is_wrapped_is_the_key(service: Any, destination: RSAPrivateKey) -> None:
    service.post("transit/keys/k", {"exportable": True})
    service.post("transit/keys/k/rotate")
    plain = service.get("transit/export/encryption-key/k").data["keys"]

    answer = service.get("transit/byok-export/there/k")

    assert (answer.status, answer.data["name"], answer.data["type"]) == (200, "k", "aes256-gcm96")
    assert {
        number: base64.b64encode(opened(destination, text)).decode() for number, text in answer.data["keys"].items()
    } == plain
    for version, number in (("latest", "2"), ("1", "1"), ("v2", "2")):
        keys = service.get(f"transit/byok-export/there/k/{version}").data["keys"]
        assert list(keys) == [number]
    other = service.get("transit/byok-export/there/k/1?hash=sha512").data["keys"]["1"]
    service.post("transit/keys/again/import", {"type": "aes256-gcm96", "hash_function": "SHA512", "ciphertext": other})
    made = service.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": 1}).data["ciphertext"]
    assert service.post("transit/decrypt/again", {"ciphertext": made}).data == {"plaintext": HELLO}


@pytest.mark.usefixtures("destination")
@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.slow)])  # a large key's check takes long
def test_a_key_of_each_type_works_where_it_was_imported(service: Any, large: bool) -> None:
    for key_type, row in KEY_TYPES.items():
        if row.external or large != (key_type in ("rsa-3072", "rsa-4096")):
            continue
        service.post(f"transit/keys/{key_type}", {"type": key_type, "exportable": True})
        wrapped = service.get(f"transit/byok-export/there/{key_type}").data["keys"]["1"]

        sent = {"type": key_type, "ciphertext": wrapped, "exportable": True}
        assert service.post(f"transit/keys/{key_type}.copy/import", sent).status == 204, key_type

        kinds = (
            ["encryption-key"] * row.encrypts + ["signing-key", "public-key"] * row.signs + ["hmac-key"] * row.is_hmac
        )
        for kind in kinds:
            own, copy = (
                service.get(f"transit/export/{kind}/{name}").data["keys"] for name in (key_type, f"{key_type}.copy")
            )
            assert own == copy, (key_type, kind)


@pytest.mark.usefixtures("wrapping_key")
def test_a_key_goes_to_another_cluster_and_comes_back(service: Any) -> None:
    other = Vault.dev(seed=9)
    here, there = (vault.get("transit/wrapping_key").data["public_key"] for vault in (service, other))
    service.post("transit/keys/out/import", {"type": "rsa-4096", "public_key": there})
    other.post("transit/keys/back/import", {"type": "rsa-4096", "public_key": here})
    service.post("transit/keys/k", {"exportable": True})
    made = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]

    wrapped = service.get("transit/byok-export/out/k").data["keys"]["1"]
    sent = {"type": "aes256-gcm96", "ciphertext": wrapped, "exportable": True}
    assert other.post("transit/keys/k/import", sent).status == 204

    assert other.post("transit/decrypt/k", {"ciphertext": made}).data == {"plaintext": HELLO}
    wrapped = other.get("transit/byok-export/back/k").data["keys"]["1"]
    service.post("transit/keys/k2/import", {"type": "aes256-gcm96", "ciphertext": wrapped})
    assert service.post("transit/decrypt/k2", {"ciphertext": made}).data == {"plaintext": HELLO}
    assert refused(service.post("transit/keys/k3/import", sent), "crypto/rsa: decryption error")


def test_the_latest_version_of_the_destination_wraps(service: Any) -> None:
    service.post("transit/keys/rsa", {"type": "rsa-2048", "exportable": True})
    service.post("transit/keys/rsa/rotate")
    service.post("transit/keys/k", {"exportable": True})
    private = load_pem_private_key(service.get("transit/export/encryption-key/rsa/2").data["keys"]["2"].encode(), None)
    assert isinstance(private, RSAPrivateKey)

    wrapped = service.get("transit/byok-export/rsa/k").data["keys"]["1"]

    plain = service.get("transit/export/encryption-key/k").data["keys"]["1"]
    assert base64.b64encode(opened(private, wrapped)).decode() == plain


@pytest.mark.usefixtures("destination")
def test_each_refusal_in_its_order(service: Any, put_keyring: Any, keyring_of: Callable[..., Any]) -> None:
    service.post("transit/keys/closed")
    service.post("transit/keys/open", {"exportable": True})
    service.post("transit/keys/mac", {"type": "hmac"})
    service.post("transit/keys/sig", {"type": "ed25519"})
    half = keyring_of("ed25519", b"", exportable=True)
    put_keyring("half", half._replace(versions=(half.versions[0]._replace(public=bytes(range(32))),)))
    wrapping = "key wrapping (requring message signing) is not supported for key type "
    for path, why in (
        ("none/none/x", "no such destination key to export to"),
        ("mac/none/x", "no such source key for export"),
        ("mac/closed/x", "key is not exportable"),
        ("mac/open/x", "invalid key version"),
        ("mac/open/0", "version for export is below minimum decryption version"),
        ("mac/open/2", "version does not exist or cannot be found"),
        ("mac/open?hash=x", wrapping + "hmac"),
        ("open/open?hash=x", wrapping + "aes256-gcm96"),
        ("sig/open?hash=x", "unsupported key type in use; must be a rsa key"),
        ("there/open?hash=x", "unknown hash function: x"),
        ("there/half", "version 1 has no private half to export; name another version"),
    ):
        assert refused(service.get(f"transit/byok-export/{path}"), why)
