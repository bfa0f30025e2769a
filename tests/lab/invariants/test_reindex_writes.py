"""Reindex writes: a write beside the commit of a reindex is found, and an index that lacks what was written."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import REINDEX_WRITES
from labkit.lab.wire.reports import IndexReplaced
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[REINDEX_WRITES]
    return "" if violation is None else violation.detail


def reindexed(lab: Lab, cluster: str = "paris") -> Lab:
    """A lab in which a cluster is reindexed while clients write."""
    lab.work_through("reindex", cluster=cluster, force=True)
    return lab.run("2s")


def test_it_holds_for_both_sides_while_clients_write(lab: Lab):
    assert not lab.invariants.applies(REINDEX_WRITES)
    reindexed(reindexed(lab), "tokyo")

    assert lab.invariants.applies(REINDEX_WRITES)
    assert not found(lab)
    assert lab.invariants.state()["rules"][REINDEX_WRITES]["begun"] == ()


def test_writes_that_do_not_wait_are_found(lab: Lab):
    with planted(ZOO["writes-in-a-reindex"]):
        reindexed(lab)

    assert found(lab).startswith("paris-1 wrote ")
    assert found(lab).endswith(" while its reindex was committing")


def test_what_is_written_meanwhile_and_forgotten_is_found(lab: Lab):
    with planted(ZOO["touched-forgotten"]):
        reindexed(lab)

    assert found(lab).startswith("paris-1 was reindexed, and its index is not what is stored at ")


@pytest.mark.parametrize("what", ["a leaf too many", "another leaf", "damaged"])
def test_every_leaf_is_compared_unless_it_was_damaged_on_purpose(calm: Lab, what: str):
    node = calm.parts.nodes["paris-1"]
    key = next(key for key in calm.queries.contents("paris"))
    if what == "damaged":
        calm.invariants.corrupted["paris"] = True
    node.store.apply({}, 1 << 40, {"logical/none" if what == "a leaf too many" else key: bytes(20)})
    for rule in (calm.invariants._rules[REINDEX_WRITES],):
        rule.judgements[IndexReplaced](IndexReplaced("paris"))

    assert bool(found(calm)) == (what != "damaged")


def test_a_reindex_that_was_begun_is_saved(calm: Lab):
    calm["paris"].post("sys/replication/reindex", {})
    again = Lab.restore(calm.snapshot())

    assert calm.invariants.state()["rules"][REINDEX_WRITES]["begun"] == ("paris",)
    assert again.invariants.state() == calm.invariants.state()
