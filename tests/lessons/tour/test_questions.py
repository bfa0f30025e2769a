"""Both predictions of lesson 00: what is measured, what is missing before, and the numbers of the explanations."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.distance.line import calm_pair
from labkit.lessons.tour.questions import ORDERS, PATH, SECOND, SURVIVE
from labkit.trace import SECOND_NS
from tests.notebooks.test_form import cells_of


def lost(wait: str) -> Lab:
    lab = calm_pair(seed=7)
    assert "0 orders so far" in SURVIVE.needs(lab)
    for number in range(1, ORDERS + 1):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"item": "rope"}})
        lab.run("10ms")
    assert "paris still runs" in SURVIVE.needs(lab)
    if wait:
        lab.run(wait)
    lab.crash("paris")
    assert "not promoted yet" in SURVIVE.needs(lab)
    lab.run("1s")
    lab["tokyo"].promote()
    return lab


def test_at_once_none_survives():
    lab = lost("")

    assert SURVIVE.needs(lab) == ""
    assert SURVIVE.measure(lab) == 0
    assert "5 orders were acknowledged, and 0 are in tokyo" in SURVIVE.why(lab)
    assert "lost 0.05 s after the first acknowledgement and 0.01 s after the last;" in SURVIVE.why(lab)
    assert "right after the last order" in SECOND.needs(lab)
    assert "What is on its way when paris goes down goes down with it" in SURVIVE.why(lab)


def test_a_second_later_all_survive():
    lab = lost("1s")

    assert SECOND.needs(lab) == ""
    assert SECOND.measure(lab) == 5
    assert "5 are in tokyo. paris was lost 1.05 s after the first acknowledgement and 1.01 s after" in SECOND.why(lab)
    assert SECOND.why(lab).endswith("none was on its way any more.")


def test_the_lab_of_the_changed_case_is_not_taken_for_the_first():
    assert SURVIVE.needs(lost("1s")) == (
        "In this lab paris was lost 1.05 s after the first order, not at once: run the cell above."
    )
    assert SURVIVE.needs(lost("")) == ""


def test_a_message_takes_what_the_explanation_says():
    lab = lost("1s")
    crossings = [
        (event.at_ns - event.sent_ns) / SECOND_NS
        for event in lab.trace.select("message", what="stream", fate="delivered")
    ]

    assert len(crossings) >= ORDERS
    assert 0.08 < min(crossings) <= max(crossings) < 0.083, "a little over 0.08 s"


@pytest.mark.parametrize(("name", "on_the_line"), [("lab", ORDERS), ("later", 0)])
def test_the_picture_shows_what_is_said_before_it(name, on_the_line):
    """At the instant of the loss the lab of the lesson has the orders on its line, apart, and nothing else."""
    names: dict[str, Lab] = {}
    for kind, source in cells_of("00"):
        if kind == "code" and "here" not in source:
            exec(f"from labkit import Lab, Vault\nfrom labkit.lessons import table\n{source}", names)
    trace = names[name].trace
    crash = trace.select("fault", verb="crash")[0].at_ns
    lost_then = [event for event in trace.select("message", fate="lost") if event.sent_ns < crash <= event.at_ns]
    passed = [(crash - event.sent_ns) / 80_000_000 for event in lost_then]

    assert [(event.source, event.target, event.what) for event in lost_then] == (
        [("paris-1", "tokyo-1", "stream")] * on_the_line
    )
    assert [round(way, 1) for way in passed] == [0.6, 0.5, 0.4, 0.3, 0.1][:on_the_line]
