"""``export``: what is shown of which key, and who is refused."""

from __future__ import annotations

import base64
from typing import Any

from labkit.vault.engines.transit.keyring import Keyring
from tests.refusals import refused

Put = Any


def test_symmetric_and_hmac_keys_are_their_bytes(service: Any, keyring_of: Any, put_keyring: Put) -> None:
    keys = (b"\x01" * 32, b"\x02" * 32)
    put_keyring("k", keyring_of("aes256-gcm96", *keys, exportable=True))
    put_keyring("mac", keyring_of("hmac", *keys, exportable=True))

    shown = service.get("transit/export/encryption-key/k")

    assert shown.status == 200
    texts = {str(number + 1): base64.b64encode(key).decode() for number, key in enumerate(keys)}
    assert shown.data == {"name": "k", "type": "aes256-gcm96", "keys": texts}
    zeros = base64.b64encode(bytes(32)).decode()
    for name in ("k", "mac"):  # the versions were put in place with HMAC keys of zeros
        assert service.get(f"transit/export/hmac-key/{name}").data["keys"] == {"1": zeros, "2": zeros}


def test_an_ed25519_key_has_three_forms(service: Any) -> None:
    service.post("transit/keys/s", {"type": "ed25519", "exportable": True})
    service.post("transit/keys/s/rotate")
    read = service.get("transit/keys/s").data["keys"]

    signing = service.get("transit/export/signing-key/s").data
    public = service.get("transit/export/public-key/s").data

    assert (signing["name"], signing["type"], sorted(signing["keys"])) == ("s", "ed25519", ["1", "2"])
    for version in ("1", "2"):
        both = base64.b64decode(signing["keys"][version])
        assert len(both) == 64
        assert base64.b64encode(both[32:]).decode() == public["keys"][version] == read[version]["public_key"]


def test_versions_are_named_in_three_ways(service: Any) -> None:
    service.post("transit/keys/k", {"exportable": True})
    for _ in range(3):
        service.post("transit/keys/k/rotate")
    service.post("transit/keys/k/config", {"min_decryption_version": 2})
    every = service.get("transit/export/encryption-key/k").data["keys"]

    assert sorted(every) == ["2", "3", "4"]
    for text, version in (("latest", "4"), ("4", "4"), ("v3", "3"), ("2", "2"), ("002", "2")):
        assert service.get(f"transit/export/encryption-key/k/{text}").data["keys"] == {version: every[version]}
    for text, why in (
        ("1", "version for export is below minimum decryption version"),
        ("0", "version for export is below minimum decryption version"),
        ("-1", "version for export is below minimum decryption version"),
        ("5", "version does not exist or cannot be found"),
        ("x", "invalid key version"),
        ("vv3", "invalid key version"),
        ("3.0", "invalid key version"),
        ("²", "invalid key version"),
        ("9" * 400, "invalid key version"),
    ):
        assert refused(service.get(f"transit/export/encryption-key/k/{text}"), why)


def test_each_refusal_in_its_order(service: Any) -> None:
    service.post("transit/keys/closed", {"type": "ed25519"})
    service.post("transit/keys/aes", {"exportable": True})
    service.post("transit/keys/mac", {"type": "hmac", "exportable": True})
    service.post("transit/keys/sig", {"type": "ed25519", "exportable": True})

    assert refused(service.get("transit/export/private-key/none"), "invalid export type: private-key")
    missing = service.get("transit/export/public-key/none/x")
    assert (missing.status, missing.errors) == (404, [])
    for kind in ("encryption-key", "signing-key", "hmac-key", "public-key", "certificate-chain"):
        assert refused(service.get(f"transit/export/{kind}/closed/x"), "private key material is not exportable")
    for path, why in (
        ("encryption-key/sig/x", "encryption not supported for the key"),
        ("encryption-key/mac/x", "encryption not supported for the key"),
        ("signing-key/aes/x", "signing not supported for the key"),
        ("signing-key/mac/x", "signing not supported for the key"),
        ("certificate-chain/aes/x", "certificate chain not supported for keys that do not support signing"),
        ("public-key/aes/x", "invalid key version"),
        ("public-key/aes", "unknown key type aes256-gcm96 for export type public-key"),
        ("public-key/mac", "unknown key type hmac for export type public-key"),
        ("certificate-chain/sig", "selected key version does not have a certificate chain imported"),
    ):
        assert refused(service.get(f"transit/export/{path}"), why)


def test_a_pair_without_a_private_half_shows_the_public_one(service: Any, keyring_of: Any, put_keyring: Put) -> None:
    keyring: Keyring = keyring_of("ed25519", b"", exportable=True)
    public = bytes(range(32))
    put_keyring("p", keyring._replace(versions=(keyring.versions[0]._replace(public=public),)))

    assert service.get("transit/export/signing-key/p").data["keys"] == {"1": ""}
    assert service.get("transit/export/public-key/p").data["keys"] == {"1": base64.b64encode(public).decode()}
