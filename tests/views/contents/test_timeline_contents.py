"""What a timeline says, worked out from trace, ledger and recorded lag only."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Lab
from labkit.cloud.failures import ENDPOINTS
from labkit.lab.measures.state_spans import Span
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.records.lag import Lag
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.wire.messages import Correlation
from labkit.trace import Trace
from labkit.views.contents.timeline_contents import (
    MAX_COLUMNS,
    SILENT_NS,
    Column,
    Records,
    TimelineContents,
    TimelineMark,
    Window,
    contents_of,
    describe,
    is_one_with_a_fault,
)
from tests.traces import recorded

SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def begun():
    """A lab that replicates, with writers from 2 s on."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 20, from_ns=SECOND_NS * 2)
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), workload=(work,))))
    lab.replicate("paris", "tokyo")
    return lab.run(until="5s").snapshot()


@pytest.fixture
def lab(begun):
    """A copy of it, at 5 s."""
    return Lab.restore(begun)


@pytest.fixture(scope="module")
def drilled(begun):
    """A crash of the primary at 5 s, a promotion at once, and 10 s more."""
    lab = Lab.restore(begun)
    lab.crash("paris")
    lab["tokyo"].promote()
    return lab.run(until="15s")


def of(lab: Lab, start_ns: int = 0, end_ns: int = 0) -> TimelineContents:
    """What a lab's timeline says."""
    nodes = {plan.name: plan.node_names for plan in lab.blueprint.clusters}
    records = Records(lab.trace, lab.ledger, nodes, lab.queries.lags)
    return contents_of(records, Window(start_ns, end_ns or max(1, lab.now)))


def said(*events: tuple[Any, ...], end_ns: int = 10, clusters: dict[str, tuple[str, ...]] | None = None) -> Any:
    """What a timeline says of recorded events."""
    clusters = {"c": ("c-1", "c-2", "c-3")} if clusters is None else clusters
    return contents_of(Records(recorded(*events), RecoveryLedger(), clusters, lambda _: {}), Window(0, end_ns))


def bars(contents: TimelineContents, row: str) -> list[tuple[str, str]]:
    """What a cluster was, one after the other."""
    return [(span.what, span.detail) for span in contents.spans if span.row == row]


def states(contents: TimelineContents, node: str) -> list[str]:
    """What a node was, one after the other."""
    return [span.what for span in contents.nodes if span.row == node]


def marks(contents: TimelineContents, *what: str) -> list[str]:
    """The words of some kinds of marks."""
    return [mark.words for mark in contents.marks if mark.what in what]


# ---- clusters and nodes


def test_each_clusters_and_nodes_time_is_covered_once(drilled):
    contents = of(drilled)
    for spans in (contents.spans, contents.nodes):
        for row in {span.row for span in spans}:
            mine = [span for span in spans if span.row == row]
            assert (mine[0].from_ns, mine[-1].to_ns) == (0, drilled.now)
            assert all(a.to_ns == b.from_ns for a, b in pairwise(mine))


def test_what_became_of_each_cluster(drilled):
    contents = of(drilled)

    assert bars(contents, "paris") == [("disabled", ""), ("primary", ""), ("down", "3 nodes down")]
    assert bars(contents, "tokyo") == [
        ("disabled", ""),
        ("secondary", "idle"),
        ("secondary", "merkle-diff"),
        ("secondary", "merkle-sync"),
        ("secondary", "stream-wals"),
        ("primary", ""),
    ]


def test_nodes_are_named_and_have_states_of_their_own(lab):
    lab.crash("paris-1")
    lab.run("6s").restart("paris-1")
    lab["paris"].unseal()
    lab.run("1s")
    contents = of(lab)

    assert states(contents, "paris-1") == ["active", "down", "sealed", "standby"]
    assert states(contents, "paris-2") == ["standby", "active"]
    assert states(contents, "paris-3") == ["standby"]
    assert states(contents, "tokyo-2") == ["standby", "sealed", "standby"], "sealed by joining the replication set"


def test_a_paused_node_is_what_it_was_once_it_goes_on_or_a_standby_when_another_leads(lab):
    lab.pause("paris-1")
    lab.run("1s").resume("paris-1")
    lab.run("1s").pause("paris")
    lab.run("1s").resume("paris")
    lab.run("1s").pause("paris-1")
    lab.run("5s").resume("paris-1")
    lab.run("1s")
    contents = of(lab)

    assert states(contents, "paris-1") == ["active", "paused", "active", "paused", "active", "paused", "standby"]
    assert states(contents, "paris-2") == ["standby", "paused", "standby", "active"]
    details = [detail for what, detail in bars(contents, "paris") if what == "down"]
    assert details == ["1 node paused", "3 nodes paused", "1 node paused"]
    assert "paris-3 is paused" in describe(contents)


def test_the_crash_of_a_standby_takes_only_the_node_down(lab):
    lab.crash("paris-3")
    lab.run("3s")

    assert bars(of(lab), "paris")[-1] == ("primary", "")
    assert states(of(lab), "paris-3") == ["standby", "down"]


@pytest.mark.parametrize(
    ("events", "bar"),
    [
        ([("crash", "c-1"), ("restart", "c-1")], ("sealed", "1 node sealed")),
        ([("crash", "c-1"), ("crash", "c-2")], ("down", "2 nodes down")),
        ([("crash", "c-1"), ("crash", "c-2"), ("restart", "c-2")], ("down", "1 node down, 1 node sealed")),
        ([("crash", "c-1"), ("restart", "c-1"), ("crash", "c-3"), ("restart", "c-3")], ("sealed", "2 nodes sealed")),
    ],
)
def test_a_cluster_without_an_active_node_says_how_its_nodes_are(events, bar):
    up = [("observed", 1, f"c-{number}", "unsealed", ()) for number in (1, 2, 3)]
    faults = [("fault", 3, verb, node, "") for verb, node in events]
    contents = said(*up, ("leader", 1, "c", "c-1", 1), ("mode", 2, "c", "primary", "running"), *faults)

    assert bars(contents, "c")[-2:] == [("primary", ""), bar]


def test_a_cluster_whose_active_node_stepped_down_has_no_active_node():
    up = [("observed", 1, f"c-{number}", "unsealed", ()) for number in (1, 2, 3)]
    contents = said(*up, ("leader", 1, "c", "c-1", 1), ("observed", 5, "c-1", "stepped down", ()))

    assert bars(contents, "c")[-1] == ("down", "no active node")
    assert states(contents, "c-1") == ["sealed", "active", "standby"]


def test_the_active_node_before_a_new_leader_stands_by_unless_it_is_down():
    first, second = ("leader", 1, "c", "c-1", 1), ("leader", 5, "c", "c-2", 2)

    assert states(said(first, second), "c-1") == ["sealed", "active", "standby"]
    assert states(said(first, ("fault", 3, "crash", "c-1", ""), second), "c-1") == ["sealed", "active", "down"]
    assert states(said(first, second), "c-2") == ["sealed", "active"]


def test_a_takeover_ends_an_outage(lab):
    lab.crash("paris-1")
    lab.run("6s")
    outage, after = [span for span in of(lab).spans if span.row == "paris"][-2:]

    assert (outage.what, outage.detail, after.what) == ("down", "1 node down", "primary")
    assert 2 * SECOND_NS < outage.to_ns - outage.from_ns < 5 * SECOND_NS


def test_a_sealed_active_node_is_an_outage_that_is_called_sealed(lab):
    lab["paris"].put("sys/seal")
    lab.run("1s")

    assert bars(of(lab), "paris")[-1] == ("sealed", "1 node sealed")


def test_a_fault_that_changed_nothing_changes_no_row():
    contents = said(
        ("leader", 0, "c", "c-1", 1),
        ("fault", 5, "restart", "c-1", "no change"),
        ("observed", 6, "c-1", "unsealed", ()),
    )

    assert states(contents, "c-1") == ["active"]
    assert bars(contents, "c") == [("disabled", "")]


def test_names_with_dashes_are_names():
    events = (
        ("leader", 0, "eu-west", "eu-west-1", 1),
        ("fault", 5, "crash", "eu-west-1", ""),
        ("fault", 6, "crash", "eu-1", ""),
    )
    contents = said(*events, clusters={"eu-west": ("eu-west-1",)})

    assert [what for what, _ in bars(contents, "eu-west")] == ["disabled", "down"]


@given(
    modes=st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["primary", "secondary"]), st.sampled_from(["a", "b"])),
        max_size=12,
    ),
    faults=st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["crash", "restart"]), st.sampled_from(["c-1", "c-2"])),
        max_size=8,
    ),
    end_ns=st.integers(51, 99),
)
def test_whatever_happened_the_time_is_covered_once(modes, faults, end_ns):
    events: list[tuple[Any, ...]] = [("leader", 0, "c", "c-1", 1)]
    events += [("mode", at, "c", mode, state) for at, mode, state in modes]
    events += [("fault", at, verb, node, "") for at, verb, node in faults]
    contents = said(*sorted(events, key=lambda event: event[1]), end_ns=end_ns)

    for row in ("c", "c-1", "c-2", "c-3"):
        spans = [span for span in (*contents.spans, *contents.nodes) if span.row == row]
        assert sum(span.to_ns - span.from_ns for span in spans) == end_ns
        assert [span.from_ns for span in spans] == [0, *[span.to_ns for span in spans[:-1]]]


# ---- a window


def test_only_what_is_asked_for_is_shown(drilled):
    contents = of(drilled, 4 * SECOND_NS, 6 * SECOND_NS)

    assert bars(contents, "paris") == [("primary", ""), ("down", "3 nodes down")]
    assert (contents.spans[0].from_ns, contents.spans[-1].to_ns) == (4 * SECOND_NS, 6 * SECOND_NS)
    assert "crash paris" in marks(contents, "fault")
    assert marks(of(drilled, 6 * SECOND_NS, 9 * SECOND_NS), "fault") == []
    assert sum(column.lost for column in contents.columns) == len(drilled.ledger.lost())


# ---- lag


def test_a_secondary_that_is_cut_off_hears_nothing_and_falls_behind(lab):
    lab.partition("paris", "tokyo")
    lab.run("20s")
    (span,) = of(lab).lags

    assert (span.row, span.what, span.to_ns) == ("tokyo", "silent", lab.now)
    assert 4.9 * SECOND_NS < span.from_ns < 5.2 * SECOND_NS
    behind = lab.lag("paris", "tokyo").entries
    assert behind > 300
    assert span.detail == f"hears nothing for {(span.to_ns - span.from_ns) / SECOND_NS:.1f} s, {behind} entries behind"


def test_a_silence_that_began_before_the_window_is_as_long_as_it_is(lab):
    lab.partition("paris", "tokyo")
    lab.run("20s")
    (whole,), (part,) = of(lab).lags, of(lab, 15 * SECOND_NS, 18 * SECOND_NS).lags

    assert (part.from_ns, part.to_ns) == (15 * SECOND_NS, 18 * SECOND_NS)
    assert part.detail.startswith("hears nothing for 13.0 s")
    assert whole.from_ns < part.from_ns


def test_one_that_is_cut_off_and_misses_nothing_is_shown_too():
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab.run("3s").cut("paris", "tokyo")
    lab.run("10s")
    (span,) = of(lab).lags

    assert span.detail.startswith("hears nothing for 10.")
    assert "behind" not in span.detail


def test_a_secondary_that_hears_but_is_late_is_behind(lab):
    lab.slow("paris", "tokyo", latency="2s")
    lab.run("10s")
    spans = of(lab).lags

    assert [(span.row, span.what) for span in spans] == [("tokyo", "behind")]
    assert spans[0].detail.startswith("up to 2.")


def test_a_level_secondary_has_no_lag(lab):
    lab.run("5s")

    assert of(lab).lags == ()


def test_a_promoted_one_and_one_without_an_upstream_hear_nothing_and_need_not(drilled):
    lab = Lab.restore(drilled.snapshot())
    lab["tokyo"].demote()
    before = len(of(lab).lags)
    lab.run("10s")

    assert len(of(lab).lags) == before


def test_lag_is_never_asked_for_after_the_window():
    asked: list[int] = []

    def lags(at_ns: int) -> dict[str, Lag]:
        asked.append(at_ns)
        return {"c": Lag(4, 2.0)}

    trace = Trace()
    trace.record(("mode", 0, "c", "secondary", "stream-wals"))
    for second in range(10):
        trace.record(("message", 0, second * SECOND_NS, "d-1", "c-1", "echo", 9, "delivered"))
    window = Window(5 * SECOND_NS, 8 * SECOND_NS)
    contents = contents_of(Records(trace, RecoveryLedger(), {"c": ("c-1",), "d": ("d-1",)}, lags), window)

    assert contents.lags == (Span("c", window.start_ns, window.end_ns, "behind", "up to 2.0 s, 4 entries behind"),)
    assert all(at_ns <= window.end_ns for at_ns in asked)


def test_lag_is_asked_for_a_bounded_number_of_times_however_much_was_heard():
    asked: list[int] = []

    def lags(at_ns: int) -> dict[str, Lag]:
        asked.append(at_ns)
        return {"c": Lag(0, 0.0)}

    trace = Trace()
    trace.record(("mode", 0, "c", "secondary", "stream-wals"))
    for number in range(5_000):
        trace.record(("message", 0, number * SECOND_NS // 10, "d-1", "c-1", "echo", 9, "delivered"))
    contents_of(Records(trace, RecoveryLedger(), {"c": ("c-1",), "d": ("d-1",)}, lags), Window(0, 500 * SECOND_NS))

    assert len(asked) <= 2 * (MAX_COLUMNS + 2)


def late(*heard: tuple[Any, ...], end_ns: int, lag: Callable[[int], Lag | None]) -> list[tuple[int, int, str, str]]:
    """The lags of a secondary that got these messages: (when, source, what, fate), in seconds."""
    trace = Trace()
    trace.record(("mode", 0, "c", "secondary", "stream-wals"))
    for seconds, source, *rest in heard:
        what, fate = rest or ("echo", "delivered")
        trace.record(("message", 0, int(seconds * SECOND_NS), source, "c-1", what, 9, fate))

    def lags(at_ns: int) -> dict[str, Lag]:
        found = lag(at_ns // SECOND_NS)
        return {} if found is None else {"c": found}

    clusters = {"c": ("c-1", "c-2"), "d": ("d-1",)}
    found = contents_of(Records(trace, RecoveryLedger(), clusters, lags), Window(0, end_ns))
    return [(span.from_ns, span.to_ns, span.what, span.detail) for span in found.lags]


def test_three_and_a_half_seconds_without_a_word_are_a_silence():
    level = Lag(0, 0.0)

    assert late(end_ns=SILENT_NS - 1, lag=lambda _: level) == []
    assert late(end_ns=SILENT_NS, lag=lambda _: level) == [(0, SILENT_NS, "silent", "hears nothing for 3.5 s")]
    assert late((2, "d-1"), end_ns=5 * SECOND_NS, lag=lambda _: level) == []
    assert late(end_ns=5 * SECOND_NS, lag=lambda _: None) == [], "it follows nobody"
    assert late(end_ns=4 * SECOND_NS, lag=lambda _: Lag(1, 3.0)) == [
        (0, 4 * SECOND_NS, "silent", "hears nothing for 4.0 s, 1 entry behind")
    ]


@pytest.mark.parametrize(
    ("source", "what", "fate", "hears"),
    [
        ("d-1", "echo", "delivered", True),
        ("d-1", "request", "delivered", True),
        ("d-1", "echo", "lost", False),
        ("c-2", "echo", "delivered", False),
        ("balancer-d", "echo", "delivered", True),
        ("shop-1", "request", "delivered", False),
        ("operator", "response", "delivered", False),
        ("impostor", "forged", "delivered", False),
    ],
)
def test_what_breaks_a_silence_is_a_message_of_another_cluster(source, what, fate, hears):
    found = late((2, source, what, fate), end_ns=4 * SECOND_NS, lag=lambda _: Lag(0, 0.0))

    assert [kind for _, _, kind, _ in found] == ([] if hears else ["silent"])


def test_a_second_behind_is_behind_and_each_stretch_is_shown_for_itself():
    heard = [(second, "d-1") for second in range(0, 20, 2)]

    def behind(*seconds: float) -> list[tuple[int, int, str, str]]:
        lags = dict(enumerate(seconds))
        return late(*heard, end_ns=19 * SECOND_NS, lag=lambda second: Lag(second, lags.get(second, 0.0)))

    slice_ns = said(end_ns=19 * SECOND_NS).slice_ns
    assert slice_ns < SECOND_NS
    assert behind(0, 0, 0.99, inf) == []
    assert behind(0, 0, 1.0) == [
        (2 * SECOND_NS - slice_ns, 3 * SECOND_NS - slice_ns, "behind", "up to 1.0 s, 2 entries behind")
    ]
    found = behind(0, 0, 1.5, 3.25, 0, 0, 0, 1.0)
    assert [(from_ns // SECOND_NS, detail) for from_ns, _, _, detail in found] == [
        (1, "up to 3.2 s, 3 entries behind"),
        (6, "up to 1.0 s, 7 entries behind"),
    ]
    assert behind(2.0)[0][0] == 0, "it begins where time does"


# ---- operations


def test_every_outcome_is_in_one_slice_and_every_lost_write_too(drilled):
    columns = of(drilled).columns
    ended = drilled.ledger.operations

    assert len(columns) <= MAX_COLUMNS + 1
    assert sum(column.answered + column.refused + column.in_doubt for column in columns) == len(ended)
    assert len(ended) > len(drilled.trace.select("outcome")), "operators' requests are operations too"
    assert sum(column.lost for column in columns) == len(drilled.ledger.lost()) > 0
    lost = [column.from_ns for column in columns if column.lost]
    assert all(4 * SECOND_NS < at_ns <= 5 * SECOND_NS for at_ns in lost), "where they were acknowledged"


def test_operations_at_the_first_and_last_instant_of_a_window_count():
    ledger, window = RecoveryLedger(), Window(5 * SECOND_NS, 10 * SECOND_NS)
    for number, at_ns in enumerate((window.start_ns - 1, window.start_ns, window.end_ns, window.end_ns + 1)):
        ledger.end(at_ns, "c", "p", "answered", Correlation("c", number))
    columns = contents_of(Records(Trace(), ledger, {}, lambda _: {}), window).columns

    assert [column.answered for column in columns] == [1, *[0] * (len(columns) - 2), 1]


def test_each_outcome_has_a_count_of_its_own():
    ledger = RecoveryLedger()
    for number, outcome in enumerate(("answered", "refused", "refused", "unknown", "unknown", "unknown")):
        ledger.end(0, "c", "p", outcome, Correlation("c", number))
    contents = contents_of(Records(Trace(), ledger, {}, lambda _: {}), Window(0, 1))

    assert contents.columns == (Column(0, 1, 2, 3, 0),)
    assert describe(contents) == "operations: 1 answered, 2 refused, 3 in doubt; 0 acknowledged writes were lost."


def test_slices_keep_their_counts_while_time_goes_on(lab):
    before = of(lab.run("200ms"))
    lab.run("500ms")
    after = of(lab)

    assert before.slice_ns == after.slice_ns
    assert after.columns[: len(before.columns) - 1] == before.columns[:-1]


def test_a_steady_load_gives_steady_slices(lab):
    lab.run("4s")
    steady = [column.answered for column in of(lab).columns if 3 * SECOND_NS <= column.from_ns < 8 * SECOND_NS]

    assert max(steady) - min(steady) <= 1


@pytest.mark.parametrize("seconds", [0, 1, 7, 59, 3_600, 86_400, 10_000_000])
def test_there_are_never_too_many_slices(seconds):
    contents = said(end_ns=max(1, seconds * SECOND_NS))

    assert 1 <= len(contents.columns) <= MAX_COLUMNS + 1
    assert contents.columns[0].from_ns == 0


# ---- marks


def test_faults_of_one_instant_are_one_mark_and_all_of_a_cluster_have_its_name(lab):
    lab.crash("paris")
    lab.run("1s")
    lab.crash("tokyo-2")
    lab.crash("tokyo-3")

    assert marks(of(lab), "fault") == ["crash paris", "crash tokyo-2 and tokyo-3"]


def test_the_fault_of_one_node_names_the_node(lab):
    lab.crash("paris-2")

    assert marks(of(lab), "fault") == ["crash paris-2"]


def test_what_puts_a_fault_right_is_marked_as_that(lab):
    lab.crash("paris-2")
    lab.partition("paris", "tokyo")
    lab.slow("paris", "lisbon", factor=2)
    lab.run("1s").restart("paris-2")
    lab.heal()
    lab.restore_links()

    assert len(marks(of(lab), "fault")) == 3
    assert marks(of(lab), "undoing") == ["heal all", "restart paris-2", "restore all"]


def test_promotions_and_demotions_are_marked_whoever_asked_for_them(drilled):
    contents = of(drilled)

    assert marks(contents, "role") == ["tokyo promoted"]
    lab = Lab.restore(drilled.snapshot())
    lab["tokyo"].post("sys/replication/dr/primary/demote", {})
    assert marks(of(lab), "role") == ["tokyo promoted", "tokyo demoted"]


def test_the_end_of_a_reindex_is_marked(lab):
    lab["tokyo"].reindex()

    assert [words for words in marks(of(lab), "note") if words.startswith("reindex")] == ["reindexed tokyo"]


def test_faults_of_the_cloud_are_marked_with_the_words_of_their_verbs(lab):
    lab.cloud_outage()
    lab.run("1s").cloud_recover()
    lab.run("1s").cloud_slow("2s", "keys")
    lab.run("1s").cloud.outage("token", "compute")
    lab.run("1s").cloud.set_clock_ahead("-90s")
    lab.roll_keys()

    marks = [(mark.what, mark.words) for mark in of(lab).marks if mark.at_ns >= 5 * SECOND_NS]
    assert marks == [
        ("fault", "cloud-outage"),
        ("undoing", "cloud-recover"),
        ("fault", "cloud-slow by 2s at keys"),
        ("fault", "cloud-outage at compute"),
        ("fault", "cloud-outage at token"),
        ("fault", "cloud's clock off by -1m30s"),
        ("fault", "roll-keys"),
    ]


def test_corruption_is_marked_with_its_layer(lab):
    lab.corrupt("tokyo", layer="page")

    assert [words for words in marks(of(lab), "fault") if words.startswith("corrupt tokyo: page")]


def test_a_broken_rule_is_marked(lab):
    lab.partition("paris", "tokyo")
    lab["tokyo"].promote()

    assert marks(of(lab), "rule") == ["rule broken: one primary"]


def test_a_step_is_marked_once_and_not_beside_the_fault_that_it_is():
    contents = said(
        ("step", 3, 1, "crash c", "begins"),
        *(("fault", 3, "crash", f"c-{number}", "") for number in (1, 2, 3)),
        ("step", 4, 2, "promote d", "begins"),
        ("step", 5, 2, "promote d", "done"),
        ("step", 6, 3, "note", "begins"),
        ("note", 6, "mind this"),
        ("step", 6, 3, "note", "done"),
    )

    assert contents.marks == (
        TimelineMark(3, "fault", "crash c"),
        TimelineMark(4, "step", "promote d"),
        TimelineMark(6, "note", "mind this"),
    )


def test_marks_at_the_first_and_last_instant_are_shown():
    trace = recorded(*(("note", at_ns, f"note {at_ns}") for at_ns in (4, 5, 9, 10)))
    contents = contents_of(Records(trace, RecoveryLedger(), {}, lambda _: {}), Window(5, 9))

    assert contents.marks == (TimelineMark(5, "note", "note 5"), TimelineMark(9, "note", "note 9"))


def test_the_only_node_of_a_cluster_has_a_name_of_its_own():
    contents = said(("fault", 3, "crash", "c-1", ""), clusters={"c": ("c-1",)})

    assert contents.marks == (TimelineMark(3, "fault", "crash c-1"),)


def test_a_first_role_is_no_mark_and_the_same_role_again_is_none():
    contents = said(
        ("mode", 1, "c", "primary", "running"),
        ("mode", 2, "c", "primary", "running"),
        ("mode", 3, "c", "secondary", "idle"),
        ("mode", 4, "c", "secondary", "stream-wals"),
        ("mode", 5, "c", "disabled", ""),
        ("mode", 6, "c", "primary", "running"),
    )

    assert contents.marks == (TimelineMark(3, "role", "c demoted"), TimelineMark(5, "role", "c disabled"))


def test_a_fault_of_every_endpoint_of_the_cloud_names_none_and_each_instant_is_for_itself():
    def failed(
        at_ns: int, *endpoints: str, what: str = "cloud slow", delay_ns: int = SECOND_NS
    ) -> list[tuple[Any, ...]]:
        return [
            ("observed", at_ns, "cloud", what, (("endpoint", endpoint), ("delay_ns", delay_ns)))
            for endpoint in endpoints
        ]

    contents = said(
        *failed(1, *ENDPOINTS),
        *failed(2, *ENDPOINTS[1:]),
        *failed(3, ENDPOINTS[0], ENDPOINTS[0]),
        *failed(4, ENDPOINTS[0], what="something else"),
        *failed(5, ENDPOINTS[0], delay_ns=2 * SECOND_NS),
        ("observed", 6, "c-1", "cloud slow", (("endpoint", "keys"), ("delay_ns", 1))),
    )

    assert [(mark.at_ns, mark.words) for mark in contents.marks] == [
        (1, "cloud-slow by 1s"),
        *sorted((2, f"cloud-slow by 1s at {endpoint}") for endpoint in ENDPOINTS[1:]),
        (3, f"cloud-slow by 1s at {ENDPOINTS[0]}"),
        (5, f"cloud-slow by 2s at {ENDPOINTS[0]}"),
    ]


# ---- in words


def test_it_says_in_words_what_it_shows(drilled):
    words = describe(of(drilled))

    assert "from 5.0 s paris is down (3 nodes down)" in words
    assert "from 5.0 s paris-2 is down" in words
    assert "at 5.0 s crash paris" in words
    assert f"{drilled.ledger.rpo().writes} acknowledged writes were lost." in words


def test_words_say_until_when_a_node_is_down_or_sealed(lab):
    lab.crash("paris-2")
    lab.run("2s").restart("paris-2")
    lab.run("3s")["paris"].unseal("paris-2")
    lab.run("1s")
    start_s, words = lab.now / SECOND_NS - 6, describe(of(lab))

    assert f"from {start_s:.1f} s to {start_s + 2:.1f} s paris-2 is down" in words
    assert f"from {start_s + 2:.1f} s to {start_s + 5:.1f} s paris-2 is sealed" in words


def test_lag_is_said_in_words(lab):
    lab.partition("paris", "tokyo")
    lab.run("20s")

    assert "tokyo hears nothing for 20." in describe(of(lab))


def test_a_lab_that_has_not_begun_has_a_timeline_too():
    contents = of(Lab.pair())

    assert contents.window == Window(0, 1)
    assert describe(contents).endswith("0 acknowledged writes were lost.")


@pytest.mark.parametrize(
    ("at_ns", "text", "one"),
    [
        (5, "crash paris", True),
        (5, "crash", True),
        (6, "crash paris", False),
        (5, "crash-in-commit paris", False),
        (5, "promote paris", False),
    ],
)
def test_a_step_is_one_with_the_fault_that_it_is(at_ns: int, text: str, one: bool) -> None:
    assert is_one_with_a_fault(at_ns, text, {(5, "crash"), (5, "heal")}) is one
