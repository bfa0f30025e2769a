"""Interrupted commits: half of a commit is found in the store, whatever was said to be kept."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import WHOLE_COMMIT
from labkit.lab.wire.reports import CommitEnded
from labkit.service.silence import Silence
from labkit.vault.replication.tree.merkle import leaf_digest
from labkit.vault.storage.interruption import MOMENTS
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[WHOLE_COMMIT]
    return "" if violation is None else violation.detail


def interrupted(lab: Lab, moment: str) -> Lab:
    """A lab whose primary's active node went down inside a commit."""
    lab.crash_in_commit("paris", moment)
    token = {"X-Vault-Token": lab["paris"].root_token}
    with pytest.raises(Silence):
        lab["paris"].request("POST", "secret/data/a", {"data": {"n": 1}}, token, node="paris-1", timeout="100ms")
    return lab


@pytest.mark.parametrize("moment", MOMENTS)
def test_all_or_nothing_holds(calm: Lab, moment: str):
    assert not calm.invariants.applies(WHOLE_COMMIT)
    assert not found(interrupted(calm, moment))
    assert calm.invariants.applies(WHOLE_COMMIT)


@pytest.mark.parametrize("alone", [False, True])
def test_half_of_it_is_found_on_one_cluster_too(calm: Lab, alone: bool):
    lab = Lab.pair(seed=2) if alone else calm
    with planted(ZOO["half-commit-kept"]):
        interrupted(lab, "between")

    assert found(lab).startswith("paris-1 ended inside a commit of ")
    assert ", but not " in found(lab)


@pytest.mark.parametrize(
    ("stored", "whole"),
    [
        ({"a": b"new", "b": None}, True),
        ({"a": None, "b": b"old"}, True),
        ({"a": b"new", "b": b"old"}, False),
        ({"a": b"other", "b": b"old"}, False),
    ],
)
def test_each_key_is_looked_at_and_what_stays_as_it_was_says_nothing(calm: Lab, stored: dict, whole: bool):
    rows = (
        ("a", None, leaf_digest("a", b"new")),
        ("b", leaf_digest("b", b"old"), None),
        ("same", None, None),
    )
    calm.parts.stores["paris"].apply(stored, 1 << 40)
    calm.parts.nodes["paris-1"].services.emit(CommitEnded("paris", "paris-1", rows))

    assert bool(found(calm)) != whole
