"""Rekey: states, what is stored of one, and what another node of the cluster makes of it.

Bodies and texts: ``system/test_rekey.py``.
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault as FrontDoor
from labkit import real
from labkit.front.outside_lab import no_outside
from labkit.front.vault import Vault
from labkit.vault.context import own_work
from labkit.vault.core import Environment, Leadership
from labkit.vault.replication.tree.key_classes import classify
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.rekey import BACKUP, RECORD, REFUSALS, REKEY, Backup, Rekey, RekeyPlan, decode_rekey, read
from labkit.vault.sealing.seal import OWN_SHARES, REKEYED
from labkit.vault.sealing.stored_keys import ROOT_KEY
from labkit.vault.storage import StoreError
from labkit.vault.storage.barrier import KEYRING
from labkit.vault.storage.memory import MemoryStorage


def rekey(service, shares=4, threshold=2, *, required=3, **sent):
    """Rekey over the API; return the last answer's body."""
    body = {"secret_shares": shares, "secret_threshold": threshold, **sent}
    nonce = service.put("sys/rekey/init", body, token="").body["nonce"]
    for share in service.unseal_keys[:required]:
        answer = service.put("sys/rekey/update", {"key": share, "nonce": nonce}, token="")
    return answer.body


def fellow(service, **leadership) -> Any:
    """Another node of the cluster, unsealed, a standby."""
    node: Any = Vault(service.core.storage, service.environment)
    node.unseal_with(service.unseal_keys[:3])
    node.set_leadership(Leadership(active=False, leader="http://x:8200"))
    return node


def status(node) -> dict[str, Any]:
    return node.request("GET", "/v1/sys/seal-status").body


def test_the_table_is_closed_and_its_refusals_are_its_events():
    assert {following for events in REKEY.values() for following in events.values()} == set(REKEY)
    assert set(REFUSALS) <= {event for events in REKEY.values() for event in events}


def test_what_is_stored_of_a_rekey_is_read_back_and_shows_no_secret(service):
    service.put("sys/rekey/init", {"secret_shares": 4, "secret_threshold": 2, "require_verification": True}, token="")
    rekeyed = read(own_work(service.core))
    assert rekeyed is not None
    assert (rekeyed.wanted, rekeyed.state) == (RekeyPlan(4, 2, is_verified=True), "in progress")
    assert repr(rekeyed) == "Rekey(in progress, progress=0)"
    assert "aa" not in repr(Rekey("n", RekeyPlan(1, 1), ("aa",), "v", "aa", ("aa",)))
    assert repr(Backup("n", (("f", "aa"),))) == "Backup(1 key shares)"
    with pytest.raises(ValueError, match="unpack"):
        decode_rekey(b"[]")


def test_none_of_its_records_is_replicated():
    assert [classify(key) for key in (RECORD, BACKUP, ROOT_KEY, OWN_SHARES)] == [0, 0, 0, 0]


def test_no_value_but_the_keyring_is_written_again(service):
    service.put("secret/data/a", {"data": {"n": 1}})
    keys = [key for key in sorted(service.core.storage.keys()) if not key.startswith("node/")]
    before = {key: service.core.storage.get(key) for key in keys}
    rekey(service)
    assert [key for key in keys if service.core.storage.get(key) != before[key]] == [KEYRING]


def test_a_standby_takes_the_new_root_key_from_the_store(service):
    node = fellow(service)
    rekey(service)
    assert status(node)["t"] == 2
    assert node.core.keys.root_key == service.core.keys.root_key
    node.set_leadership(Leadership())
    assert node.get("sys/mounts", token=service.root_token).ok
    assert node.core.keys.barrier.keyring == service.core.keys.barrier.keyring


def test_a_standby_that_looks_after_a_rotation_and_a_rekey_follows_both(service):
    node = fellow(service)
    service.put("sys/rotate")
    service.advance("30s")
    service.put("sys/rotate")
    rekey(service)
    service.put("sys/rotate")
    service.put("secret/data/a", {"data": {"n": 1}})
    assert status(node)["sealed"] is False
    assert node.core.keys.barrier.keyring == service.core.keys.barrier.keyring
    assert node.core.keys.root_key == service.core.keys.root_key


def test_a_standby_that_did_not_look_for_long_seals_itself_and_says_why(service):
    node = fellow(service)
    service.put("sys/rotate")
    service.advance("2m")
    made = rekey(service)
    sealed = status(node)
    assert (sealed["sealed"], sealed["reason"]) == (True, REKEYED)
    restored = Vault(service.core.storage, service.environment, state=node.state())
    assert status(restored)["reason"] == REKEYED
    for share in made["keys"][:2]:
        node.request("PUT", "/v1/sys/unseal", json={"key": share})
    assert (status(node)["sealed"], "reason" in status(node)) == (False, False)


def test_a_standby_that_missed_two_rekeys_follows_the_last(service):
    node = fellow(service)
    made = rekey(service)
    service.unseal_keys = tuple(made["keys"])
    rekey(service, 1, 1, required=2)
    assert status(node)["sealed"] is False
    assert node.core.keys.root_key == service.core.keys.root_key


def test_the_count_of_encryptions_goes_on(service):
    service.put("secret/data/a", {"data": {"n": 1}})
    counted = service.get("sys/key-status").data["encryptions"]
    rekey(service)
    assert service.get("sys/key-status").data["encryptions"] >= counted


def test_a_vault_in_a_file_opens_again_after_a_rekey(tmp_path):
    path = str(tmp_path / "lab.db")
    vault: Any = FrontDoor.open(path)
    made = rekey(vault)
    vault.close()
    again: Any = FrontDoor.open(path)
    assert (again.sealed, list(again.unseal_keys)) == (False, made["keys"])
    verified = rekey(again, 3, 3, required=2, require_verification=True)
    for share in verified["keys"]:
        again.put("sys/rekey/verify", {"key": share, "nonce": verified["verification_nonce"]}, token="")
    again.close()
    last: Any = FrontDoor.open(path)
    assert (last.sealed, set(last.unseal_keys)) == (False, set(verified["keys"]))
    last.close()


def test_elsewhere_no_share_is_stored(service):
    rekey(service)
    assert service.core.storage.get(OWN_SHARES) is None


def test_a_cluster_that_becomes_a_secondary_drops_its_rekey(service):
    service.post("sys/replication/dr/primary/enable")
    service.put("sys/rekey/init", {"secret_shares": 1, "secret_threshold": 1}, token="")
    service.post("sys/replication/dr/primary/demote")
    assert service.core.storage.get(RECORD) is None
    refused = service.put("sys/rekey/init", {"secret_shares": 1, "secret_threshold": 1}, token="")
    assert refused.errors == ["path disabled in replication DR secondary mode"]


class FullStorage(MemoryStorage):
    """A store that takes no more while ``full``."""

    full = False

    def apply(self, *given, **named) -> None:
        """Refuse, or write."""
        if self.full:
            raise StoreError("no space left")
        super().apply(*given, **named)


def test_the_root_key_in_memory_changes_after_the_commit_only(clock):
    storage = FullStorage()
    vault: Any = Vault(storage, Environment(clock, real.entropy, lambda kind, **fields: None, no_outside))
    vault.root_token, vault.unseal_keys = set_up(vault.core)
    nonce = vault.put("sys/rekey/init", {"secret_shares": 1, "secret_threshold": 1}, token="").body["nonce"]
    for share in vault.unseal_keys[:2]:
        vault.put("sys/rekey/update", {"key": share, "nonce": nonce}, token="")
    before, storage.full = vault.core.keys.root_key, True
    assert vault.put("sys/rekey/update", {"key": vault.unseal_keys[2], "nonce": nonce}, token="").status == 500
    assert vault.core.keys.root_key == before
    storage.full = False
    assert vault.get("sys/rekey/init", token="").body["progress"] == 2
    assert vault.put("sys/rekey/update", {"key": vault.unseal_keys[2], "nonce": nonce}, token="").body["complete"]
    assert vault.core.keys.root_key != before
