"""Bookkeeping without a lab: reports in, ledger, trace and invariants out."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab import reports
from labkit.lab.bookkeeping import Bookkeeping
from labkit.lab.loss_and_outage import RecoveryLedger
from labkit.lab.messages import Correlation
from labkit.trace import Trace

ASKED = Correlation("shop-1", 1, 1)


class Judge:
    """Writes down what the invariants are asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.corrupted = False

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.calls.append((name, *given))


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def books(judge):
    """The books of a lab in which each cluster has ten entries."""
    kept = Bookkeeping(RecoveryLedger(), Trace())
    kept.connect(judge, lambda cluster: 10)
    return kept


def ledger_of(books: Bookkeeping) -> RecoveryLedger:
    return books._ledger


def ended(outcome: str) -> reports.OperationEnded:
    return reports.OperationEnded(9, 5, "shop-1", "put-secret", "secret/data/x", "paris", outcome, 200, 1, ASKED)


def test_a_commit_and_its_answer_are_a_write_of_the_clusters_history(books, judge):
    books.histories["paris"] = 2
    books.take(reports.Committed(ASKED, "paris", 7))
    books.take(ended("answered"))
    (write,) = ledger_of(books).writes

    assert (write.client, write.cluster, write.history, write.entry, write.at_ns) == ("shop-1", "paris", 2, 7, 9)
    assert [(event.outcome, event.started_ns) for event in books._trace.select("outcome")] == [("answered", 5)]
    assert judge.calls == [("on_outcome",)]


@pytest.mark.parametrize(
    ("outcome", "counts"), [("refused", (0, 1, 0)), ("unknown", (0, 0, 1)), ("answered", (1, 0, 0))]
)
def test_an_operators_request_is_counted_and_not_traced(books, judge, outcome, counts):
    books.take(reports.AskEnded(9, "paris-operator", "secret/data/x", outcome, ASKED))
    ledger = ledger_of(books)

    assert (ledger.answered, ledger.refused, ledger.unknown) == counts
    assert (len(books._trace), judge.calls) == (0, [])


def test_a_mode_is_traced_when_it_changed_and_judged_when_it_is_another(books, judge):
    for mode, state in (("primary", "running"), ("primary", "running"), ("primary", "odd")):
        books.take(reports.ModeChanged(1, "paris", mode, state))

    assert [(event.mode, event.state) for event in books._trace.select("mode")] == [
        ("primary", "running"),
        ("primary", "odd"),
    ]
    assert judge.calls == [("on_change",)]


def test_a_leader_is_traced_and_judged(books, judge):
    books.take(reports.LeaderTaken(1, "paris", "paris-2", 4))

    assert [(event.node, event.term) for event in books._trace.select("leader")] == [("paris-2", 4)]
    assert judge.calls == [("on_change",)]


def test_a_node_that_begins_or_ceases_to_serve_is_judged(books, judge):
    books.take(reports.ServiceChanged(1, "paris"))

    assert (len(books._trace), judge.calls) == (0, [("on_change",)])


def test_a_promotion_is_whoever_leaves_its_upstream_as_primary(books, judge):
    books.take(reports.ClusterStruck(3, "paris"))
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 6, True))
    (promotion,) = ledger_of(books).promotions

    assert (promotion.survivor, promotion.old_primary, promotion.applied, promotion.fault_ns) == (
        "tokyo",
        "paris",
        6,
        3,
    )
    assert not promotion.planned
    assert books.histories == {"tokyo": 1}
    assert judge.calls == [("on_promotion", promotion, 0, 4)]


def test_a_promotion_after_the_old_primary_was_demoted_is_planned(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.ModeChanged(1, "paris", "secondary", "idle"))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 10, True))

    assert ledger_of(books).promotions[-1].planned


def test_a_secondary_without_an_upstream_still_holds_what_it_applied_of_the_last(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.UpstreamLeft(5, "tokyo", "secondary", 6, True))
    books.take(reports.UpstreamFollowed("tokyo", "", False))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", None, True))

    assert (ledger_of(books).promotions[-1].old_primary, ledger_of(books).promotions[-1].applied) == ("paris", 6)


def test_another_upstream_or_a_demotion_is_another_history(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.UpstreamLeft(5, "tokyo", "secondary", 6, True))
    books.take(reports.UpstreamFollowed("tokyo", "lima", False))
    assert (books.upstreams, books.applied_positions) == ({"tokyo": "lima"}, {})
    books.take(reports.UpstreamFollowed("tokyo", "", True))

    assert books.upstreams == {"tokyo": ""}


def test_contents_that_are_not_whole_hold_nothing(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 6, False))

    assert ledger_of(books).promotions[-1].applied == 0


def test_injected_corruption_is_traced_and_suspends_a_rule(books, judge):
    books.take(reports.Corrupted(4, "tokyo", "page"))

    assert judge.corrupted
    assert [(event.verb, event.target, event.detail) for event in books._trace.select("fault")] == [
        ("corrupt", "tokyo", "page")
    ]


def test_a_runbooks_note_is_traced(books):
    books.take(reports.Noted(3, "failover: demoting paris"))

    assert [event.text for event in books._trace.select("note")] == ["failover: demoting paris"]


def test_a_report_that_is_none_is_an_error(books):
    with pytest.raises(KeyError, match="tuple"):
        books.take(("commit", "paris"))


def test_its_state_is_plain_and_brings_it_back(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False))
    books.take(reports.ModeChanged(1, "tokyo", "secondary", "idle"))
    books.take(reports.UpstreamLeft(5, "tokyo", "primary", 6, True))
    again = Bookkeeping(RecoveryLedger(), Trace(), books.state())

    assert again.state() == books.state()
    assert repr(again) == "Bookkeeping(1 clusters with an upstream)"
