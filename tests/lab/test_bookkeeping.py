"""Bookkeeping without a lab: reports in, ledger, trace and invariants out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from labkit.lab.bookkeeping import Bookkeeping
from labkit.lab.queries import Reach
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.wire import reports
from labkit.lab.wire.messages import Correlation
from labkit.trace import Trace

ASKED = Correlation("shop-1", 1, 1)


class Judge:
    """Writes down what the invariants are asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.corrupted: dict[str, bool] = {}
        self.judges: dict[type, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.calls.append((name, *given))


class Seen:
    """What the books ask of a lab in which each cluster has ten entries and tokyo holds only the key ``a``."""

    def __init__(self) -> None:
        self.causes: list[tuple[str, ...]] = []
        self.awaited = True
        self.network = Reach(0)
        self.serving = "paris-1"
        self.parts = SimpleNamespace(ledger=RecoveryLedger(), trace=Trace())

    def reach(self) -> Reach:
        return self.network

    def active_node(self, cluster: str) -> str:
        return self.serving

    def last_entry(self, cluster: str) -> int:
        return 10

    def cluster_of(self, node: str) -> str:
        return node.rpartition("-")[0]

    def outages(self) -> list[tuple[str, ...]]:
        return self.causes

    def token_survival(self, old_primary: str, survivor: str) -> tuple[int, int, int, int, int, int]:
        return 5, 3, 2, 1, 4, 2

    def is_awaited(self, correlation: Correlation) -> bool:
        return self.awaited

    def digest(self, cluster: str, key: str) -> bytes | None:
        return b"1" if (cluster, key) == ("tokyo", "a") else None


@pytest.fixture
def seen():
    return Seen()


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def books(judge, seen):
    """The books of that lab."""
    kept = Bookkeeping()
    kept.connect(judge, seen, judge.on_runbook_ended)
    return kept


def ledger_of(books: Bookkeeping) -> RecoveryLedger:
    return books._ledger


def ended(outcome: str) -> reports.OperationEnded:
    return reports.OperationEnded(9, 5, "shop-1", "put-secret", "secret/data/x", "paris", outcome, 200, 1, ASKED)


def committed(number: int, *changes: tuple[str, bytes | None]) -> reports.Committed:
    return reports.Committed("paris", ((number, changes),), ASKED, "POST", 4, ("data",), None, b"value")


def test_a_commit_and_its_answer_are_a_write_of_the_clusters_history(books, judge):
    books.take(committed(7, ("a", b"1")))
    books.take(ended("answered"))
    (write,) = ledger_of(books).writes

    assert write == (9, "shop-1", "secret/data/x", ("paris", 0, 0, "POST", 4, ("data",), b"value", -1))
    assert ledger_of(books).histories.commits == [(0, 7, (("a", b"1"),), b"value")]
    assert [(event.outcome, event.started_ns) for event in books._trace.select("outcome")] == [("answered", 5)]
    assert judge.calls == [("on_outcome",)]


def test_a_commit_for_whose_answer_nobody_waits_is_not_remembered(books, seen):
    seen.awaited = False
    books.take(committed(7, ("a", b"1")))

    assert (ledger_of(books).waiting, len(ledger_of(books).histories.commits)) == (0, 1)


@pytest.mark.parametrize(
    ("outcome", "counts"), [("refused", (0, 1, 0)), ("unknown", (0, 0, 1)), ("answered", (1, 0, 0))]
)
def test_an_operators_request_is_counted_and_not_traced(books, judge, outcome, counts):
    books.take(reports.AskEnded(9, "paris-operator", "secret/data/x", outcome, ASKED))
    ledger = ledger_of(books)

    assert (ledger.answered, ledger.refused, ledger.unknown) == counts
    assert (len(books._trace), judge.calls) == (0, [])


def test_of_an_operators_request_that_failed_it_is_kept_how_it_asked(books):
    for method, outcome in (("POST", "refused"), ("GET", "unknown"), ("POST", "answered")):
        books.take(reports.AskEnded(9, "paris-operator", "sys/x", outcome, ASKED, method=method))

    assert [(ask.method, ask.outcome) for ask in ledger_of(books).failed_asks] == [
        ("POST", "refused"),
        ("GET", "unknown"),
    ]


def test_a_mode_is_traced_when_it_changed_and_judged_when_it_is_another(books, judge):
    for mode, state in (("primary", "running"), ("primary", "running"), ("primary", "odd")):
        books.take(reports.ModeChanged(1, "paris", mode, state))

    assert [(event.mode, event.state) for event in books._trace.select("mode")] == [
        ("primary", "running"),
        ("primary", "odd"),
    ]
    assert judge.calls == [("on_change", "")]


def test_a_leader_is_traced_and_judged(books, judge):
    books.take(reports.LeaderTaken(1, "paris", "paris-2", 4))

    assert [(event.node, event.term) for event in books._trace.select("leader")] == [("paris-2", 4)]
    assert judge.calls == [("on_change", "")]


def test_a_node_that_begins_or_ceases_to_serve_is_judged(books, judge):
    books.take(reports.ServiceChanged(1, "paris"))

    assert (len(books._trace), judge.calls) == (0, [("on_change", "")])


def test_one_cluster_is_looked_at_while_the_network_is_whole_and_the_same(books, judge, seen):
    def looked_at() -> str:
        books.take(reports.ServiceChanged(1, "paris"))
        return judge.calls[-1][1]

    assert [looked_at(), looked_at()] == ["", "paris"]
    seen.network = Reach(1)
    assert [looked_at(), looked_at()] == ["", "paris"]
    seen.network = Reach(1, fenced=("tokyo",))
    assert [looked_at(), looked_at()] == ["", ""]
    seen.network = Reach(1, cut={"paris": frozenset({"tokyo"}), "tokyo": frozenset({"paris"})})
    assert [looked_at(), looked_at()] == ["", ""]
    seen.network = Reach(1)
    books.take(reports.Corrupted(1, "paris", "storage", False))
    assert [looked_at(), looked_at()] == ["", "paris"], "what is damaged may be a mode"
    books.take(reports.ReachChanged(1))
    assert judge.calls[-1] == ("on_change", "")


def test_a_cluster_that_is_looked_at_by_itself_is_down_or_not(books, seen):
    seen.causes = [("down", "paris"), ("down", "tokyo")]
    books.take(reports.ServiceChanged(1, "paris"))
    books.take(reports.ServiceChanged(2, "paris"))
    assert ledger_of(books).outages.since == {("down", "tokyo"): 1}
    seen.serving = ""
    for at_ns in (3, 4):
        books.take(reports.ServiceChanged(at_ns, "paris"))
    assert ledger_of(books).outages.since == {("down", "tokyo"): 1, ("down", "paris"): 3}


def test_a_promotion_is_whoever_leaves_its_upstream_as_primary(books, judge, seen):
    for number, key in ((6, "a"), (7, "b")):
        books.take(committed(number, (key, b"1")))
        books.take(ended("answered"))
    judge.calls.clear()
    seen.causes = [("down", "paris")]
    books.take(reports.ReachChanged(3))
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 6, True))
    (promotion,) = ledger_of(books).promotions

    assert promotion == (9, "tokyo", "paris", 0, 2, frozenset([1]), 3, False, 2)
    assert [write.committed.commit for write in ledger_of(books).lost()] == [1]
    assert judge.calls == [("on_change", ""), ("on_promotion", promotion, 1, (4, 1))]


def test_the_revocation_of_the_id_that_is_followed_is_a_fault_until_it_follows_under_another(books):
    def revoked(at_ns: int, secondary_id: str, node: str = "paris-1") -> Any:
        return reports.Observed(at_ns, node, reports.REVOKED, (("secondary", secondary_id),))

    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first", "tokyo~2"))
    books.take(revoked(3, "tokyo"))
    books.take(revoked(4, "tokyo~2", "lima-1"))
    outages = ledger_of(books).outages
    assert outages.fault_ns("paris", "tokyo", "x") is None
    books.take(revoked(5, "tokyo~2"))
    assert outages.fault_ns("paris", "tokyo", "x") == 5
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first", "tokyo~2"))
    assert outages.fault_ns("paris", "tokyo", "x") == 5, "another node took over: the id is the same"
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "second", "tokyo~3"))
    assert outages.fault_ns("paris", "tokyo", "x") is None
    assert books.state()["ids"] == {"tokyo": "tokyo~3"}

    books.take(reports.UpstreamLeft(7, "tokyo", "secondary", 6, True))
    books.take(reports.UpstreamFollowed("tokyo", "", False))
    books.take(revoked(8, "tokyo~3"))
    assert outages.fault_ns("paris", "tokyo", "x") is None, "it followed nobody: nothing was ended"


def test_a_promotion_after_the_old_primary_was_demoted_is_planned(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.ModeChanged(1, "paris", "secondary", "idle"))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 10, True))

    assert ledger_of(books).promotions[-1].planned


def test_one_after_the_old_primary_came_back_below_another_is_not(books):
    """It lost what it loses when the other took over, and was demoted for that one."""
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.UpstreamFollowed("lima", "paris", False, "other"))
    books.take(reports.UpstreamLeft(4, "lima", "primary", 9, True))
    books.take(reports.ModeChanged(5, "paris", "secondary", "idle"))
    books.take(reports.UpstreamFollowed("paris", "", True))
    books.take(reports.UpstreamFollowed("paris", "lima", False, "back"))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 10, True))

    assert [each.planned for each in ledger_of(books).promotions] == [False, False]


def test_a_secondary_without_an_upstream_still_holds_what_it_applied_of_the_last(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.UpstreamLeft(5, "tokyo", "secondary", 6, True))
    books.take(reports.UpstreamFollowed("tokyo", "", False))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", None, True))

    assert ledger_of(books).promotions[-1].old_primary == "paris"
    assert books.applied_positions == {"tokyo": 6}


def test_another_upstream_or_a_demotion_is_another_history(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.UpstreamLeft(5, "tokyo", "secondary", 6, True))
    books.take(reports.UpstreamFollowed("tokyo", "lima", False))
    assert (books.upstreams, books.applied_positions) == ({"tokyo": "lima"}, {})
    books.take(reports.UpstreamFollowed("tokyo", "", True))

    assert books.upstreams == {"tokyo": ""}


def test_a_survivor_whose_contents_are_not_whole_had_applied_nothing(books, judge):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 6, False))

    assert judge.calls[-1][-1] == (10, 0)


def test_a_cluster_that_is_enabled_again_begins_another_history_and_one_that_is_disabled_does_not(books):
    histories = ledger_of(books).histories
    begun = []
    for mode, set_id in (("primary", "x"), ("disabled", ""), ("primary", "y")):
        books.take(reports.ModeChanged(1, "paris", mode, "", set_id))
        begun.append(histories.history_of("paris"))

    assert begun == [0, 0, 1]


def test_a_cluster_that_joins_is_wiped_and_follows_what_its_upstream_writes(books):
    histories = ledger_of(books).histories
    histories.history_of("tokyo")
    books.take(reports.Wiped("tokyo"))
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))

    followed = [histories.followed["tokyo"]]
    books.take(reports.ModeChanged(1, "paris", "primary", "", "x"))
    books.take(reports.ModeChanged(1, "paris", "disabled", ""))
    books.take(reports.ModeChanged(1, "paris", "primary", "", "y"))
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    followed.append(histories.followed["tokyo"])
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "second"))
    followed.append(histories.followed["tokyo"])

    assert histories.history_of("tokyo") == 1
    assert followed == [(2,), (2,), (2, 3)], "the same activation is no other: a node began again"


def test_who_led_and_follows_again_follows_whatever_its_activation(books):
    followed = reports.UpstreamFollowed("tokyo", "paris", False, "first")
    books.take(followed)
    books.take(reports.UpstreamLeft(5, "tokyo", "secondary", 6, True))
    assert books.activations == {"tokyo": "first"}, "it left an upstream, not its part"
    books.take(reports.UpstreamLeft(9, "tokyo", "primary", 6, True))
    assert (books.activations, ledger_of(books).histories.followed) == ({}, {})
    books.take(followed)

    assert ledger_of(books).histories.followed == {"tokyo": (0,)}


def test_a_demoted_or_disabled_primary_is_out_of_its_set_until_it_leads_it_again(books):
    since = ledger_of(books).outages
    books.take(reports.ModeChanged(1, "paris", "primary", "running", "x"))
    books.take(reports.ModeChanged(2, "paris", "secondary", "idle", "x"))
    assert since.fault_ns("paris", "tokyo", "x") == 2
    books.take(reports.ModeChanged(3, "paris", "primary", "running", "x"))
    assert since.fault_ns("paris", "tokyo", "x") is None
    books.take(reports.ModeChanged(4, "paris", "disabled", ""))
    books.take(reports.ModeChanged(5, "paris", "primary", "running", "y"))
    assert since.fault_ns("paris", "tokyo", "x") == 4
    assert since.fault_ns("paris", "tokyo", "y") is None


def test_injected_corruption_is_traced_and_suspends_a_rule(books, judge):
    books.take(reports.Corrupted(4, "tokyo", "page"))
    books.take(reports.Corrupted(4, "paris", "page", True))

    assert judge.calls == [("on_damage", "tokyo", False), ("on_damage", "paris", True)]
    assert [(event.verb, event.target, event.detail) for event in books._trace.select("fault")] == [
        ("corrupt", "tokyo", "page"),
        ("corrupt", "paris", "page"),
    ]
    judge.calls.clear()
    books.take(reports.Observed(5, "tokyo-2", "reindex_started", ()))
    books.take(reports.IndexReplaced("tokyo"))
    assert judge.calls == [("on_reindex_begun", "tokyo"), ("on_index_replaced", "tokyo")]
    judge.corrupted = {"tokyo": False, "paris": True}
    books.take(reports.Wiped("paris"))
    assert judge.corrupted == {"tokyo": False}


def test_a_runbooks_note_is_traced(books):
    books.take(reports.Noted(3, "failover: demoting paris"))

    assert [event.text for event in books._trace.select("note")] == ["failover: demoting paris"]


def test_who_waits_for_a_runbook_is_handed_its_end(books, judge):
    ended = reports.RunbookEnded(3, True, "done")
    books.take(ended)

    assert judge.calls == [("on_runbook_ended", ended)]


def test_a_report_that_is_none_is_an_error(books):
    with pytest.raises(KeyError, match="tuple"):
        books.take(("commit", "paris"))


def test_its_state_is_plain_and_brings_it_back(books):
    books.take(reports.UpstreamFollowed("tokyo", "paris", False, "first"))
    books.take(reports.ModeChanged(1, "tokyo", "secondary", "idle"))
    books.take(reports.UpstreamLeft(5, "tokyo", "primary", 6, True))
    again = Bookkeeping(books.state())

    assert again.state() == books.state()
    assert repr(again) == "Bookkeeping(1 clusters with an upstream)"


@pytest.mark.parametrize(("attempt", "cluster"), [(2, "tokyo"), (1, "front")])
def test_who_answered_behind_a_load_balancer_is_known_of_the_attempt_that_was_answered(attempt, cluster):
    books = Bookkeeping({"answering": {("shop-1", 5): (2, "tokyo")}})

    assert books._answered_by("front", Correlation("shop-1", 5, attempt)) == cluster
    assert "answering" not in books.state()
