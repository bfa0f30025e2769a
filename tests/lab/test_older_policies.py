"""Stores whose policies an earlier version wrote, in a lab: with an index of names beside the texts.

The index is no use any more: the first change of a policy deletes it, in the same commit, so that a cluster has either
form whole at every instant, whichever node leads it and whatever it replicates from.
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.vault.policies.store import OLD_INDEX
from tests.vault.policies.test_store import READ_X, with_index

SECOND_NS = 1_000_000_000
PATH = "sys/policies/acl"
OLD, NEW = ["default", "old", "root"], ["default", "new", "old", "root"]


def vault_of(lab: Lab, cluster: str) -> Any:
    return lab.parts.nodes[lab[cluster].active].vault


def has_index(lab: Lab, cluster: str) -> bool:
    return OLD_INDEX in lab.queries.contents(cluster)


def names(lab: Lab, cluster: str) -> list[str]:
    found: list[str] = lab[cluster].get(f"{PATH}?list=true").data["keys"]
    return found


def level(lab: Lab, *broken: str) -> bool:
    same = lab.queries.contents("paris") == lab.queries.contents("tokyo")
    return same and lab["paris"].root == lab["tokyo"].root and [*lab.invariants.broken] == [*broken]


@pytest.fixture(scope="module")
def older() -> Any:
    """Paris, of which an earlier version wrote the policies, and tokyo, which replicates from it."""
    lab = Lab.pair(seed=7)
    lab["paris"].put(f"{PATH}/old", {"policy": READ_X}).raise_for_status()
    assert with_index(vault_of(lab, "paris"), "") == [OLD_INDEX]
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    return lab.snapshot()


@pytest.fixture
def lab(older: Any) -> Lab:
    return Lab.restore(older)


def test_the_secondary_has_what_its_primary_has_before_and_after_the_first_change(lab: Lab) -> None:
    assert has_index(lab, "paris")
    assert has_index(lab, "tokyo")
    assert level(lab)
    lab["paris"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
    lab.run("1s")
    assert not has_index(lab, "paris")
    assert not has_index(lab, "tokyo")
    assert level(lab)


def test_a_secondary_that_joins_a_primary_of_the_older_form_leaves_its_own(lab: Lab) -> None:
    """Whatever a cluster had is what its primary has, once it joined."""
    other = Lab.pair(seed=8)
    assert with_index(vault_of(other, "tokyo"), "") == [OLD_INDEX]
    other["paris"].put(f"{PATH}/old", {"policy": READ_X}).raise_for_status()
    other.replicate("paris", "tokyo")
    other.run("1s")
    assert not has_index(other, "tokyo")
    assert level(other)


@pytest.mark.parametrize("changed_first", [False, True])
def test_a_survivor_of_either_form_serves_and_goes_on(lab: Lab, changed_first: bool) -> None:
    if changed_first:
        lab["paris"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
        lab.run("1s")
    lab.failover("paris", "tokyo")
    assert has_index(lab, "tokyo") is not changed_first
    assert names(lab, "tokyo") == (NEW if changed_first else OLD)
    lab["tokyo"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
    lab.run("5s")
    assert names(lab, "tokyo") == NEW
    assert not has_index(lab, "paris")
    assert level(lab)


def test_clusters_apart_end_it_each_and_agree_again(lab: Lab) -> None:
    """Paris changed a policy, of which its survivor never heard; the index is back there until tokyo changes one."""
    lab.partition("paris", "tokyo")
    lab["paris"].put(f"{PATH}/lost", {"policy": READ_X}).raise_for_status()
    lab.crash("paris")
    lab["tokyo"].promote()
    assert has_index(lab, "tokyo")
    assert names(lab, "tokyo") == OLD
    lab.heal()
    lab.restart("paris")
    lab["paris"].unseal()
    lab.run("5s")
    lab["paris"].demote()
    lab["paris"].repoint("tokyo")
    lab.run("20s")
    assert has_index(lab, "paris"), "it is what the new primary has"
    assert level(lab, "one primary")
    lab["tokyo"].delete(f"{PATH}/old").raise_for_status()
    lab.run("1s")
    assert not has_index(lab, "paris")
    assert level(lab, "one primary")


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("change", ["write", "delete"])
def test_a_leader_that_ends_inside_the_first_change_leaves_one_form_whole(lab: Lab, moment: str, change: str) -> None:
    request = (
        Ask("paris", "PUT", f"{PATH}/new", {"policy": READ_X}, lab["paris"].active)
        if change == "write"
        else Ask("paris", "DELETE", f"{PATH}/old", None, lab["paris"].active)
    )
    lab.crash_in_commit("paris", moment)
    number = lab.parts.console.ask(request, 15 * SECOND_NS)
    lab.run("20s")
    assert lab.parts.console.answers[number].status == 0, "nobody was answered"
    assert lab["paris"].active == "paris-2"
    done = moment == "after"
    assert has_index(lab, "paris") is not done
    changed = NEW if change == "write" else ["default", "root"]
    assert names(lab, "paris") == (changed if done else OLD)
    lab["paris"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
    lab.run("2s")
    assert not has_index(lab, "tokyo")
    assert level(lab)


@pytest.mark.parametrize("ended", ["step-down", "crash", "pause"])
def test_another_leader_goes_on_where_the_first_change_was_asked_for(lab: Lab, ended: str) -> None:
    """The node that was asked leads no more when the change comes, or is paused before it: all of it or nothing."""
    leader = lab["paris"].active
    number = lab.parts.console.ask(Ask("paris", "PUT", f"{PATH}/new", {"policy": READ_X}, leader), SECOND_NS)
    if ended == "step-down":
        vault_of(lab, "paris").set_leadership(lab.parts.nodes["paris-2"].leadership)
    else:
        {"crash": lab.crash, "pause": lab.pause}[ended](leader)
    lab.run("10s")
    if ended == "pause":
        lab.resume(leader)
        lab.run("5s")
    assert number in lab.parts.console.answers
    assert has_index(lab, "paris") is ("new" not in names(lab, "paris"))
    lab["paris"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
    lab.run("2s")
    assert names(lab, "paris") == NEW
    assert not has_index(lab, "tokyo")
    assert level(lab)


def test_an_older_lab_is_restored_after_the_change_and_branches_apart(older: Any) -> None:
    lab = Lab.restore(older)
    lab["paris"].put(f"{PATH}/new", {"policy": READ_X}).raise_for_status()
    again = Lab.restore(older)
    assert has_index(again, "paris")
    assert names(again, "paris") == OLD
    branch = lab.branch("what-if")
    branch["paris"].delete(f"{PATH}/new").raise_for_status()
    assert (names(branch, "paris"), names(lab, "paris")) == (OLD, NEW)
    assert not has_index(branch, "paris")
