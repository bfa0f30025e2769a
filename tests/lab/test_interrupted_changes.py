"""A process that ends right after its commit gives no answer: what the commit did is in the books all the same."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import SURVIVING_TOKENS, VERSION_ORDER, WITHIN_LAG
from labkit.lab.measures.stale_reads import stale_reads
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.service.silence import Silence

DR = "sys/replication/dr"


def interrupted(lab: Lab, cluster: str, method: str, path: str, body: dict[str, Any] | None = None) -> None:
    """Let a cluster carry a request out and end before it answers."""
    lab.crash_in_commit(cluster, "after")
    with pytest.raises(Silence):
        lab[cluster].request(method, path, body, {"X-Vault-Token": lab[cluster].root_token}, timeout="5s")


def put(lab: Lab, cluster: str, times: int = 1) -> None:
    for _ in range(times):
        lab[cluster].post("secret/data/a", {"data": {}}).raise_for_status()


def test_a_promotion_counts_and_so_does_what_it_lost(calm: Lab):
    calm.partition("paris", "tokyo")
    put(calm, "paris")
    calm.crash("paris")
    interrupted(calm, "tokyo", "POST", f"{DR}/secondary/promote", {"dr_operation_token": operation_token(calm)})
    (taken,) = calm.ledger.promotions

    assert (calm["tokyo"].mode, taken.survivor, taken.planned) == ("primary", "tokyo", False)
    assert calm.ledger.rpo().writes == 1
    assert calm.invariants.judged(WITHIN_LAG) == 1
    put(calm, "tokyo")
    assert calm.ledger.rto().seconds is not None


def test_a_disabled_secondary_goes_on_with_the_history_that_it_followed(calm: Lab):
    put(calm, "paris")
    calm.run("2s")
    interrupted(calm, "tokyo", "POST", f"{DR}/secondary/disable", {"dr_operation_token": operation_token(calm)})
    histories, (write,) = calm.ledger.histories, calm.ledger.writes

    assert calm["tokyo"].mode == "disabled"
    assert histories.holds("tokyo", write.committed.commit, write.committed.history)
    assert histories.followed == {}


def operation_token(lab: Lab) -> str:
    return lab["tokyo"].operation_token()


def test_a_cluster_that_joined_has_nothing_of_what_was_damaged_before(calm: Lab):
    calm.corrupt("tokyo", layer="page")
    calm["tokyo"].disable()
    calm.crash_in_commit("tokyo", "after")
    with pytest.raises(RunbookError):
        calm["tokyo"].enable_secondary("paris")

    assert calm.invariants.corrupted == {}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_id_that_was_revoked_keeps_its_secondary_from_what_is_written_afterwards(calm: Lab, moment: str):
    calm.crash_in_commit("paris", moment)
    with pytest.raises(Silence):
        calm["paris"].post(f"{DR}/primary/revoke-secondary", {"id": "tokyo"}, timeout="5s")

    revoked = [cause for cause in calm.ledger.outages.since if cause[0] == "revoked"]
    assert revoked == ([("revoked", "paris", "tokyo")] if moment == "after" else [])


def test_a_disabled_primary_revoked_nobody(calm: Lab):
    interrupted(calm, "paris", "POST", f"{DR}/primary/disable")

    assert not [cause for cause in calm.ledger.outages.since if cause[0] == "revoked"]


def test_a_token_whose_revocation_nobody_answered_is_not_held_against_a_survivor(calm: Lab):
    token = calm["paris"].post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    calm.run("1s")
    calm.failover("paris", "tokyo")
    interrupted(calm, "tokyo", "POST", "auth/token/revoke", {"token": token})

    assert calm["tokyo"].get("auth/token/lookup-self", token=token).status == 403
    assert SURVIVING_TOKENS not in calm.invariants.broken


def test_a_secret_whose_deletion_nobody_answered_begins_another_life(calm: Lab):
    put(calm, "paris", 3)
    interrupted(calm, "paris", "DELETE", "secret/metadata/a")
    assert calm["paris"].get("secret/data/a").status == 404
    assert stale_reads(calm.ledger).stale == ()
    put(calm, "paris")

    assert calm["paris"].get("secret/data/a").data["metadata"]["version"] == 1
    assert VERSION_ORDER not in calm.invariants.broken
