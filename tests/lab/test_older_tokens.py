"""Stores whose tokens an earlier version wrote, in a lab: with entries beside the records, for accessor and parent.

Nobody reads the entries any more: a token is found without them, on whichever node and cluster it is asked for, and
they end with it in the same commit.
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.vault.token_record import IDS, OLD_ACCESSORS, OLD_CHILDREN, digest_of
from tests.vault.test_token_index import as_earlier

SECOND_NS = 1_000_000_000
BY_ACCESSOR = "auth/token/lookup-accessor"


def of_tokens(lab: Lab, cluster: str) -> list[str]:
    """The keys that a cluster stores of tokens, sorted."""
    kinds = (IDS, OLD_ACCESSORS, OLD_CHILDREN)
    return sorted(key for key in lab.queries.contents(cluster) if key.startswith(kinds))


def level(lab: Lab) -> bool:
    same = lab.queries.contents("paris") == lab.queries.contents("tokyo")
    return same and lab["paris"].root == lab["tokyo"].root and not lab.invariants.broken


@pytest.fixture(scope="module")
def older() -> Any:
    """Paris, of which an earlier version wrote a token and its child, and tokyo, which replicates from it."""
    lab = Lab.pair(seed=7)
    family: list[Any] = []
    for _ in range(2):
        token = family[-1]["client_token"] if family else None
        family.append(lab["paris"].post("auth/token/create", {"policies": ["root"]}, token=token).auth)
    vault: Any = lab.parts.nodes[lab["paris"].active].vault
    assert len(as_earlier(vault)) == 3 + 2
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    return lab.snapshot(), family


@pytest.fixture
def lab(older: Any) -> Lab:
    return Lab.restore(older[0])


@pytest.fixture
def family(older: Any) -> Any:
    return older[1]


def gone(lab: Lab, cluster: str, family: Any) -> bool:
    """Whether nothing is left of a family, nor beside it."""
    left = [digest_of(made["client_token"]) for made in family] + [made["accessor"] for made in family]
    return not [key for key in of_tokens(lab, cluster) if any(name in key for name in left)]


def test_a_new_token_is_one_key_on_primary_and_secondary(lab: Lab) -> None:
    before = of_tokens(lab, "tokyo")
    made = lab["paris"].post("auth/token/create", {"policies": ["default"]}).auth
    lab.run("1s")
    assert {*of_tokens(lab, "tokyo")} - {*before} == {IDS + digest_of(made["client_token"])}
    assert level(lab)


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_a_primary_and_a_survivor_find_them_and_end_them_with_their_entries(
    lab: Lab, family: Any, cluster: str
) -> None:
    if cluster == "tokyo":
        lab.failover("paris", "tokyo")
    for made in family:
        assert lab[cluster].post(BY_ACCESSOR, {"accessor": made["accessor"]}).data["accessor"] == made["accessor"]
    assert {made["accessor"] for made in family} < {*lab[cluster].list("auth/token/accessors").data["keys"]}
    lab[cluster].post("auth/token/revoke-accessor", {"accessor": family[0]["accessor"]}).raise_for_status()
    lab.run("5s")
    assert gone(lab, "paris", family)
    assert gone(lab, "tokyo", family)
    assert level(lab)


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_leader_that_ends_inside_a_revocation_leaves_all_of_a_family_or_nothing(
    lab: Lab, family: Any, moment: str
) -> None:
    before = of_tokens(lab, "paris")
    lab.crash_in_commit("paris", moment)
    body = {"accessor": family[0]["accessor"]}
    number = lab.parts.console.ask(
        Ask("paris", "POST", "auth/token/revoke-accessor", body, lab["paris"].active), 15 * SECOND_NS
    )
    lab.run("20s")
    assert lab.parts.console.answers[number].status == 0, "nobody was answered"
    if moment == "after":
        assert gone(lab, "paris", family)
    else:
        assert of_tokens(lab, "paris") == before
        assert lab["paris"].post(BY_ACCESSOR, body).ok
        lab["paris"].post("auth/token/revoke-accessor", body).raise_for_status()
    lab.run("2s")
    assert gone(lab, "tokyo", family)
    assert level(lab)
