"""``sys/rekey`` over the API: bodies, texts, verification and backup."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from pysequoia import Tsk, decrypt

from labkit import Vault as FrontDoor
from labkit.front.vault import Vault
from labkit.vault.core import Leadership
from labkit.vault.storage.memory import MemoryStorage

INIT, UPDATE, VERIFY, BACKUP = "sys/rekey/init", "sys/rekey/update", "sys/rekey/verify", "sys/rekey/backup"
KEYS = {row["name"]: row for row in json.loads((Path(__file__).parents[2] / "vectors/pgp.json").read_text())["vectors"]}
OWNER = KEYS["curve25519"]
FOUR_TWO = {"secret_shares": 4, "secret_threshold": 2}


def begin(service, **sent):
    answer = service.put(INIT, {**FOUR_TWO, **sent}, token="")
    assert answer.status == 200, answer.errors
    return answer.body


def give(service, share, nonce, path=UPDATE):
    return service.put(path, {"key": share, "nonce": nonce}, token="")


def rekey(service, keys, **sent):
    """Rekey, and return the last answer's body."""
    nonce = begin(service, **sent)["nonce"]
    required = service.get(INIT, token="").body["required"]
    for share in keys[:required]:
        answer = give(service, share, nonce)
        assert answer.status == 200, answer.errors
    return answer.body


def opened(message: str) -> str:
    """What a PGP message in hex holds, for its owner."""
    secret = Tsk.from_bytes(b64decode(OWNER["secret"])).decryptor()
    return (decrypt(bytes.fromhex(message), decryptor=secret).bytes or b"").decode()


def unseals(service, keys) -> bool:
    service.put("sys/seal")
    for share in keys:
        service.put("sys/unseal", {"key": share}, token="")
    return not service.sealed


def test_without_a_rekey(service):
    assert service.get(INIT, token="").body == {
        "nonce": "",
        "started": False,
        "t": 0,
        "n": 0,
        "progress": 0,
        "required": 3,
        "pgp_fingerprints": None,
        "backup": False,
        "verification_required": False,
    }
    assert service.delete(INIT, token="").status == 204
    for path, text in ((UPDATE, "no barrier rekey in progress"), (VERIFY, "no rekey verification in progress")):
        refused = give(service, service.unseal_keys[0], "", path)
        assert (refused.status, refused.errors) == (400, [text])
    assert service.get(VERIFY, token="").status == service.delete(VERIFY, token="").status == 400


def test_the_new_shares_open_it_and_the_old_ones_do_not(service):
    service.put("secret/data/a", {"data": {"n": 1}})
    before = service.core.storage.get("core/mounts")
    nonce = begin(service)["nonce"]
    answers = [give(service, share, nonce).body for share in service.unseal_keys[:3]]

    assert [body.get("progress") for body in answers] == [1, 2, None]
    done = answers[-1]
    assert (done["complete"], done["nonce"], len(done["keys"]), done["backup"]) == (True, nonce, 4, False)
    assert [b64decode(share).hex() for share in done["keys_base64"]] == done["keys"]
    status = service.get("sys/seal-status").body
    assert (status["t"], status["n"], status["sealed"], "reason" in status) == (2, 4, False, False)
    assert service.core.storage.get("core/mounts") is before
    assert service.get("secret/data/a").data["data"] == {"n": 1}
    assert not unseals(service, service.unseal_keys[:2])
    assert unseals(service, done["keys"][2:])
    assert service.get("secret/data/a").data["data"] == {"n": 1}
    assert service.get(INIT, token="").body["started"] is False


def test_a_rekey_after_a_rekey_wants_the_shares_of_the_first(service):
    first = rekey(service, service.unseal_keys)["keys"]
    nonce = begin(service, secret_shares=1, secret_threshold=1)["nonce"]
    give(service, service.unseal_keys[0], nonce)
    refused = give(service, service.unseal_keys[1], nonce)
    assert refused.status == 400
    assert refused.errors[0].startswith("rekey aborted: unable to authenticate: invalid key: failed to decrypt")
    assert service.get(INIT, token="").body["progress"] == 0
    for share in first[1:3]:
        done = give(service, share, nonce).body
    assert len(bytes.fromhex(done["keys"][0])) == 32
    assert unseals(service, done["keys"])


class TestVerification:
    def test_the_new_shares_hold_only_then(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        verification = made["verification_nonce"]
        assert (made["verification_required"], made["complete"]) == (True, True)
        assert service.get("sys/seal-status").body["t"] == 3
        assert service.get(VERIFY, token="").body == {
            "nonce": verification,
            "started": True,
            "t": 2,
            "n": 4,
            "progress": 0,
        }
        assert service.get(INIT, token="").body["verification_nonce"] == verification
        assert give(service, made["keys"][0], verification, VERIFY).body["progress"] == 1
        done = give(service, made["keys"][3], verification, VERIFY)
        assert done.body == {"nonce": verification, "complete": True}
        assert service.get("sys/seal-status").body["t"] == 2
        assert unseals(service, made["keys"][:2])

    def test_what_is_not_verified_never_holds(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        assert service.delete(INIT, token="").status == 204
        assert give(service, made["keys"][0], made["verification_nonce"], VERIFY).status == 400
        assert unseals(service, service.unseal_keys[:3])

    def test_more_old_shares_are_refused_and_the_nonce_is_named(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        refused = give(service, service.unseal_keys[3], made["nonce"])
        assert refused.status == 400
        assert made["verification_nonce"] in refused.errors[0]

    def test_wrong_shares_set_its_progress_to_0(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        give(service, made["keys"][0], made["verification_nonce"], VERIFY)
        place = "12" if made["keys"][0].endswith("11") else "11"  # two shares of one place say something else
        refused = give(service, "11" * 32 + place, made["verification_nonce"], VERIFY)
        text = "rekey verification failed: the key shares given do not combine to the new root key"
        assert (refused.status, refused.errors) == (400, [text])
        assert service.get(VERIFY, token="").body["progress"] == 0
        for share in made["keys"][1:3]:
            done = give(service, share, made["verification_nonce"], VERIFY)
        assert done.body["complete"]

    def test_it_begins_again_under_another_nonce(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        give(service, made["keys"][0], made["verification_nonce"], VERIFY)
        again = service.delete(VERIFY, token="").body
        assert (again["progress"], again["started"]) == (0, True)
        refused = give(service, made["keys"][0], made["verification_nonce"], VERIFY)
        assert "incorrect nonce supplied; nonce for this rekey verification operation" in refused.errors[0]
        for share in made["keys"][:2]:
            done = give(service, share, again["nonce"], VERIFY)
        assert done.body == {"nonce": again["nonce"], "complete": True}

    def test_a_rotation_in_between_is_kept(self, service) -> None:
        made = rekey(service, service.unseal_keys, require_verification=True)
        service.put("sys/rotate")
        service.put("secret/data/a", {"data": {"n": 2}})
        for share in made["keys"][:2]:
            give(service, share, made["verification_nonce"], VERIFY)
        assert service.get("sys/key-status").data["term"] == 2
        assert unseals(service, made["keys"][:2])
        assert service.get("secret/data/a").data["data"] == {"n": 2}


class TestPgpKeys:
    def test_each_share_is_encrypted_to_its_key(self, service) -> None:
        made = rekey(service, service.unseal_keys, secret_shares=2, pgp_keys=[OWNER["public"]] * 2)
        assert made["pgp_fingerprints"] == [OWNER["fingerprint"]] * 2
        assert unseals(service, [opened(share) for share in made["keys"]])

    def test_a_backup_is_kept_until_it_is_deleted(self, service) -> None:
        sent = {"secret_shares": 2, "pgp_keys": [OWNER["public"]] * 2, "backup": True}
        assert begin(service, **sent)["backup"] is True
        service.delete(INIT, token="")
        made = rekey(service, service.unseal_keys, **sent)
        kept = service.get(BACKUP)
        assert kept.data["nonce"] == made["nonce"] == kept.body["nonce"]
        assert kept.data["keys"] == {OWNER["fingerprint"]: made["keys"]}
        assert kept.data["keys_base64"] == {OWNER["fingerprint"]: made["keys_base64"]}
        assert service.get(BACKUP, token="").status == service.delete(BACKUP, token="").status == 403
        assert service.core.storage.get("node/rekey-backup") is not None
        assert [service.delete(BACKUP).status for _ in range(2)] == [204, 204]
        assert service.get(BACKUP).errors == ["no backed-up keys found"]

    def test_in_a_seeded_world_none_is_kept(self, service) -> None:
        seeded: Any = FrontDoor.dev(seed=7)
        sent = {"secret_shares": 2, "secret_threshold": 2, "pgp_keys": [OWNER["public"]] * 2}
        refused = seeded.put(INIT, {**sent, "backup": True}, token="")
        assert refused.status == 400
        assert "seed" in refused.errors[0]
        assert seeded.put(INIT, sent, token="").ok


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({}, "invalid rekey seal configuration: shares must be at least one"),
        ({"secret_shares": 5}, "invalid rekey seal configuration: threshold must be at least one"),
        ({"secret_shares": 2, "secret_threshold": 3}, "invalid rekey seal configuration: threshold cannot be larger"),
        ({"secret_shares": 2, "secret_threshold": 1}, "invalid rekey seal configuration: threshold must be greater"),
        ({"secret_shares": 256, "secret_threshold": 3}, "invalid rekey seal configuration: shares must be less than"),
        ({**FOUR_TWO, "pgp_keys": ["a"]}, "invalid rekey seal configuration: incorrect number of PGP keys for rekey"),
        ({**FOUR_TWO, "pgp_keys": ["!"] * 4}, "error parsing PGP key: "),
        ({**FOUR_TWO, "backup": True}, "cannot request a backup of the new keys without"),
        ({**FOUR_TWO, "stored_shares": 1}, "parameter stored_shares not applicable to seal type shamir"),
        ({"secret_shares": "many"}, "Field validation failed"),
    ],
)
def test_odd_rekeys_are_refused_and_none_begins(service, sent, text):
    refused = service.put(INIT, sent, token="")
    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get(INIT, token="").body["started"] is False


@pytest.mark.parametrize("path", [UPDATE, VERIFY])
@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({}, "'key' must be specified in request body as JSON"),
        ({"key": "zz!"}, "'key' must be a valid hex or base64 string"),
        ({"key": "00" * 15}, "invalid key: key is shorter than minimum 16 bytes"),
        ({"key": "00" * 34}, "invalid key: key is longer than maximum 33 bytes"),
        ({"key": "00" * 33, "nonce": "x"}, "incorrect nonce supplied; nonce for this rekey"),
    ],
)
def test_odd_shares_are_refused_and_count_for_nothing(service, path, sent, text):
    if path == VERIFY:
        rekey(service, service.unseal_keys, require_verification=True)
    else:
        begin(service)
    before = service.get(path.replace("update", "init"), token="").body
    refused = service.put(path, sent, token="")
    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert service.get(path.replace("update", "init"), token="").body == before


def test_one_rekey_at_a_time_and_a_share_once(service):
    nonce = begin(service)["nonce"]
    assert service.put(INIT, FOUR_TWO, token="").errors == ["rekey already in progress"]
    give(service, service.unseal_keys[0], nonce)
    refused = give(service, service.unseal_keys[0].upper(), nonce)
    assert "already been provided" in refused.errors[0]
    assert service.get(INIT, token="").body["progress"] == 1


@pytest.mark.parametrize(
    ("method", "name"), [("GET", "init"), ("PUT", "init"), ("DELETE", "init"), ("PUT", "update"), ("GET", "backup")]
)
def test_there_are_no_recovery_keys(service, method, name):
    refused = service.request(method, f"/v1/sys/rekey-recovery-key/{name}", json={})
    assert refused.status == 400
    assert refused.body["errors"][0].startswith("recovery rekeying not supported")


def test_who_does_not_answer(service):
    blank: Any = Vault(MemoryStorage(), service.environment)
    for method, path in (("GET", INIT), ("PUT", INIT), ("DELETE", INIT), ("PUT", UPDATE), ("GET", VERIFY)):
        refused = blank.request(method, f"/v1/{path}")
        assert (refused.status, refused.errors) == (400, ["server is not yet initialized"])
    service.set_leadership(Leadership(active=False, leader="http://other:8200"))
    assert service.put(INIT, FOUR_TWO, token="").status == 307
    service.set_leadership(Leadership())
    service.put("sys/seal")
    assert (service.get(INIT, token="").status, service.get(VERIFY, token="").status) == (503, 503)
