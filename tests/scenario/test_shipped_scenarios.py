"""What holds of every scenario file that comes with labkit, wherever its run is cut, and whatever it shows."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.traffic import ORDER, flows
from labkit.lab.operations.kept_values import MIN_MASKED_CHARACTERS
from labkit.scenario.event_log import event_log
from labkit.scenario.measures import BROKEN, UNKNOWN
from labkit.scenario.verdict import Verdict, judge
from labkit.views.timeline import layout_of_lab
from tests.views.layout.test_timeline_layout import overlapping, struck_through

FILES = sorted((Path(__file__).resolve().parents[2] / "scenarios").rglob("*.lab.yaml"))
EVERYDAY = ("unreachable-address", "foreign-share", "expired-activation-token")
EACH = [
    pytest.param(path, id=name, marks=() if name in EVERYDAY else pytest.mark.slow)
    for path in FILES
    for name in [path.name.removesuffix(".lab.yaml")]
]


def verdict_of(lab: Lab) -> Verdict:
    assert lab.scenario is not None
    return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)


def secrets(value: Any) -> Iterator[str]:
    """The texts of a kept value that are long enough to be secret."""
    if isinstance(value, str) and len(value) >= MIN_MASKED_CHARACTERS:
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from secrets(inner)


@pytest.mark.parametrize("path", EACH)
def test_it_goes_on_alike_after_a_cut_and_is_shown_readably_without_what_is_kept(path: Path) -> None:
    whole = Lab.load(path).run()
    verdict = verdict_of(whole)
    lab = Lab.load(path).run(f"{whole.now * (3 + 4 * (FILES.index(path) % 2)) // 9}ns")
    cut = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    for going_on in (lab, cut):
        assert going_on.scenario is not None
        if not going_on.scenario.ended:
            going_on.run()
    assert (cut.trace.digest(), verdict_of(cut)) == (lab.trace.digest(), verdict_of(lab))
    assert whole.scenario is not None
    assert {flow.mechanism for flow in flows(whole.trace, whole.blueprint)} <= set(ORDER), "a message has no mechanism"
    shown = [*whole.trace.lines(), str(verdict), verdict._repr_html_(), whole.timeline()._repr_html_()]
    shown += [verdict.report(whole.scenario.scenario, whole.trace), *map(str, event_log(whole.trace)), repr(whole)]
    kept = [*secrets(whole.parts.console.values())]
    placed = layout_of_lab(whole.queries)

    assert (overlapping(placed), struck_through(placed)) == ([], [])
    assert [
        row for row in verdict.rows if row.status in (BROKEN, UNKNOWN) and not row.expected.startswith("sometimes")
    ] == []
    assert kept
    assert [name for name in kept if any(name in text for text in shown)] == []
