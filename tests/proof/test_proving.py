"""A proof: what it says of the shipped code, of planted bugs, and of what leads nowhere."""

from __future__ import annotations

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.election import Election, ElectionBounds, described
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.proof.proving import NO_END, NO_WAY_ON, Proof, prove, prove_small
from labkit.proof.replication import Replication


def test_the_shipped_code_is_proved() -> None:
    proof = prove(Bounds(1, 1), leads_on=True)

    assert (proof.broken, proof.way, proof.found.exhausted, proof.leads_on) == ("", (), True, True)
    assert proof.dropped > 10


def test_a_bug_comes_with_its_way() -> None:
    bug = PLANTED_BUGS["deletions-forgotten"]
    proof = prove(bug.bounds, bug, leads_on=True)

    assert proof.broken.startswith("it streams at entry 0")
    assert len(proof.way) == len(proof.found.way) > 3
    assert not proof.leads_on


def test_what_is_dropped_and_not_ignored_is_reported() -> None:
    bug = PLANTED_BUGS["stale-push"]._replace(keeps_old=False)
    proof = prove(bug.bounds, bug)

    assert proof.broken.startswith("a message about what is over is not ignored: ")


def test_what_leads_nowhere_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replication, "is_goal", lambda model, world: False)
    proof = prove(Bounds(0, 0), leads_on=True)

    assert (proof.broken, proof.way) == (NO_WAY_ON, ())


def test_an_unfinished_search_shows_nothing_more() -> None:
    proof = prove(Bounds(1, 1), leads_on=True, max_states=30)

    assert (proof.found.exhausted, proof.broken, proof.leads_on) == (False, "", False)


def test_each_depth_is_reported_and_what_leads_on_is_looked_at_only_where_it_is_asked_for() -> None:
    seen: list[tuple[int, int]] = []
    proof = prove(Bounds(0, 0), report=lambda depth, states: seen.append((depth, states)))

    assert [depth for depth, _ in seen] == list(range(1, proof.found.depth + 1))
    assert not proof.leads_on


def test_a_small_model_is_proved_to_its_end() -> None:
    proof = prove_small(Election(ElectionBounds(2, 2)), described)

    assert proof == Proof(proof.found, "", (), 0, True)
    assert proof.found.exhausted


def test_what_a_small_model_breaks_comes_with_its_way() -> None:
    proof = prove_small(Election(ElectionBounds(2, 2, 0, 0, 0, fenced=False)), described)

    assert proof.broken.endswith("is accepted, and term 2 is taken")
    assert (len(proof.way), proof.way[-1]) == (6, "Node one commits under the term in which it believes to lead.")
    assert not proof.leads_on


def test_an_end_of_a_small_model_that_is_never_reached_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Election, "is_goal", lambda model, cluster: False)
    proof = prove_small(Election(ElectionBounds(2, 2)), described)

    assert (proof.broken, proof.way, proof.leads_on) == (NO_END, (), False)


def test_an_unfinished_search_of_a_small_model_shows_nothing_more() -> None:
    proof = prove_small(Election(ElectionBounds(2, 2)), described, max_states=30)

    assert (proof.found.exhausted, proof.broken, proof.way, proof.leads_on) == (False, "", (), False)
