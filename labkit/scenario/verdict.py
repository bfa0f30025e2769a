"""Verdict: what a scenario expects, what was measured in its lab, and whether the one fits the other.

*ok* and *broken* are certain.  *unknown* means that there was no occasion to judge: a step that was not reached, a
recovery time without a promotion.  A measure without an expectation is listed and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from labkit.lab.lag import furthest_behind
from labkit.scenario.report import VerdictRow, html_table, report, table
from labkit.scenario.running import LATE_NS, WORKING, Run, StepResult, happens_beside
from labkit.scenario.scenario import ExpectedRange, Step
from labkit.scenario.value_types import write_duration
from labkit.service.durations import SECOND_NS

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.loss_and_outage import RecoveryLedger
    from labkit.lab.queries import Queries
    from labkit.scenario.scenario import Scenario
    from labkit.trace import Trace

OK, BROKEN, UNKNOWN, NOT_JUDGED = "ok", "broken", "unknown", ""
WORDS = {0: "as expected", 1: "not as expected", 3: "unknown"}

COUNTS = {
    "acknowledged": "writes acknowledged",
    "lost": "of them lost",
    "unknown": "operations unknown",
    "refused": "operations refused",
}
TIMES = {"rpo": "recovery point (RPO)", "rto": "recovery time (RTO)"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on one run of a scenario."""

    title: str
    seed: int
    at_ns: int
    rows: tuple[VerdictRow, ...]

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

    def failures(self) -> tuple[VerdictRow, ...]:
        """The rows that are not as expected."""
        return tuple(row for row in self.rows if row.status in (BROKEN, UNKNOWN))

    def report(self, scenario: Scenario, trace: Trace) -> str:
        """Return what a reader needs of a run that was not as expected."""
        return report(scenario, self.seed, self.summary, self.failures(), trace)

    def __str__(self) -> str:
        return table(self.rows, self.summary)

    def _repr_html_(self) -> str:
        return html_table(self.rows, self.summary)


def judge(run: Run, queries: Queries, ledger: RecoveryLedger, invariants: Invariants) -> Verdict:
    """Judge a run by its scenario."""
    now_ns = queries.now
    rows = (
        *_steps(run, now_ns),
        *_counts(run, ledger),
        *_times(run, ledger),
        *_lags(run, queries),
        *_roots(run, queries),
        *_primaries(run, queries),
        *_invariants(run, invariants),
    )
    return Verdict(title=run.scenario.title, seed=run.seed, at_ns=now_ns, rows=rows)


def _steps(run: Run, now_ns: int) -> Iterator[VerdictRow]:
    """One row for the whole timeline, and one for each step that had to fail or had an unexpected result."""
    steps, results = run.scenario.timeline, {result.number: result for result in run.results}
    if steps:
        count = sum(results[step.number].as_expected(step) for step in steps if step.number in results)
        status = OK if count == len(steps) else BROKEN if count < len(results) else UNKNOWN
        yield VerdictRow("timeline", _steps_of(len(steps)), f"{count} as written", status, "timeline")
    for step in steps:
        if step.number in results:
            yield from _result(step, results[step.number])
            yield from _lateness(step, results[step.number].began_ns, steps)
    yield from _unreached(run, tuple(step for step in steps if step.number not in results))
    if not run.ended:
        yield VerdictRow("the end", "reached", f"not reached at {write_duration(now_ns)}", UNKNOWN, "end")


def _result(step: Step, result: StepResult) -> Iterator[VerdictRow]:
    """Yield a row for a step that had to fail or had an unexpected result."""
    good = result.as_expected(step)
    if step.fails is not None or not good:
        measured = f"refused: {result.message}" if not result.ok else "done"
        yield VerdictRow(_title(step), _expected_result(step), measured, OK if good else BROKEN, _key(step))


def _lateness(step: Step, began_ns: int, steps: tuple[Step, ...]) -> Iterator[VerdictRow]:
    """Yield a row for a step that began later than its instant, or than a fault written below it.

    What followed was another run than the one that is written, so the verdict is unknown unless the file allows it.
    """
    instants = [(step.at_ns, f"written for {write_duration(step.at_ns)}")] if step.at_ns is not None else []
    for later in filter(happens_beside, steps[step.number :]):
        at_ns = later.at_ns or 0
        instants.append((at_ns, f"written above step {later.number}, which began {write_duration(at_ns)}"))
    due_ns, written = min(instants, default=(began_ns, ""), key=lambda instant: instant[0])
    if began_ns - due_ns > LATE_NS and not happens_beside(step):
        measured = f"{written}, began {write_duration(began_ns)}"
        expected = "begins late: ok" if step.late_ok else "begins as written, or has late: ok"
        yield VerdictRow(_title(step), expected, measured, OK if step.late_ok else UNKNOWN, f"{_key(step)} at")


def _unreached(run: Run, left: tuple[Step, ...]) -> Iterator[VerdictRow]:
    """Yield rows for the steps without a result: the one in progress, and how many did not begin."""
    if run.step_state == WORKING:
        step = run.scenario.timeline[run.step_number - 1]
        left = tuple(other for other in left if other.number != step.number)
        yield VerdictRow(_title(step), _expected_result(step), "still in progress at the end", UNKNOWN, _key(step))
    if left:
        step, more = left[0], " …" if len(left) > 1 else ""
        measured = f"{_steps_of(len(left))} not begun"
        yield VerdictRow(f"{_title(step)}{more}", _expected_result(step), measured, UNKNOWN, _key(step))


def _steps_of(count: int) -> str:
    return f"{count} step{'s' if count != 1 else ''}"


def _key(step: Step) -> str:
    return f"step {step.number}"


def _title(step: Step) -> str:
    return f"step {step.number}: {step.text}"


def _expected_result(step: Step) -> str:
    if step.fails is None:
        return "done"
    return f"refused, saying {step.fails}" if step.fails else "refused"


def _counts(run: Run, ledger: RecoveryLedger) -> Iterator[VerdictRow]:
    ranges, after_fault = _ranges(run), ledger.rpo().after_fault
    measured = {
        "acknowledged": len(ledger.writes),
        "lost": len(ledger.lost()),
        "unknown": ledger.unknown,
        "refused": ledger.refused,
    }
    for key, what in COUNTS.items():
        count, expected = measured[key], ranges.get(key)
        text = f"{count}, {after_fault} of them after the fault" if key == "lost" and after_fault else str(count)
        yield VerdictRow(what, _range_text(str, expected), text, _status(expected, count), key)


def _times(run: Run, ledger: RecoveryLedger) -> Iterator[VerdictRow]:
    ranges = _ranges(run)
    point = ledger.rpo().seconds if ledger.promotions else None
    for key, seconds in (("rpo", point), ("rto", ledger.rto().seconds)):
        expected = ranges.get(key)
        text = _range_text(write_duration, expected)
        if seconds is not None:
            time_ns = round(seconds * SECOND_NS)
            yield VerdictRow(TIMES[key], text, write_duration(time_ns), _status(expected, time_ns), key)
        elif expected is not None:
            why = "no client wrote to the survivor" if ledger.promotions else "no cluster was promoted"
            yield VerdictRow(TIMES[key], text, why, UNKNOWN, key)


def _ranges(run: Run) -> dict[str, ExpectedRange]:
    return {expected.measure: expected for expected in run.scenario.expect.ranges}


def _range_text(write: Callable[[int], str], expected: ExpectedRange | None) -> str:
    """Write a range for people; an empty text when nothing is expected."""
    if expected is None:
        return ""
    low, high = (None if end is None else write(end) for end in (expected.low, expected.high))
    if low == high:
        return str(low)
    return " and ".join(f"{word} {end}" for word, end in (("at least", low), ("at most", high)) if end is not None)


def _status(expected: ExpectedRange | None, value: float) -> str:
    if expected is None:
        return NOT_JUDGED
    low_enough = expected.high is None or value <= expected.high
    return OK if low_enough and (expected.low is None or value >= expected.low) else BROKEN


def _lags(run: Run, queries: Queries) -> Iterator[VerdictRow]:
    """Judge the secondary that is furthest behind; without an expectation lag is not listed."""
    ranges = _ranges(run)
    if not {"lag", "lag time"} & set(ranges):
        return
    lags = queries.lags()
    entries, seconds = furthest_behind(lags.values())
    texts = {name: lag.text for name, lag in lags.items()}
    times = {name: _seconds_text(lag.seconds) for name, lag in lags.items()}
    rows = (("lag", entries, texts, str), ("lag time", seconds * SECOND_NS, times, write_duration))
    for key, value, words, write in rows:
        expected = ranges.get(key)
        if expected is not None:
            measured = "; ".join(f"{name}: {text}" for name, text in words.items()) or "no cluster follows another"
            status = _status(expected, value) if lags else UNKNOWN
            yield VerdictRow(key, _range_text(write, expected), measured, status, key)


def _seconds_text(seconds: float) -> str:
    return write_duration(round(seconds * SECOND_NS)) if seconds < inf else "no complete state yet"


def _roots(run: Run, queries: Queries) -> Iterator[VerdictRow]:
    """Compare the roots of each secondary and of the primary that it follows."""
    expected = run.scenario.expect.roots
    secondaries = [name for name, mode in _modes(run, queries).items() if mode == "secondary"]
    pairs = [(upstream, name) for name in secondaries if (upstream := queries.upstream_of(name))]
    leaderless = [name for pair in pairs for name in pair if not queries.root(name)]
    differing = [f"{one} and {other} differ" for one, other in pairs if queries.root(one) != queries.root(other)]
    if pairs and not leaderless:
        measured = "different" if differing else "equal"
        status = NOT_JUDGED if expected is None else OK if measured == expected else BROKEN
        yield VerdictRow("roots", expected or "", ": ".join([measured, *differing[:1]]), status, "roots")
    elif expected is not None:
        why = f"{leaderless[0]} has no active node" if leaderless else "no cluster follows another"
        yield VerdictRow("roots", expected, why, UNKNOWN, "roots")


def _primaries(run: Run, queries: Queries) -> Iterator[VerdictRow]:
    expected = run.scenario.expect.primary
    modes = _modes(run, queries)
    found = sorted(name for name, mode in modes.items() if mode == "primary")
    leaderless = sorted(name for name, mode in modes.items() if mode == "unknown")
    measured = ", ".join(found) or "none"
    if leaderless:
        measured += f" ({', '.join(leaderless)} has no active node)"
    if expected is None:
        yield VerdictRow("primary", "", measured, NOT_JUDGED, "primary")
        return
    if tuple(found) == expected:
        status = OK
    else:
        # A cluster without an active node may still be what was expected of it.
        status = UNKNOWN if set(found) <= set(expected) <= {*found, *leaderless} else BROKEN
    yield VerdictRow("primary", ", ".join(expected) or "none", measured, status, "primary")


def _modes(run: Run, queries: Queries) -> dict[str, str]:
    return {plan.name: queries.mode_of(plan.name) for plan in run.scenario.blueprint.clusters}


def _invariants(run: Run, invariants: Invariants) -> Iterator[VerdictRow]:
    written = dict(run.scenario.expect.invariants)
    for name, violation in invariants.verdicts().items():
        if not invariants.applies(name):
            expected = written.get(name, "")
            status = NOT_JUDGED if not expected else OK if expected == "held" else BROKEN
            yield VerdictRow(name, expected, "does not apply", status, name)
            continue
        expected = written.get(name, "held")
        measured = "held" if violation is None else f"broken at {write_duration(violation.at_ns)}: {violation.detail}"
        status = OK if (expected == "held") == (violation is None) else BROKEN
        yield VerdictRow(name, expected, measured, status, name)
