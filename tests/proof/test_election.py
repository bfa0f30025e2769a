"""The model of an election: its counts, what fencing is for, and each property."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.nodes import election as shipped
from labkit.proof.election import Candidates, Election, ElectionBounds, Happening, described
from labkit.proof.search import search, stuck


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        (ElectionBounds(2, 2), (410, 1092, 12)),
        pytest.param(ElectionBounds(2, 3), (1210, 3786, 17), marks=pytest.mark.slow),
        pytest.param(ElectionBounds(3, 3), (5289, 20587, 17), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_an_election_is_searched_to_the_end(bounds: ElectionBounds, counts: tuple[int, int, int]) -> None:
    model = Election(bounds)
    found, reached = search(model)

    assert (found.exhausted, found.broken) == (True, "")
    assert found[:3] == counts
    assert stuck(model, reached) is None


def test_without_fencing_an_overtaken_leader_commits() -> None:
    found, _ = search(Election(ElectionBounds(2, 2, 0, 0, 0, fenced=False)))

    assert found.broken == "a commit of node one under term 1 is accepted, and term 2 is taken"
    assert [event.kind for event in found.way] == ["stands", "passes", "passes", "passes", "stands", "commits"]
    assert all(described(event).endswith(".") for event in found.way)


def test_a_term_that_is_taken_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_next_term", lambda store, lease: 1)
    found, _ = search(Election(ElectionBounds(2, 2)))

    assert found.broken.endswith("takes term 1, and term 1 was taken before")


def test_a_step_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("node/lease holds no lease")

    monkeypatch.setattr(shipped, "_readable", fail)
    found, _ = search(Election(ElectionBounds(2, 2)))

    assert found.broken == "a step raised ValueError: node/lease holds no lease"
    assert len(found.way) == 1


def test_a_lease_that_is_never_taken_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "labkit.proof.election.stand",
        lambda store, node, term, now_ns, candidate: shipped.stand(store, node, term, now_ns, candidate=False),
    )
    model = Election(ElectionBounds(2, 2))
    _, reached = search(model)

    assert stuck(model, reached) is not None


def test_a_goal_is_a_leader_that_may_commit() -> None:
    model = Election(ElectionBounds(2, 3))
    leads = Candidates(("one", 2, 1), 2, (2, 0), ((1, "two"), (2, "one")))

    assert model.is_goal(leads)
    assert not model.is_goal(leads._replace(lease=("one", 2, 0)))
    assert not model.is_goal(leads._replace(beliefs=(1, 0)))
    assert not model.is_goal(leads._replace(newest=3))
    assert not model.is_goal(leads._replace(lease="damaged"))
    assert not model.is_goal(leads._replace(lease=("", 2, 1)))
    assert model.is_fault(Happening("damages"))
    assert not model.is_fault(Happening("stands", "one"))


def test_bounds_are_written_out() -> None:
    """Those that hold unless others are given."""
    assert str(ElectionBounds()) == ("3 nodes, 3 terms, 1 resignations, 1 restarts, 1 times a damaged lease; fenced")
    assert str(ElectionBounds(fenced=False)).endswith("; without fencing")
