"""Conditions of lines: each stretch is that in which the network was so, for every fault of lines and sites."""

from __future__ import annotations

import random
from typing import Any

import pytest

from labkit import Lab
from labkit.views.contents.map_contents import BOTH_WAYS
from labkit.views.player.recorded.line_conditions import LineSpan, line_spans

SITES = ("paris", "tokyo", "lima")
ACTS = (
    lambda lab, a, b: lab.partition(a, b),
    lambda lab, a, b: lab.cut(a, b),
    lambda lab, a, b: lab.isolate(a),
    lambda lab, a, b: lab.heal(),
    lambda lab, a, b: lab.heal(a, b),
    lambda lab, a, b: lab.slow(a, b, factor=4),
    lambda lab, a, b: lab.lose(a, b, 20),
    lambda lab, a, b: lab.restore_links(),
)


def spans_of(lab: Any) -> list[LineSpan]:
    rows = [row for chunk in lab.trace.state()[1] for row in chunk]
    return line_spans(rows, lab.network.topology, lab.now)


@pytest.mark.parametrize("seed", range(15))
def test_a_line_is_said_to_be_what_it_was(seed: int) -> None:
    rng = random.Random(seed)
    lab: Any = Lab.triangle(seed=seed)
    seen = []
    for _ in range(12):
        rng.choice(ACTS)(lab, *rng.sample(SITES, 2))
        lab.run(0.5)
        for a, b in [link.between for link in lab.network.topology.links]:
            there, back = lab.network.impairment(a, b), lab.network.impairment(b, a)
            cut = BOTH_WAYS if there.closed and back.closed else b if there.closed else a if back.closed else ""
            seen.append((lab.now, a, b, cut, there.factor != 1, there.loss_ppm > 0))
        lab.run(0.001)
    spans = spans_of(lab)
    for at_ns, a, b, cut, slow, loses in seen:
        found = [span for span in spans if (span.a, span.b) == (a, b) and span.from_ns <= at_ns < span.to_ns]
        words = found[0].words if found else ""
        assert len(found) <= 1
        assert ("slow: factor 4" in words, "loses 20 %" in words) == (slow, loses), (seed, at_ns)
        assert (found[0].cut if found else "") == cut, (seed, at_ns)
        assert words.startswith("cut" if cut else words)


def test_a_run_without_faults_has_none() -> None:
    assert spans_of(Lab.pair().run("1s")) == []


def test_a_fault_inside_a_site_or_between_two_without_a_line_is_shown() -> None:
    lab = Lab.pair(seed=7)
    lab.slow("paris", "paris", latency="50ms")
    lab.run("1s")
    (span,) = spans_of(lab)

    assert (span.a, span.b, span.cut, span.words) == ("paris", "paris", "", "slow: 50 ms")
    assert span.from_ns == 0
    assert lab.now // 1_000 < span.to_ns // 1_000, "it lasts"


def test_what_lasts_is_there_at_the_end_and_what_was_undone_then_is_not() -> None:
    """The page of a served lab shows the end of its run after each act."""
    lab = Lab.pair(seed=7)
    lab.run("1s").partition("paris", "tokyo")
    (span,) = spans_of(lab)
    assert (span.from_ns, span.cut) == (lab.now, BOTH_WAYS)
    assert span.from_ns // 1_000 < span.to_ns // 1_000
    lab.run("1s").heal()
    (span,) = spans_of(lab)
    assert span.to_ns == lab.now
