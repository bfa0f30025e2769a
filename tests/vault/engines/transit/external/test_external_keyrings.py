"""Keys of type managed_key: made and rotated once the store has the key; what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault

ASKED = {"type": "managed_key", "managed_key_name": "hsm"}


def register(service: Any, name: str = "hsm", **more: Any) -> str:
    """Write a managed key; return its id."""
    sent = {"key_label": f"label-{name}", "mechanism": "CKM_AES_GCM", "allow_generate_key": True, **more}
    service.post(f"sys/managed-keys/pkcs11/{name}", sent).raise_for_status()
    return str(service.get(f"sys/managed-keys/pkcs11/{name}").data["UUID"])


def test_a_key_is_made_by_name_or_id_and_generated_in_the_store(service: Any) -> None:
    key_id = register(service)

    made = service.post("transit/keys/k", ASKED)
    assert service.keystore.labels == ("label-hsm",)
    by_id = service.post("transit/keys/other", {"type": "managed_key", "managed_key_id": key_id})

    assert (made.status, by_id.status) == (200, 200)
    assert made.data["type"] == "managed_key"
    assert (made.data["latest_version"], list(made.data["keys"])) == (1, ["1"])
    flags = ("supports_encryption", "supports_decryption", "supports_signing", "supports_derivation")
    assert [made.data[flag] for flag in flags] == [True, True, True, False]
    assert service.get("transit/keys/k").data == made.data
    again = service.post("transit/keys/k", ASKED)
    assert again.warnings == ["key k already existed"]


def test_a_key_that_may_not_be_generated_must_be_there(service: Any) -> None:
    register(service, allow_generate_key=False)

    refused = service.post("transit/keys/k", ASKED)
    assert (refused.status, service.get("transit/keys/k").status) == (400, 404)
    assert "the key store has no key label-hsm, and may not generate it" in refused.errors[0]
    assert refused.errors[0].endswith("make it there, or set allow_generate_key")

    service.keystore.generate("label-hsm")
    assert service.post("transit/keys/k", ASKED).ok


def test_some_mechanisms_never_generate(service: Any) -> None:
    register(service, mechanism="CKM_AES_CBC_PAD")

    refused = service.post("transit/keys/k", ASKED)
    assert refused.status == 400
    assert refused.errors[0].endswith("make it there: CKM_AES_CBC_PAD never generates")
    service.keystore.generate("label-hsm", "CKM_AES_CBC_PAD")
    assert service.post("transit/keys/k", ASKED).ok


def test_a_key_of_another_mechanism_is_refused(service: Any) -> None:
    register(service)
    service.keystore.generate("label-hsm", "CKM_ECDSA")

    assert "is for CKM_ECDSA; the managed key hsm says CKM_AES_GCM" in service.post("transit/keys/k", ASKED).errors[0]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"type": "managed_key"}, "managed_key_name or managed_key_id is required"),
        ({"type": "managed_key", "managed_key_name": "none"}, "no managed key named none"),
        ({"type": "managed_key", "managed_key_id": "none"}, "no managed key with id none"),
        ({**ASKED, "derived": True}, "derived is not possible"),
        ({**ASKED, "exportable": True}, "exportable is not possible"),
        ({**ASKED, "allow_plaintext_backup": True}, "allow_plaintext_backup is not possible"),
        ({**ASKED, "key_size": 32}, "key_size is not possible"),
        ({**ASKED, "auto_rotate_period": "1h"}, "auto_rotate_period is not possible"),
    ],
)
@pytest.mark.parametrize("registered", [False, True])
def test_what_such_a_key_cannot_be(service: Any, sent: Any, why: str, registered: bool) -> None:
    if registered:
        register(service)

    refused = service.post("transit/keys/k", sent)

    assert refused.status == 400
    assert why in refused.errors[0]
    assert service.get("transit/keys/k").status == 404


def test_a_rotation_names_the_next_versions_managed_key(service: Any) -> None:
    register(service)
    other_id = register(service, "next")
    service.post("transit/keys/k", ASKED)

    for sent in {}, {"managed_key_name": "none"}:
        assert service.post("transit/keys/k/rotate", sent).status == 400
    assert service.post("transit/keys/k/rotate", {"managed_key_id": other_id}).data["latest_version"] == 2
    assert service.post("transit/keys/k/rotate", {"managed_key_name": "hsm"}).data["latest_version"] == 3
    assert service.keystore.labels == ("label-hsm", "label-next")


def test_its_bytes_never_leave(managed: Any) -> None:
    for setting in ("exportable", "allow_plaintext_backup"):
        refused = managed.post("transit/keys/aes/config", {setting: True})
        assert (refused.status, "their bytes stay in the key store" in refused.errors[0]) == (400, True)
    assert managed.post("transit/keys/aes/config", {"auto_rotate_period": "1h"}).status == 400
    assert managed.post("transit/keys/aes/config", {"deletion_allowed": True}).ok

    for kind in ("encryption-key", "signing-key", "hmac-key", "public-key"):
        assert managed.get(f"transit/export/{kind}/aes").status == 400
    assert managed.get("transit/backup/aes").status == 500
    assert managed.get("transit/byok-export/oaep/aes").status in (400, 404)
    assert managed.delete("transit/keys/aes").status == 204
    assert "label-aes" in managed.keystore.labels


@pytest.mark.parametrize("path", ["keys/k/import", "keys/aes/import_version", "rewrap/aes", "datakey/wrapped/aes"])
def test_what_needs_its_bytes_is_refused(managed: Any, path: str) -> None:
    sent = {"type": "managed_key", "ciphertext": "vault:v1:AAAA", "public_key": "none"}

    assert managed.post(f"transit/{path}", sent).status == 400


def test_each_version_has_an_hmac_key_of_this_service(managed: Any) -> None:
    made = managed.post("transit/hmac/aes", {"input": "aGk="}).data["hmac"]

    assert managed.post("transit/verify/aes", {"input": "aGk=", "hmac": made}).data == {"valid": True}
    assert managed.post("transit/verify/aes", {"input": "aG8=", "hmac": made}).data == {"valid": False}


def test_the_community_edition_makes_none() -> None:
    refused = Vault.dev(edition="community").post("transit/keys/k", ASKED)

    assert (refused.status, refused.errors) == (400, ["enterprise-only feature"])
