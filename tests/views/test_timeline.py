"""The timeline's drawing: well-formed, in words too, between any two instants."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.wire.messages import Correlation
from labkit.trace import Trace
from labkit.views.contents.timeline_contents import Window
from labkit.views.layout.timeline_layout import layout
from labkit.views.timeline import draw, of, of_lab, window_of

SECOND_NS = 1_000_000_000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drilled():
    """Writers, a partition at 5 s, a crash of the primary at 15 s, a promotion, a restart, and 5 s more."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 20, from_ns=SECOND_NS * 2)
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), workload=(work,))))
    lab.replicate("paris", "tokyo")
    lab.run(until="5s").partition("paris", "tokyo")
    lab.run(until="15s").crash("paris")
    lab["tokyo"].promote()
    lab.run(until="20s").restart("paris")
    return lab.run(until="25s")


def root_of(lab: Lab, **window: Any) -> ElementTree.Element:
    """The drawing of a lab's timeline."""
    return ElementTree.fromstring(lab.timeline(**window).svg)


def words(root: ElementTree.Element) -> list[str]:
    """All words of a drawing."""
    return [node.text or "" for node in root.iter(SVG + "text")]


def test_it_is_a_picture_with_words(drilled):
    picture = drilled.timeline()
    shown = words(root_of(drilled))

    assert picture.title == "Timeline of the lab up to 25.0 s"
    assert {"paris", "paris-1", "tokyo-3", "operations", "× crash paris", "+ restart paris", "^ tokyo promoted"} <= set(
        shown
    )
    assert {f"† {len(drilled.ledger.lost())}", "primary"} <= set(shown)
    assert [one for one in shown if one.startswith("hears nothing for 10.")]
    assert "at 15.0 s crash paris" in picture.description


def test_faults_and_what_undoes_them_differ_in_colour_and_line(drilled):
    root = root_of(drilled)
    labels = {node.text: node.attrib["class"] for node in root.iter(SVG + "text")}

    assert labels["× crash paris"].startswith("fill-down")
    assert labels["+ restart paris"].startswith("fill-faint")
    dashes = {node.attrib.get("stroke-dasharray") for node in root.iter(SVG + "line")}
    assert {None, "9 4", "2 4"} <= dashes


def test_start_and_end_may_be_chosen(drilled):
    picture = drilled.timeline(start="4s", end="6500ms")

    assert picture.title == "Timeline of the lab from 4.0 s to 6.5 s"
    assert "partition paris" in picture.description
    assert "crash" not in picture.description
    assert {"4 s", "5 s", "6 s"} <= set(words(root_of(drilled, start="4s", end="6500ms")))
    assert drilled.timeline(end=10).title == "Timeline of the lab up to 10.0 s"
    assert drilled.timeline(start=20, end="1h").title == "Timeline of the lab from 20.0 s to 25.0 s"


@pytest.mark.parametrize(("start", "end"), [("20s", "10s"), ("5s", "5s"), ("1h", None), (None, 0), ("30s", "40s")])
def test_what_is_no_stretch_of_time_is_refused_with_a_sentence(start, end):
    with pytest.raises(ValueError, match=r"from an earlier instant to a later one up to now \(25.000 s\)"):
        window_of(25 * SECOND_NS, start, end)


@pytest.mark.parametrize("instant", ["soon", "-1s", [], {}, True, float("nan"), -1, -0.5, b"5s", object()])
@pytest.mark.parametrize("name", ["start", "end"])
def test_what_is_no_instant_is_refused_with_a_sentence(name, instant):
    with pytest.raises(ValueError, match=rf"^{name}: "):
        window_of(25 * SECOND_NS, **{name: instant})


def test_a_lab_is_drawn_up_to_now_or_between_two_instants(drilled_lab):
    assert of_lab(drilled_lab.queries).description == drilled_lab.timeline().description
    assert "from 2.0 s to 3.0 s" in of_lab(drilled_lab.queries, "2s", 3).title


def test_all_time_is_shown_by_default():
    assert window_of(25 * SECOND_NS) == Window(0, 25 * SECOND_NS)
    assert window_of(0) == Window(0, 1)


@pytest.mark.parametrize("window", [{}, {"start": "4s", "end": "6s"}, {"start": "14999ms", "end": "15001ms"}])
def test_everything_stays_inside_the_picture(drilled, window):
    root = root_of(drilled, **window)
    width = float(root.attrib["width"])
    for node in root.iter(SVG + "rect"):
        x = float(node.attrib.get("x", 0))
        assert x >= -0.1
        assert x + float(node.attrib["width"]) <= width + 0.1


def test_looking_changes_nothing(drilled):
    before, digest = drilled.parts.clock.pending(), drilled.trace.digest()

    assert drilled.timeline() == drilled.timeline()
    assert (drilled.parts.clock.pending(), drilled.trace.digest()) == (before, digest)


def test_outcomes_differ_in_more_than_colour():
    trace, ledger = Trace(), RecoveryLedger()
    for number, outcome in enumerate(("answered", "refused", "unknown")):
        ledger.end(number * SECOND_NS + 1, "c", "p", outcome, Correlation("c", number))
    svg = of((trace, ledger, {"c": ("c-1",)}, lambda _: {}), Window(0, 4 * SECOND_NS)).svg
    root = ElementTree.fromstring(svg)
    notes = {node.findtext(SVG + "title"): node for node in root.iter(SVG + "rect")}

    assert notes["1 answered from 0 s"].attrib["class"] == "fill-primary line-primary"
    assert notes["1 in doubt from 2 s"].attrib["class"] == "fill-paper line-down"
    assert [node for node in root.iter(SVG + "path") if node.attrib["class"] == "line-on"], "refused is striped"


def test_names_that_look_like_markup_stay_names():
    evil = "<i>&x"
    trace = Trace()
    for event in (
        ("mode", 2, evil, "<primary>", "&"),
        ("fault", 3, "partition", f"{evil} <> y", ""),
        ("step", 4, 1, evil, "begins"),
        ("note", 5, evil),
    ):
        trace.record(event)
    root = ElementTree.fromstring(of((trace, RecoveryLedger(), {evil: (evil,)}, lambda _: {}), Window(0, 10)).svg)

    assert root.find(f".//{SVG}i") is None
    assert evil in words(root)


def test_the_drawing_is_the_one_that_is_kept(full_timeline, kept):
    kept("timeline.svg", "\n".join(draw(layout(full_timeline)).elements))


def test_without_operations_there_is_no_scale(drilled):
    words = [part.text for part in root_of(Lab.pair()).iter(f"{SVG}text")]

    assert "none" in words
    assert any((part.text or "").startswith("≤ ") for part in root_of(drilled).iter(f"{SVG}text"))
