"""``backup`` and ``restore``: keys of real servers work here, and what cannot be a key is refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.vault.engines.transit.backups.backup_reading import TYPES_BY_CODE
from tests.refusals import refused

VECTORS = Path(__file__).parents[4] / "vectors"
BACKUPS = json.loads((VECTORS / "transit_backups.json").read_text())
SYMMETRIC = json.loads((VECTORS / "transit_symmetric.json").read_text())["vectors"]
HELLO = base64.b64encode(b"hello world").decode()
FOX = "dGhlIHF1aWNrIGJyb3duIGZveA=="


def opened(blob: str) -> Any:
    return json.loads(base64.b64decode(blob))


def closed(blob: Any) -> str:
    return base64.b64encode(json.dumps(blob).encode()).decode()


def test_keys_of_real_servers_decrypt_what_they_encrypted(service: Any) -> None:
    blobs = BACKUPS["vault_1_14_era"]
    for name in ("plain-aes128-gcm96", "plain-aes256-gcm96", "plain-chacha20-poly1305"):
        assert service.post("transit/restore", {"backup": blobs[name]}).status == 204
        vector = next(v for v in SYMMETRIC if v["case"] == "plain" and v["type"] == name.removeprefix("plain-"))
        sent = {"ciphertext": vector["ciphertext"]}
        assert service.post(f"transit/decrypt/{name}", sent).data == {"plaintext": FOX}
    for way in (1, 2, 3):
        vector = next(v for v in SYMMETRIC if v["case"] == f"convergent-v{way}" and v["type"] == "aes256-gcm96")
        assert service.post(f"transit/restore/c{way}", {"backup": blobs[f"conv{way}"]}).status == 204
        sent = {"plaintext": FOX, "context": vector["context_b64"], "nonce": vector.get("nonce_b64", "")}
        assert service.post(f"transit/encrypt/c{way}", sent).data["ciphertext"] == vector["ciphertext"]
    service.post("transit/restore", {"backup": BACKUPS["openbao"]["aes256-gcm96"]})
    sent = {"ciphertext": BACKUPS["openbao_ciphertext"]}
    assert service.post("transit/decrypt/ob-aes256-gcm96", sent).data == {"plaintext": FOX}


def test_our_blobs_have_the_layout_of_theirs(service: Any) -> None:
    for name, blob in BACKUPS["vault_1_14_era"].items():
        if opened(blob)["policy"]["type"] not in TYPES_BY_CODE:
            continue
        assert service.post("transit/restore/k", {"backup": blob, "force": True}).status == 204
        made = service.get("transit/backup/k").data["backup"]
        theirs, ours = opened(blob), opened(made)
        assert base64.b64decode(made).endswith(b"}\n")
        assert list(ours["policy"]) == list(theirs["policy"]), name
        assert ours["policy"].pop("backup_info").keys() == theirs["policy"].pop("backup_info").keys()
        assert ours["policy"].pop("restore_info")["version"] == theirs["policy"]["latest_version"]
        if not theirs["policy"]["convergent_encryption"]:
            theirs["policy"]["convergent_version"] = 0  # that code had -1 here, servers have 0
        theirs["policy"] |= {"restore_info": None, "name": "k"}
        assert ours["policy"] | {"restore_info": None} == theirs["policy"], name
        assert ours["archived_keys"] == theirs["archived_keys"], name


def test_a_key_moves_with_all_that_belongs_to_it(service: Any) -> None:
    flags = {"exportable": True, "allow_plaintext_backup": True}
    other = Vault.dev(seed=8)
    for key_type in ("aes256-gcm96", "hmac", "ed25519"):
        service.post("transit/keys/k", {"type": key_type, "auto_rotate_period": "2h", **flags})
        for _ in range(3):
            service.post("transit/keys/k/rotate")
        service.post("transit/keys/k/config", {"min_decryption_version": 3, "min_encryption_version": 3})
        service.post("transit/keys/k/trim", {"min_available_version": 2})
        service.post("transit/keys/k/config", {"deletion_allowed": True})
        digest = service.post("transit/hmac/k", {"input": HELLO}).data["hmac"]

        blob = service.get("transit/backup/k").data["backup"]
        assert other.post("transit/restore/there", {"backup": blob, "force": True}).status == 204

        ours, theirs = service.get("transit/keys/k").data, other.get("transit/keys/there").data
        assert theirs.pop("restore_info")["version"] == 4
        assert theirs | {"name": "k"} == ours, key_type
        assert ours["backup_info"]["version"] == 4
        assert other.post("transit/verify/there", {"input": HELLO, "hmac": digest}).data == {"valid": True}
        other.post("transit/keys/there/config", {"min_decryption_version": 2})
        assert sorted(other.get("transit/keys/there").data["keys"]) == ["2", "3", "4"]
        assert other.post("transit/keys/there/rotate").data["latest_version"] == 5
        service.delete("transit/keys/k")


def test_a_backup_wants_both_settings(service: Any) -> None:
    service.post("transit/keys/none")
    service.post("transit/keys/one", {"exportable": True})

    assert refused(service.get("transit/backup/missing"), 'key "missing" not found')
    assert refused(service.get("transit/backup/none"), "exporting is disallowed on the policy", 500)
    assert refused(service.get("transit/backup/one"), "plaintext backup is disallowed on the policy", 500)
    assert "backup_info" not in service.get("transit/keys/one").data


def test_the_name_is_that_of_the_path_of_the_body_or_of_the_blob(service: Any) -> None:
    blob = BACKUPS["vault_1_14_era"]["trimmed"]

    for path, body, name in (("", {}, "trim"), ("", {"name": "other"}, "other"), ("/third", {}, "third")):
        assert service.post(f"transit/restore{path}", {"backup": blob, **body}).status == 204
        assert service.get(f"transit/keys/{name}").data["latest_version"] == 4
    for name, why in (
        ("a/b", "key names cannot be paths"),
        ("-", "the backup names no key; give it a name in the path or as name"),
    ):
        assert refused(service.post("transit/restore", {"backup": blob, "name": name}), why)
        changed = opened(blob)
        changed["policy"]["name"] = name
        assert refused(service.post("transit/restore", {"backup": closed(changed)}), why)


def test_a_key_that_exists_is_replaced_by_force_only(service: Any) -> None:
    service.post("transit/keys/k", {"type": "hmac"})
    before = service.get("transit/keys/k").data
    blob = BACKUPS["vault_1_14_era"]["trimmed"]

    assert refused(service.post("transit/restore/k", {"backup": blob}), 'key "k" already exists', 500)
    assert service.get("transit/keys/k").data == before
    assert service.post("transit/restore/k", {"backup": blob, "force": "true"}).status == 204
    assert service.get("transit/keys/k").data["type"] == "aes256-gcm96"


def test_what_is_no_backup(service: Any) -> None:
    def coded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    for blob, why in (
        ("", "'backup' must be supplied"),
        ("*", "illegal base64 data at input byte 0"),
        (coded("hello"), "invalid character 'h' looking for beginning of value"),
        (coded(" "), "the backup is not JSON"),
        (coded('{"policy":'), "the backup is not JSON"),
        (coded('{"policy": NaN}'), "the backup is not JSON"),
        (coded("[" * 100_000), "the backup is not JSON that can be read: it is too deep"),
        (coded('{"policy": {"type": ' + "9" * 5000 + "}}"), "the backup is not JSON"),
        ("/w==", "the backup is not JSON"),
        (coded("[]"), "in the backup, the whole must be an object"),
        (coded("{}"), "in the backup, policy is missing"),
        (coded('{"policy": 3}'), "in the backup, policy must be an object"),
    ):
        assert refused(service.post("transit/restore/k", {"backup": blob}), why)
    assert refused(service.post("transit/restore", {}), "'backup' must be supplied")
    assert service.list("transit/keys").status == 404


def test_fips_mode_restores_no_key_of_a_type_that_is_not_certified() -> None:
    fips = Vault.dev(seed=7, fips=True)

    for name in ("plain-chacha20-poly1305", "ed25519"):
        refusal = fips.post("transit/restore/k", {"backup": BACKUPS["vault_1_14_era"][name]})
        assert refusal.status == 400
        assert "FIPS 140-2 mode" in refusal.errors[0]
    assert fips.post("transit/restore/k", {"backup": BACKUPS["vault_1_14_era"]["trimmed"]}).status == 204


@pytest.mark.parametrize("edition", ["enterprise", "community"])
def test_both_editions_have_it(edition: str) -> None:
    vault = Vault.dev(seed=7, edition=edition)

    assert vault.post("transit/restore/k", {"backup": BACKUPS["vault_1_14_era"]["hmac"]}).status == 204
