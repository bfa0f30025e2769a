"""Verdict: what a scenario expected beside what was measured in its lab, and whether that is as expected.

*ok* and *broken* are certain.  *unknown* says that the situation never came about in which it could have been judged: a
step that was not reached, a recovery time without a promotion.  A measure that nothing was expected of is only told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from labkit.scenario.kinds import write_duration
from labkit.scenario.running import WORKING, Run
from labkit.scenario.scenario import Bounds, Step

if TYPE_CHECKING:
    from labkit.lab.lab import Lab

SECOND_NS = 1_000_000_000
OK, BROKEN, UNKNOWN, TOLD = "ok", "broken", "unknown", ""
WORDS = {0: "as expected", 1: "not as expected", 3: "unknown"}
HEADINGS = ("", "expected", "measured", "verdict")
WIDEST = 56

COUNTS = {
    "acknowledged": "writes acknowledged",
    "lost": "of them lost",
    "unknown": "operations unknown",
    "refused": "operations refused",
}
TIMES = {"rpo": "recovery point (RPO)", "rto": "recovery time (RTO)"}


class Row(NamedTuple):
    """One line of a verdict; ``key`` is the expectation's name in the file (``rpo``, ``one primary``, ``step 3``)."""

    what: str
    expected: str
    measured: str
    status: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on one run of a scenario."""

    title: str
    seed: int
    at_ns: int
    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 otherwise, 3 unknown."""
        found = {row.status for row in self.rows}
        return 1 if BROKEN in found else 3 if UNKNOWN in found else 0

    @property
    def word(self) -> str:
        """The judgement in words."""
        return WORDS[self.exit_code]

    @property
    def summary(self) -> str:
        """The judgement in one line."""
        return f"{self.title}: {self.word} (seed {self.seed}, {write_duration(self.at_ns)} of lab time)"

    def failures(self) -> tuple[Row, ...]:
        """The rows that are not as expected."""
        return tuple(row for row in self.rows if row.status in (BROKEN, UNKNOWN))

    def __str__(self) -> str:
        return "\n".join([*_table(self.rows), "", self.summary])

    def _repr_html_(self) -> str:
        heads = "".join(f"<th scope='col'>{escape(head)}</th>" for head in HEADINGS)
        body = "".join(
            f"<tr><th scope='row'>{escape(row.what)}</th>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in (row.expected, row.measured, row.status))
            + "</tr>"
            for row in self.rows
        )
        return f"<table><caption>{escape(self.summary)}</caption><tr>{heads}</tr>{body}</table>"


def judge(lab: Lab) -> Verdict:
    """Judge a lab by the scenario that it was loaded from; raise ValueError for one without."""
    run = lab.scenario
    if run is None:
        raise ValueError("only a lab that was loaded from a scenario file is judged: Lab.load(path)")
    rows = (*_steps(lab, run), *_counts(lab, run), *_times(lab, run), *_roots(lab, run), *_primaries(lab, run))
    return Verdict(title=run.scenario.title, seed=lab.seed, at_ns=lab.now, rows=(*rows, *_invariants(lab, run)))


def _steps(lab: Lab, run: Run) -> Iterator[Row]:
    """One row for the whole timeline, one for each step that was to fail or went otherwise than written."""
    steps, results = run.scenario.timeline, run.results
    if steps:
        went = sum(result.as_wanted(step) for step, result in zip(steps, results, strict=False))
        status = OK if went == len(steps) else BROKEN if went < len(results) else UNKNOWN
        yield Row("timeline", _steps_of(len(steps)), f"{went} as written", status, "timeline")
    for step, result in zip(steps, results, strict=False):
        right = result.as_wanted(step)
        if step.fails is not None or not right:
            measured = f"refused: {result.said}" if not result.ok else "done"
            yield Row(_named(step), _wanted(step), measured, OK if right else BROKEN, f"step {step.number}")
    yield from _unreached(run, steps[len(results) :])
    if not run.ended:
        yield Row("the end", "reached", f"the lab stands at {write_duration(lab.now)}", UNKNOWN, "end")


def _unreached(run: Run, left: tuple[Step, ...]) -> Iterator[Row]:
    """Tell of the steps without a result: the one that is under way, and how many were never begun."""
    if left and run.standing == WORKING:
        yield Row(_named(left[0]), _wanted(left[0]), "still under way at the end", UNKNOWN, f"step {left[0].number}")
        left = left[1:]
    if left:
        named = _named(left[0]) + (" …" if len(left) > 1 else "")
        yield Row(named, _wanted(left[0]), f"{_steps_of(len(left))} not begun", UNKNOWN, f"step {left[0].number}")


def _steps_of(count: int) -> str:
    return f"{count} step{'s' if count != 1 else ''}"


def _named(step: Step) -> str:
    return f"step {step.number}: {step.text}"


def _wanted(step: Step) -> str:
    if step.fails is None:
        return "done"
    return f"refused, saying {step.fails}" if step.fails else "refused"


def _counts(lab: Lab, run: Run) -> Iterator[Row]:
    ledger, bounds = lab.ledger, _bounds(run)
    measured = {
        "acknowledged": len(ledger.writes),
        "lost": len(ledger.lost()),
        "unknown": ledger.unknown,
        "refused": ledger.refused,
    }
    for key, what in COUNTS.items():
        count, wanted = measured[key], bounds.get(key)
        expected = _range(str, wanted) if wanted else ""
        yield Row(what, expected, str(count), _within(wanted, count), key)


def _times(lab: Lab, run: Run) -> Iterator[Row]:
    bounds = _bounds(run)
    point = lab.ledger.rpo().seconds if lab.ledger.promotions else None
    for key, seconds in (("rpo", point), ("rto", lab.ledger.rto().seconds)):
        wanted = bounds.get(key)
        if seconds is None and wanted is None:
            continue
        expected = _range(write_duration, wanted) if wanted else ""
        if seconds is None:
            why = "nobody wrote to the survivor" if lab.ledger.promotions else "nobody was promoted"
            yield Row(TIMES[key], expected, why, UNKNOWN, key)
        else:
            time_ns = round(seconds * SECOND_NS)
            yield Row(TIMES[key], expected, write_duration(time_ns), _within(wanted, time_ns), key)


def _bounds(run: Run) -> dict[str, Bounds]:
    return {bounds.what: bounds for bounds in run.scenario.expect.bounds}


def _range(write: object, bounds: Bounds) -> str:
    assert callable(write)
    low, high = (None if end is None else write(end) for end in (bounds.low, bounds.high))
    if low == high:
        return str(low)
    return " and ".join(f"{word} {end}" for word, end in (("at least", low), ("at most", high)) if end is not None)


def _within(bounds: Bounds | None, value: int) -> str:
    if bounds is None:
        return TOLD
    low_enough = bounds.high is None or value <= bounds.high
    return OK if low_enough and (bounds.low is None or value >= bounds.low) else BROKEN


def _roots(lab: Lab, run: Run) -> Iterator[Row]:
    """Compare the roots of every secondary and the primary that it follows."""
    wanted = run.scenario.expect.roots
    secondaries = [plan.name for plan in lab.blueprint.clusters if lab.queries.mode_of(plan.name) == "secondary"]
    pairs = [(lab.queries.upstream_of(name), name) for name in secondaries if lab.queries.upstream_of(name)]
    dark = [name for pair in pairs for name in pair if not lab.queries.root(name)]
    differing = [
        f"{one} and {other} differ" for one, other in pairs if lab.queries.root(one) != lab.queries.root(other)
    ]
    if pairs and not dark:
        measured = "different" if differing else "equal"
        status = TOLD if wanted is None else OK if measured == wanted else BROKEN
        yield Row("roots", wanted or "", ": ".join([measured, *differing[:1]]), status, "roots")
    elif wanted is not None:
        why = f"{dark[0]} has no active node" if dark else "no cluster follows another"
        yield Row("roots", wanted, why, UNKNOWN, "roots")


def _primaries(lab: Lab, run: Run) -> Iterator[Row]:
    wanted = run.scenario.expect.primary
    modes = {plan.name: lab.queries.mode_of(plan.name) for plan in lab.blueprint.clusters}
    found = sorted(name for name, mode in modes.items() if mode == "primary")
    dark = sorted(name for name, mode in modes.items() if mode == "unknown")
    measured = (", ".join(found) or "none") + (f" ({', '.join(dark)} has no active node)" if dark else "")
    if wanted is None:
        status = TOLD
    elif tuple(found) == wanted:
        status = OK
    else:
        # A cluster without an active node may still turn out to be what was expected of it.
        status = UNKNOWN if set(found) <= set(wanted) <= {*found, *dark} else BROKEN
    yield Row("primary", "" if wanted is None else ", ".join(wanted) or "none", measured, status, "primary")


def _invariants(lab: Lab, run: Run) -> Iterator[Row]:
    wanted = dict(run.scenario.expect.invariants)
    for name, finding in lab.invariants.verdicts().items():
        expected = wanted.get(name, "held")
        measured = "held" if finding is None else f"broken at {write_duration(finding.at_ns)}: {finding.detail}"
        status = OK if (expected == "held") == (finding is None) else BROKEN
        yield Row(name, expected, measured, status, name)


def _table(rows: tuple[Row, ...]) -> list[str]:
    """Lay rows out in columns; a long cell goes on below itself."""
    cells = [HEADINGS, *(row[:4] for row in rows)]
    widths = [min(WIDEST, max(len(row[place]) for row in cells)) for place in range(4)]
    lines = []
    for row in cells:
        columns = [wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, columns))):
            shown = (column[number] if number < len(column) else "" for column in columns)
            lines.append("  ".join(f"{cell:<{width}}" for cell, width in zip(shown, widths, strict=True)).rstrip())
    rule = "  ".join("-" * width for width in widths)
    return [lines[0], rule, *lines[1:]]
