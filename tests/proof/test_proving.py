"""A proof: what it says of the shipped code, of planted bugs, and of what leads nowhere."""

from __future__ import annotations

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.proof.proving import NO_WAY_ON, prove
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
