"""The timeline: worked out from trace and ledger only, then drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.loss_and_outage import Promotion, RecoveryLedger
from labkit.trace import Trace
from labkit.views.timeline import COLUMNS, Span, TimelineLayout, describe, draw, layout

SECOND_NS = 1_000_000_000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drilled():
    """Writers, a crash of the primary at 5 s, a promotion at once, and 5 s more."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 20, from_ns=SECOND_NS * 2)
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), workload=(work,))))
    lab.replicate("paris", "tokyo")
    lab.run(until="5s").crash("paris")
    lab["tokyo"].promote()
    return lab.run(until="15s")


def laid_out(lab: Lab) -> TimelineLayout:
    return layout(lab.trace, lab.ledger, lab.now, {plan.name: plan.node_names for plan in lab.blueprint.clusters})


def of(marks: TimelineLayout, row: str) -> list[tuple[str, str]]:
    return [(span.what, span.detail) for span in marks.spans if span.row == row]


def recorded(*events: tuple) -> Trace:
    trace = Trace()
    for event in events:
        trace.record(event)
    return trace


# ---- the layout


def test_each_clusters_time_is_covered_without_gap_or_overlap(drilled):
    marks = laid_out(drilled)
    for row in marks.rows:
        spans = [span for span in marks.spans if span.row == row]
        assert spans[0].from_ns == 0
        assert spans[-1].to_ns == drilled.now
        assert all(a.to_ns == b.from_ns for a, b in pairwise(spans))


def test_it_shows_what_became_of_each_cluster(drilled):
    marks = laid_out(drilled)

    assert of(marks, "paris") == [("disabled", ""), ("primary", "running"), ("down", "3 nodes down")]
    assert [what for what, _ in of(marks, "tokyo")] == ["disabled", *["secondary"] * 4, "primary"]
    assert of(marks, "tokyo")[-1] == ("primary", "running")


def test_every_outcome_is_in_one_column_and_every_lost_write_too(drilled):
    columns = laid_out(drilled).columns
    outcomes = drilled.trace.select("outcome")

    assert len(columns) == COLUMNS
    assert sum(column.answered + column.refused + column.unknown for column in columns) == len(outcomes)
    assert sum(column.lost for column in columns) == len(drilled.ledger.lost()) > 0
    assert all(column.from_ns <= drilled.now for column in columns)


def test_lost_writes_stand_where_they_were_acknowledged(drilled):
    columns = laid_out(drilled).columns
    last = [number for number, column in enumerate(columns) if column.lost]

    assert all(4 * SECOND_NS < columns[number].from_ns <= 5 * SECOND_NS for number in last)


def test_faults_are_marked_once_for_a_whole_cluster(drilled):
    marks = laid_out(drilled).marks

    assert [(mark.at_ns, mark.what, mark.words) for mark in marks] == [(5 * SECOND_NS, "fault", "crash paris")]


def test_the_crash_of_a_standby_does_not_take_the_cluster_down():
    lab = Lab.pair()
    lab.run("2s").crash("paris-3")
    lab.run("3s")

    assert of(laid_out(lab), "paris") == [("disabled", "")]


def test_a_takeover_ends_an_outage():
    lab = Lab.pair()
    lab.run("2s").crash("paris-1")
    lab.run("6s")
    spans = [span for span in laid_out(lab).spans if span.row == "paris"]

    assert [(span.what, span.detail) for span in spans] == [
        ("disabled", ""),
        ("down", "1 node down"),
        ("disabled", "paris-2"),
    ]
    assert 2 * SECOND_NS < spans[1].to_ns - spans[1].from_ns < 5 * SECOND_NS


def test_names_with_dashes_are_names():
    trace = recorded(
        ("leader", 0, "eu-west", "eu-west-1", 1),
        ("fault", 5, "crash", "eu-west-1", ""),
        ("fault", 6, "crash", "eu-1", ""),
    )

    assert [span.what for span in layout(trace, RecoveryLedger(), 10, {"eu-west": ("eu-west-1",)}).spans] == [
        "disabled",
        "down",
    ]


def test_a_lab_that_has_not_begun_has_a_timeline_too():
    marks = laid_out(Lab.pair())

    assert marks.end_ns == 1
    assert draw(marks).svg


def test_the_layout_needs_no_lab():
    ledger = RecoveryLedger()
    ledger.commit("c/1", "paris", 0, 9)
    ledger.acknowledge(3, "c", "secret/data/x", "c/1")
    ledger.promoted(Promotion(8, "tokyo", "paris", 0, 1, 8, False))
    trace = recorded(
        ("mode", 2, "paris", "primary", "running"), ("outcome", 1, 3, "c", "o", "p", "paris", "answered", 200, 1)
    )
    marks = layout(trace, ledger, 10, {"paris": ("paris-1",)})

    assert marks.spans == (Span("paris", 0, 2, "disabled", ""), Span("paris", 2, 10, "primary", "running"))
    assert sum(column.lost for column in marks.columns) == 1


@given(
    modes=st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["primary", "secondary"]), st.sampled_from(["a", "b"])),
        max_size=12,
    ),
    crashes=st.lists(st.integers(0, 50), max_size=6),
    end_ns=st.integers(51, 99),
)
def test_whatever_happened_the_time_is_covered_once(modes, crashes, end_ns):
    events: list[tuple[Any, ...]] = [("leader", 0, "c", "c-1", 1)]
    events += [("mode", at, "c", mode, state) for at, mode, state in sorted(modes)]
    events += [("fault", at, "crash", "c-1", "") for at in sorted(crashes)]
    spans = layout(recorded(*events), RecoveryLedger(), end_ns, {"c": ("c-1", "c-2", "c-3")}).spans

    assert sum(span.to_ns - span.from_ns for span in spans) == end_ns
    assert [span.from_ns for span in spans] == [0, *[span.to_ns for span in spans[:-1]]]


# ---- the drawing


def test_it_is_a_well_formed_picture_with_words(drilled):
    picture = drilled.timeline()
    root = ElementTree.fromstring(picture.svg)
    shown = [node.text for node in root.iter(SVG + "text")]

    assert picture.title == "Timeline of the lab up to 15.0 s"
    assert {"paris", "tokyo", "operations", "crash paris", "†", "primary"} <= set(shown)
    assert root.findtext(SVG + "desc") == picture.description == describe(laid_out(drilled))


def test_it_says_in_words_what_it_shows(drilled):
    words = drilled.timeline().description

    assert "from 5.0 s paris is down (3 nodes down)" in words
    assert "at 5.0 s crash paris" in words
    assert f"{drilled.ledger.rpo().writes} acknowledged writes were lost." in words


def test_everything_stays_inside_the_picture(drilled):
    picture = drilled.timeline()
    for node in ElementTree.fromstring(picture.svg).iter(SVG + "rect"):
        x, width = float(node.attrib.get("x", 0)), float(node.attrib["width"])
        assert x >= -0.1
        assert x + width <= picture.width + 0.1


def test_words_of_a_mark_at_the_end_stand_left_of_it():
    trace = recorded(("fault", 99, "restart", "paris-1", ""), ("fault", 10, "crash", "paris-1", ""))
    root = ElementTree.fromstring(draw(layout(trace, RecoveryLedger(), 100, {"paris": ("paris-1",)})).svg)
    anchors = {node.text: node.attrib["text-anchor"] for node in root.iter(SVG + "text")}

    assert (anchors["crash paris"], anchors["restart paris"]) == ("start", "end")


@pytest.mark.parametrize("seconds", [1, 7, 59, 3_600, 86_400, 10_000_000])
def test_the_axis_has_a_reasonable_number_of_ticks_however_long_it_is(seconds):
    root = ElementTree.fromstring(
        draw(layout(Trace(), RecoveryLedger(), seconds * SECOND_NS, {"paris": ("paris-1",)})).svg
    )
    ticks = [text for node in root.iter(SVG + "text") if (text := node.text or "").endswith(" s")]

    assert 2 <= len(ticks) <= 14


def test_names_that_look_like_markup_stay_names():
    evil = "<i>&x"
    trace = recorded(
        ("mode", 2, evil, "<primary>", "&"),
        ("fault", 3, "partition", f"{evil} <> y", ""),
        ("step", 4, 1, evil, "begun"),
    )
    root = ElementTree.fromstring(draw(layout(trace, RecoveryLedger(), 10, {evil: ()})).svg)

    assert root.find(f".//{SVG}i") is None
    assert evil in [node.text for node in root.iter(SVG + "text")]
