"""sys/managed-keys: what is written, shown and refused; of the cluster, and of the licensed edition only."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault

HSM = {"key_label": "orders", "mechanism": "CKM_AES_GCM", "pin": "canary-pin", "library": "softhsm", "slot": 7}


def test_a_key_is_written_read_listed_and_forgotten(service: Any) -> None:
    assert service.post("sys/managed-keys/pkcs11/hsm", HSM).status == 204
    shown = service.get("sys/managed-keys/pkcs11/hsm").data

    assert shown == {
        "UUID": shown["UUID"],
        "name": "hsm",
        "type": "pkcs11",
        "key_label": "orders",
        "mechanism": "CKM_AES_GCM",
        "key_bits": 256,
        "usages": ["encrypt", "decrypt"],
        "allow_generate_key": False,
        "allow_replace_key": False,
        "allow_store_key": False,
        "any_mount": False,
        "library": "softhsm",
        "slot": "7",
    }
    service.post("sys/managed-keys/awskms/cloud", {"kms_key": "k", "curve": "P-521", "usages": "verify"})
    assert service.list("sys/managed-keys/pkcs11").data == {"keys": ["hsm"]}
    assert service.get("sys/managed-keys/awskms/cloud").data["key_bits"] == 521

    service.post("sys/managed-keys/pkcs11/hsm", {**HSM, "mechanism": "0x1085"})
    again = service.get("sys/managed-keys/pkcs11/hsm").data
    assert (again["UUID"], again["mechanism"]) == (shown["UUID"], "CKM_AES_CBC_PAD")

    for _ in range(2):
        assert service.delete("sys/managed-keys/pkcs11/hsm").status == 204
    assert service.get("sys/managed-keys/pkcs11/hsm").status == 404
    assert service.list("sys/managed-keys/pkcs11").status == 404


@pytest.mark.parametrize(
    ("path", "sent", "why"),
    [
        ("gcpckms/k", {}, "unknown type of managed key gcpckms; there are: awskms, azurekeyvault, pkcs11"),
        ("pkcs11/k", {"mechanism": "CKM_AES_GCM"}, "key_label or key_id is required"),
        ("awskms/k", {"key_label": "k"}, "kms_key is required"),
        ("pkcs11/k", {"key_id": "k"}, "mechanism of type pkcs11 is one of: CKM_RSA_PKCS (0x0001), "),
        ("azurekeyvault/k", {"key_name": "k", "mechanism": "CKM_AES_GCM"}, "got CKM_AES_GCM"),
        ("pkcs11/k", {**HSM, "key_bits": 512}, "keys of mechanism CKM_AES_GCM have 256, 128 bits; got 512"),
        ("awskms/k", {"kms_key": "k", "curve": "K-163"}, "have 256, 384, 521 bits; got K-163"),
        ("pkcs11/k", {**HSM, "usages": ["sign"]}, "usages of mechanism CKM_AES_GCM are: encrypt, decrypt; got sign"),
        ("awskms/hsm", {"kms_key": "k"}, "a managed key named hsm exists already, of type pkcs11"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(service: Any, path: str, sent: Any, why: str) -> None:
    service.post("sys/managed-keys/pkcs11/hsm", HSM)

    refused = service.post(f"sys/managed-keys/{path}", sent)

    assert refused.status == 400
    assert why in refused.errors[0]
    assert service.list("sys/managed-keys/pkcs11").data == {"keys": ["hsm"]}


def test_what_opens_the_store_is_kept_nowhere(service: Any) -> None:
    secrets = {name: f"canary-{name}" for name in ("pin", "access_key", "secret_key", "client_secret")}
    answer = service.post("sys/managed-keys/pkcs11/hsm", {**HSM, **secrets})

    core = service.core
    place = "core/managed-keys/pkcs11/hsm"
    stored = core.keys.decrypt(place, core.storage.get(place))
    assert b"orders" in stored
    assert b"canary" not in stored
    assert "canary" not in str((answer, service.get("sys/managed-keys/pkcs11/hsm").data))


def test_they_are_the_clusters_and_engines_of_any_namespace_use_them(service: Any) -> None:
    service.post("sys/managed-keys/pkcs11/hsm", {**HSM, "allow_generate_key": True})
    service.post("sys/namespaces/team")
    below = {"X-Vault-Namespace": "team"}
    service.post("sys/mounts/transit", {"type": "transit"}, headers=below).raise_for_status()

    assert service.get("sys/managed-keys/pkcs11/hsm", headers=below).errors == ["operation unavailable in namespaces"]
    asked = {"type": "managed_key", "managed_key_name": "hsm"}
    assert service.post("transit/keys/k", asked, headers=below).ok
    assert service.post("transit/encrypt/k", {"plaintext": "aGk=", "nonce": "A" * 16}, headers=below).ok


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_the_community_edition_has_none(method: str) -> None:
    vault = Vault.dev(edition="community")
    headers = {"X-Vault-Token": vault.root_token}

    refused = vault.request(method, "/v1/sys/managed-keys/pkcs11/k", None, headers)

    assert (refused.status, refused.errors) == (400, ["enterprise-only feature"])
