"""Verdict: what a scenario expects, what was measured in its lab, and whether the one fits the other.

*ok* and *broken* are certain.  *unknown* means that there was no occasion to judge: a step that was not reached, a
recovery time without a promotion.  A measure without an expectation is listed and not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.lab.fault_meters import FaultMeters
from labkit.scenario.documents.combination import NO_COMBINATION, Combination
from labkit.scenario.measures import BROKEN, OK, UNKNOWN, Seen, VerdictRow, judged_invariants, measured
from labkit.scenario.report import html_table, report, table
from labkit.scenario.running import LATE_NS, WORKING, Run
from labkit.scenario.scenario import MAYBE, Step
from labkit.scenario.steps.dispositions import StepResult
from labkit.scenario.steps.waiting import happens_beside, is_awaited
from labkit.scenario.timed.spanning import COVERS, Sighting, spanned
from labkit.scenario.value_types import write_duration
from labkit.scenario.witnesses import rows_of_effects

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.queries import Queries
    from labkit.lab.records.loss_and_outage import RecoveryLedger
    from labkit.scenario.scenario import Scenario
    from labkit.trace import Trace

JUDGEMENTS = {0: "as expected", 1: "not as expected", 3: "unknown"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on one run of a scenario."""

    title: str
    seed: int
    at_ns: int
    rows: tuple[VerdictRow, ...]
    sightings: tuple[Sighting, ...] = ()
    combination: Combination = NO_COMBINATION

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 otherwise, 3 unknown."""
        found = {row.status for row in self.rows}
        return 1 if BROKEN in found else 3 if UNKNOWN in found else 0

    @property
    def word(self) -> str:
        """The judgement in words."""
        return JUDGEMENTS[self.exit_code]

    @property
    def summary(self) -> str:
        """The judgement in one line."""
        played = f"{self.combination.text}, " if self.combination.values else ""
        return f"{self.title}: {self.word} ({played}seed {self.seed}, {write_duration(self.at_ns)} of lab time)"

    def failures(self) -> tuple[VerdictRow, ...]:
        """The rows that are not as expected."""
        return tuple([row for row in self.rows if row.status in (BROKEN, UNKNOWN)])

    def report(self, scenario: Scenario, trace: Trace) -> str:
        """Return what a reader needs of a run that was not as expected."""
        return report(scenario, self.seed, self.summary, self.failures(), trace)

    def text(self, columns: int) -> str:
        """Return the table in plain text, no wider than a number of columns."""
        return table(self.rows, self.summary, columns)

    def __str__(self) -> str:
        return table(self.rows, self.summary)

    def _repr_html_(self) -> str:
        return html_table(self.rows, self.summary)


def judge(run: Run, queries: Queries, ledger: RecoveryLedger, invariants: Invariants, *, alone: bool = True) -> Verdict:
    """Judge a run by its scenario; ``alone``: it is the only one of its file, so what any run is to show, it shows."""
    now_ns = queries.now
    seen = Seen(queries, ledger, invariants, run.results)
    expect, steps, sightings = run.scenario.expect, run.scenario.timeline, sightings_of(run)
    rows = (
        *_steps(run, now_ns),
        *(rows_of_effects(steps, run.faults, FaultMeters(queries.parts)) if run.faults else ()),
        *measured(expect, seen),
        *judged_invariants(expect, seen),
        *run.over_time.rows(),
        *spanned([sightings], judged=alone),
    )
    return Verdict(
        title=run.scenario.title,
        seed=run.seed,
        at_ns=now_ns,
        rows=rows,
        sightings=sightings,
        combination=run.scenario.combination,
    )


def sightings_of(run: Run) -> tuple[Sighting, ...]:
    """Return what one run saw of all that its file wants to be seen in any of its runs."""
    conditions = [Sighting(timed.key, timed.label, timed.text, seen) for timed, seen in run.over_time.sightings()]
    reached = [Sighting(f"{COVERS} {name}", name, "reached", seen) for name, seen in run.reached.sightings()]
    return (*conditions, *reached)


def _steps(run: Run, now_ns: int) -> Iterator[VerdictRow]:
    """One row for the whole timeline, and one for each step that had to fail or had an unexpected result."""
    steps, results = run.scenario.timeline, {result.number: result for result in run.results}
    if steps:
        count = sum(results[step.number].as_expected(step) for step in steps if step.number in results)
        status = OK if count == len(steps) else BROKEN if count < len(results) else UNKNOWN
        yield VerdictRow("timeline", _steps_of(len(steps)), f"{count} as written", status, "timeline")
    for step in steps:
        if step.number in results:
            result = results[step.number]
            yield from _result(step, result)
            yield from () if result.skipped else _lateness(step, result.began_ns, steps)
    yield from _unreached(run, tuple([step for step in steps if step.number not in results]))
    if not run.ended:
        yield VerdictRow("the end", "reached", f"not reached at {write_duration(now_ns)}", UNKNOWN, "end")


def _result(step: Step, result: StepResult) -> Iterator[VerdictRow]:
    """Yield a row for a step whose answer is judged, that had to fail or had an unexpected result; those of a check."""
    good = result.as_expected(step)
    if result.rows:
        for row in result.rows:
            yield row._replace(what=f"{_key(step)}: {row.what}", key=_key(step))
    elif dict(step.arguments).get("answer") and good:
        yield VerdictRow(_title(step), _expected_answer(step), result.message.rpartition(": ")[2], OK, _key(step))
    elif result.skipped:
        yield VerdictRow(_title(step), f"done if the step above was {step.when}", _skipped(result), OK, _key(step))
    elif step.fails is not None or not good:
        measured = f"refused: {result.message}" if not result.ok else "done"
        yield VerdictRow(_title(step), _expected_result(step), measured, OK if good else BROKEN, _key(step))


def _lateness(step: Step, began_ns: int, steps: tuple[Step, ...]) -> Iterator[VerdictRow]:
    """Yield a row for a step that began later than its instant, or than a fault written below it.

    What followed was another run than the one that is written, so the verdict is unknown unless the file allows it.
    """
    if step.condition is not None or step.after_step:
        return  # it begins when it may
    instants = [(step.at_ns, f"written for {write_duration(step.at_ns)}")] if step.at_ns is not None else []
    for later in steps[step.number :]:
        if later.at_ns is not None and happens_beside(later) and is_awaited(later):
            text = f"written above step {later.number}, which began {write_duration(later.at_ns)}"
            instants.append((later.at_ns, text))
    due_ns, written = min(instants, default=(began_ns, ""), key=lambda instant: instant[0])
    if began_ns - due_ns > LATE_NS and not happens_beside(step):
        measured = f"{written}, began {write_duration(began_ns)}"
        expected = "begins late: ok" if step.late_ok else "begins as written, or has late: ok"
        yield VerdictRow(_title(step), expected, measured, OK if step.late_ok else UNKNOWN, f"{_key(step)} at")


def _unreached(run: Run, left: tuple[Step, ...]) -> Iterator[VerdictRow]:
    """Yield rows for the steps without a result: the one in progress, and how many did not begin."""
    if run.step_state == WORKING:
        step = run.scenario.timeline[run.step_number - 1]
        left = tuple([other for other in left if other.number != step.number])
        yield VerdictRow(_title(step), _expected_result(step), "still in progress at the end", UNKNOWN, _key(step))
    for step in left:
        if step.number in run.looking and step.condition is not None:
            measured = f"waited for {step.condition.text} at the end"
            yield VerdictRow(_title(step), _expected_result(step), measured, UNKNOWN, _key(step))
    left = tuple([step for step in left if step.number not in run.looking])
    if left:
        step, more = left[0], " …" if len(left) > 1 else ""
        measured = f"{_steps_of(len(left))} not begun"
        yield VerdictRow(f"{_title(step)}{more}", _expected_result(step), measured, UNKNOWN, _key(step))


def _skipped(result: StepResult) -> str:
    return f"skipped: {result.message}"


def _steps_of(count: int) -> str:
    return f"{count} step{'s' if count != 1 else ''}"


def _key(step: Step) -> str:
    return f"step {step.number}"


def _title(step: Step) -> str:
    return f"step {step.number}: {step.text}"


def _expected_result(step: Step) -> str:
    if step.fails is None or step.fails == MAYBE:
        return "done" if step.fails is None else "done or refused"
    return f"refused, saying {step.fails}" if step.fails else "refused"


def _expected_answer(step: Step) -> str:
    wanted = dict(step.arguments)["answer"]
    status = "a success" if wanted["status"] is None else str(wanted["status"])
    members = ", ".join((*wanted["has"], *wanted["lacks"]))
    says = f", saying {wanted['says']}" if wanted["says"] else ""
    return f"{status}{says}{f'; judged: {members}' if members else ''}"
