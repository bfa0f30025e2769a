"""The model of an election: its counts, what fencing is for, and each property."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.nodes import election as shipped
from labkit.proof.election import Candidates, Election, ElectionBounds, Happening, described
from labkit.proof.planted_bugs import SOUND
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


def test_a_step_that_raises_is_found() -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("node/lease holds no lease")

    found, _ = search(Election(ElectionBounds(2, 2), SOUND._replace(stand=fail)))

    assert found.broken == "a step raised ValueError: node/lease holds no lease"
    assert len(found.way) == 1


def test_a_lease_that_is_never_taken_leads_nowhere() -> None:
    never = SOUND._replace(
        stand=lambda store, node, term, now_ns, candidate: shipped.stand(store, node, term, now_ns, candidate=False)
    )
    model = Election(ElectionBounds(2, 2), never)
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


def test_what_happens_is_written_out() -> None:
    kinds = ("stands", "abstains", "commits", "passes", "resigns", "restarts", "damages")

    assert [described(Happening(kind, "two")) for kind in kinds] == [
        "Node two looks at the lease.",
        "Node two looks at the lease, and would not take it.",
        "Node two commits under the term in which it believes to lead.",
        "A second passes.",
        "Node two gives its lease up.",
        "Node two restarts.",
        "What is stored of the lease is damaged.",
    ]


def test_an_election_is_over_when_its_terms_are_taken_and_before_that_only_where_a_node_leads() -> None:
    model = Election(ElectionBounds(2, 2))

    assert not model.is_goal(model.start())
    assert not model.is_goal(Candidates(beliefs=(0, 0), takers=((1, "one"),)))
    assert model.is_goal(Candidates(beliefs=(0, 0), takers=((1, "one"), (2, "two"))))
    assert model.successors(model.start()._replace(broken="x")) == []
    assert {kind for kind in ("resigns", "restarts", "damages") if model.is_fault(Happening(kind))} == {
        *("resigns", "restarts", "damages")
    }


def test_what_can_happen_spends_what_is_left_and_no_more() -> None:
    model = Election(ElectionBounds(2, 2, 1, 1, 1))
    leads = Candidates(("one", 1, 3), 1, (1, 0), ((1, "one"),), (1, 1, 1))
    found = dict(model.successors(leads))

    assert found[Happening("damages")] == leads._replace(lease="damaged", left=(1, 1, 0))
    assert found[Happening("restarts", "one")] == leads._replace(beliefs=(0, 0), left=(1, 0, 1))
    assert found[Happening("resigns", "one")] == leads._replace(lease=("", 1, 0), beliefs=(0, 0), left=(0, 1, 1))
    assert found[Happening("passes")] == leads._replace(lease=("one", 1, 2))
    spent = {event.kind for event, _ in model.successors(leads._replace(left=(0, 0, 0)))}
    assert not spent & {"damages", "restarts", "resigns"}
