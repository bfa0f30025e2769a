"""Running: carries out a scenario's timeline in a lab, one step after the other.

1. It is a state machine over plain data: the step, what it waits for, the results so far (R1, R2).  What it
   schedules in the lab's clock is ``("scenario", "", payload)``, so a lab may be saved between any two events.
2. A step begins at its instant or after the steps before it, whichever is later; a runbook reports its own end.
   So an operator does one thing after the other, and a step with an instant may begin late.
3. A fault or a note with an instant never waits: it happens then, beside a runbook that is in progress.  It goes
   before a step that has not begun though it is written above it; that step is late.  One that follows a named step,
   or waits for a condition, happens beside too, and the steps below do not wait for it.
4. A step with a condition looks whether it holds, from when its turn has come; one beside from when the step above it
   has begun.  A step that looked in vain is refused; one whose step above did not end as it wants is skipped.
5. A step whose result is not the expected one stops the timeline: the next steps assume that result.  One that may be
   refused is as expected either way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.lab.snapshot import take_luck
from labkit.scenario import witnesses
from labkit.scenario.conditions import Test, compiled, finding
from labkit.scenario.expect_keys import Expectations
from labkit.scenario.measures import OK, Seen, VerdictRow, checked
from labkit.scenario.scenario import Scenario, Step
from labkit.scenario.steps.dispositions import StepResult, why_skipped
from labkit.scenario.steps.step_timing import step_above
from labkit.scenario.steps.waiting import LOOK_NS, happens_beside, is_awaited, look, not_reached, too_late
from labkit.scenario.timed.over_time import OverTime
from labkit.scenario.timed.situations import ReachedSituations
from labkit.scenario.verb import RUNBOOK
from labkit.scenario.verbs import VERBS
from labkit.scenario.witnesses import FaultMade
from labkit.service.durations import MILLISECOND_NS

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults
    from labkit.lab.invariants import Invariants
    from labkit.lab.operations.operator_console import Finished
    from labkit.lab.parts import Parts

# The state of a step: it waits for its instant, looks whether its condition holds, is being started, is in progress; or
# the timeline is over.
WAITING, LOOKING, STARTING, WORKING, OVER = "waiting", "looking", "starting", "working", "over"


# How much later than written a step may begin without being reported: an operator's requests take some time.
LATE_NS = 100 * MILLISECOND_NS


class Run:
    """One scenario in one lab; ``due_ns`` is when the step in turn begins, None until all before it have ended.

    ``planned`` are the steps beside that are in the clock without an instant of their own, ``looking`` those whose
    condition does not hold yet, and since when; ``faults`` are the faults that steps made.
    """

    __slots__ = (
        "_conditions",
        "_faults",
        "_invariants",
        "_parts",
        "began_ns",
        "due_ns",
        "ended",
        "faults",
        "looking",
        "over_time",
        "planned",
        "reached",
        "results",
        "runbook",
        "scenario",
        "step_number",
        "step_state",
        "stopped",
    )

    def __init__(
        self,
        parts: Parts,
        faults: LabFaults,
        invariants: Invariants,
        scenario: Scenario,
        state: dict[str, Any] | None = None,
    ) -> None:
        kept = state or {}
        self._parts, self._faults, self._invariants, self.scenario = parts, faults, invariants, scenario
        self.step_number: int = kept.get("step_number", 1)
        self.step_state: str = kept.get("step_state", WAITING)
        self.runbook: int = kept.get("runbook", 0)
        self.began_ns: int = kept.get("began_ns", 0)
        self.due_ns: int | None = kept.get("due_ns")
        self.stopped: bool = kept.get("stopped", False)
        self.ended: bool = kept.get("ended", False)
        self.results: list[StepResult] = [StepResult(*row) for row in kept.get("results", ())]
        seen = self._seen()
        self.over_time = OverTime(scenario.over_time, seen, self._schedule_look, kept.get("over_time"))
        self.reached = ReachedSituations(scenario.covers, seen, kept.get("reached"))
        self.planned: tuple[int, ...] = tuple(kept.get("planned", ()))
        self.looking: dict[int, int] = dict(kept.get("looking", {}))
        self.faults: dict[int, FaultMade] = {key: FaultMade(*row) for key, row in kept.get("faults", {}).items()}
        self._conditions: dict[int, Test] = {}
        if state is None:
            if scenario.end_ns is not None:
                self._schedule(max(parts.now, scenario.end_ns), "end")
            for step in filter(happens_beside, scenario.timeline):
                if step.at_ns is not None:
                    self._schedule(max(parts.now, step.at_ns), "beside", step.number)
            self._plan()

    @classmethod
    def from_state(cls, parts: Parts, faults: LabFaults, invariants: Invariants, state: dict[str, Any]) -> Run:
        """Go on where a saved run stopped; the lab's clock holds what it scheduled."""
        scenario = Scenario.from_state(parts.blueprint, parts.seed, state["scenario"])
        return cls(parts, faults, invariants, scenario, state)

    def begun_again(self, parts: Parts, faults: LabFaults, invariants: Invariants) -> Run:
        """Begin the same scenario in another lab."""
        return Run(parts, faults, invariants, self.scenario)

    def __repr__(self) -> str:
        return (
            f"Run({self.scenario.title!r}, step {self.step_number} of {len(self.scenario.timeline)}, {self.step_state})"
        )

    @property
    def title(self) -> str:
        """What its scenario is called."""
        return self.scenario.title

    @property
    def seed(self) -> int:
        """The seed of the lab in which it runs."""
        return self._parts.seed

    @property
    def progress(self) -> str:
        """How far it is, in words: in a step, before one, or after the last."""
        ended = {result.number for result in self.results}
        left = [step for step in self.scenario.timeline if step.number not in ended]
        if self.step_state == WORKING:
            step = self.scenario.timeline[self.step_number - 1]
            return f"in step {step.number}: {step.text}"
        if self.step_state == OVER or not left:
            return "after the last step"
        return f"before step {left[0].number}: {left[0].text}"

    def state(self) -> dict[str, Any]:
        """Return the run and what it needs of its scenario as plain values."""
        return {
            "scenario": self.scenario.state(),
            "step_number": self.step_number,
            "step_state": self.step_state,
            "runbook": self.runbook,
            "began_ns": self.began_ns,
            "due_ns": self.due_ns,
            "stopped": self.stopped,
            "ended": self.ended,
            "results": tuple(self.results),
            "over_time": self.over_time.state(),
            "reached": self.reached.state(),
            "planned": self.planned,
            "looking": dict(self.looking),
            "faults": dict(self.faults),
        }

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """An item of the clock fell due: a step begins, a pause is over, or the scenario ends."""
        kind, number = payload
        if self.ended:
            return
        if kind == "end":
            self.ended = True
            self.over_time.end()
            self.reached.close()
        elif kind == "over time":
            self.over_time.on_timer(number)
        elif kind == "beside":
            self._begin_beside(self.scenario.timeline[number - 1])
        elif kind == "when":
            self._look_first(self.scenario.timeline[number - 1])
        elif number == self.step_number and kind == "begin" and self.step_state == WAITING:
            self._begin(self.scenario.timeline[number - 1])
        elif number == self.step_number and kind == "pause" and self.step_state == WORKING:
            self._finish(True, "")
        elif number == self.step_number and kind == "look" and self.step_state == WORKING:
            self._look(self.scenario.timeline[number - 1])

    def on_runbook(self, number: int, finished: Finished) -> None:
        """A runbook ended; one that this run did not start is ignored."""
        ours = self.step_state == STARTING or (self.step_state == WORKING and number == self.runbook)
        if ours and not self.ended:
            self._parts.console.finished.pop(number, None)
            self._finish(finished.ok, finished.text)

    def _plan(self) -> None:
        """Schedule the step in turn once all before it have ended; without one, the end, unless the file sets it."""
        steps, ended = self.scenario.timeline, {result.number for result in self.results}
        self._plan_beside()
        if self.stopped or len(ended) == len(steps):
            self.step_state, self.step_number = OVER, len(steps) + 1
            self.looking.clear()
            if self.scenario.end_ns is None:
                self._schedule(max(self._parts.now, self.scenario.work_until_ns) + self.scenario.settle_ns, "end")
            return
        step = next((step for step in steps if step.number not in ended and not happens_beside(step)), None)
        if step is None or self.due_ns is not None:
            return
        self.step_number = step.number
        if all(before.number in ended for before in filter(is_awaited, steps[: step.number - 1])):
            self.due_ns = self._due_ns(step)
            if self.due_ns is not None:
                self._schedule(self.due_ns, "begin", step.number)

    def _plan_beside(self) -> None:
        """Schedule the steps beside that follow what has happened by now."""
        for step in self.scenario.timeline:
            loose = happens_beside(step) and step.at_ns is None and step.number not in self.planned
            due_ns = self._due_beside_ns(step) if loose and not self.stopped else None
            if due_ns is not None:
                self.planned = (*self.planned, step.number)
                self._schedule(due_ns, "beside", step.number)

    def _due_beside_ns(self, step: Step) -> int | None:
        """When a step beside without an instant is due; None until that is known."""
        above = step_above(step, self.scenario.timeline)
        if step.after_step or above is None:
            return self._due_ns(step)
        since_ns = self._instant_of(above.number, began=not step.after_ns)
        return None if since_ns is None else max(self._parts.now, since_ns + step.after_ns)

    def _due_ns(self, step: Step) -> int | None:
        """When a step is due after those above it, or after the one that it names; None while that is not over."""
        now_ns = self._parts.now
        if not step.after_step:
            return max(now_ns + step.after_ns, step.at_ns or 0)
        since_ns = self._instant_of(step.after_step, began=step.from_beginning)
        return None if since_ns is None else max(now_ns, since_ns + step.after_ns)

    def _instant_of(self, number: int, *, began: bool) -> int | None:
        """When a step began or ended; None before that."""
        result = next((result for result in self.results if result.number == number), None)
        if result is not None:
            return result.began_ns if began else result.ended_ns
        in_progress = number == self.step_number and self.step_state in (STARTING, WORKING)
        return self.began_ns if began and in_progress else None

    def _schedule(self, at_ns: int, kind: str, number: int = 0) -> None:
        self._parts.clock.at(at_ns, ("scenario", "", (kind, number)))

    def _schedule_look(self, at_ns: int, payload: tuple[str, int, int]) -> None:
        self._parts.clock.at(at_ns, ("scenario", "", ("over time", payload)))

    def _begin(self, step: Step) -> None:
        """The turn of a step has come: skip it, look whether its condition holds, or carry it out."""
        reason = why_skipped(step, self.scenario.timeline, {result.number: result for result in self.results})
        if reason:
            now_ns = self._parts.now
            self._take(step, StepResult(step.number, now_ns, now_ns, False, reason, skipped=True))
        elif step.condition is None:
            self._carry_out(step)
        else:
            self.step_state = LOOKING
            self._look_first(step)

    def _carry_out(self, step: Step) -> None:
        parts, verb, arguments = self._parts, VERBS[step.verb], dict(step.arguments)
        self.began_ns, self.step_state = parts.now, STARTING
        parts.trace.record(("step", parts.now, step.number, step.text, "begins"))
        self.over_time.on_step(step.number, began=True)
        self._plan_beside()
        if verb.kind == RUNBOOK:
            self._start(step, arguments)
        elif step.verb == "wait":
            self.step_state = WORKING
            if arguments.get("until") is None:
                self._schedule(parts.now + arguments["for"], "pause", step.number)
            else:
                self._look(step)
        else:
            self._finish(*self._happen(step))

    def _start(self, step: Step, arguments: dict[str, Any]) -> None:
        try:
            number = self._parts.console.start(step.verb, **VERBS[step.verb].runbook_arguments(arguments))
        except ValueError as error:
            self._finish(False, str(error))
            return
        # A runbook that had to wait for no answer has ended already.
        if self.step_state == STARTING:
            self.step_state, self.runbook = WORKING, number

    def _look(self, step: Step) -> None:
        """Look whether the condition that a step waits for holds; look again soon, until its time is over."""
        arguments, now_ns = dict(step.arguments), self._parts.now
        sight = look(arguments["until"], self._seen())
        if sight.holds:
            self._finish(True, "")
        elif too_late(self.began_ns, arguments["within"], now_ns):
            self._finish(False, not_reached(self.began_ns, now_ns, sight.found))
        else:
            self._schedule(now_ns + LOOK_NS, "look", step.number)

    def _look_first(self, step: Step) -> None:
        """Look whether the condition holds that a step waits for before it begins; look again soon, or refuse it."""
        if self.stopped:
            return
        now_ns, seen = self._parts.now, self._seen()
        since_ns = self.looking.setdefault(step.number, now_ns)
        assert step.condition is not None
        holds = self._conditions.get(step.number) or compiled(step.condition, seen)
        self._conditions[step.number] = holds
        if holds() is True:
            del self.looking[step.number]
            (self._happen_beside if happens_beside(step) else self._carry_out)(step)
        elif too_late(since_ns, step.within_ns, now_ns):
            del self.looking[step.number]
            said = not_reached(since_ns, now_ns, finding(step.condition, seen).text)
            self._take(step, StepResult(step.number, now_ns, now_ns, False, said))
        else:
            self._schedule(now_ns + LOOK_NS, "when", step.number)

    def _begin_beside(self, step: Step) -> None:
        """A fault or note at its instant; a step that is written above it and due at the same instant goes first."""
        while self.step_state == WAITING and self.step_number < step.number and self.due_ns == self._parts.now:
            self._begin(self.scenario.timeline[self.step_number - 1])
        if self.stopped:
            return
        (self._happen_beside if step.condition is None else self._look_first)(step)

    def _happen_beside(self, step: Step) -> None:
        now_ns = self._parts.now
        self._parts.trace.record(("step", now_ns, step.number, step.text, "begins"))
        self.over_time.on_step(step.number, began=True)
        self._take(step, StepResult(step.number, now_ns, now_ns, *self._happen(step)))

    def _seen(self) -> Seen:
        return Seen(self._faults.queries, self._parts.ledger, self._invariants, self.results)

    def _check(self, arguments: dict[str, Any]) -> tuple[bool, str, tuple[VerdictRow, ...]]:
        rows = checked(Expectations.of(arguments), self._seen())
        wrong = [f"{row.what}: expected {row.expected}, got {row.measured}" for row in rows if row.status != OK]
        return not wrong, "; ".join(wrong), rows

    def _happen(self, step: Step) -> tuple[Any, ...]:
        """Carry out a step that takes no time; return whether it was done, and why not; of a check its rows too."""
        fault, arguments = VERBS[step.verb].fault, dict(step.arguments)
        if step.verb == "check":
            return self._check(arguments)
        if step.verb == "luck":
            take_luck(self._parts, arguments["number"])
            return True, ""
        if fault is None:
            self._parts.trace.record(("note", self._parts.now, arguments["text"]))
            return True, ""
        looked = witnesses.before(self._faults.meters)
        try:
            fault(self._faults, arguments)
        except ValueError as error:
            return False, str(error)
        self.faults[step.number] = witnesses.made(self._faults.meters, looked)
        return True, ""

    def _finish(self, ok: bool, message: str, rows: tuple[VerdictRow, ...] = ()) -> None:
        """The step in turn ended."""
        step = self.scenario.timeline[self.step_number - 1]
        self._take(step, StepResult(step.number, self.began_ns, self._parts.now, ok, message, rows))

    def _take(self, step: Step, result: StepResult) -> None:
        """Take the result of a step: go on to the next one when it is the expected one."""
        status = "done" if result.ok else "skipped" if result.skipped else "failed"
        self.results.append(result)
        self._parts.trace.record(("step", self._parts.now, step.number, result.message or step.text, status))
        self.over_time.on_step(step.number, began=False)
        self.stopped = self.stopped or not result.as_expected(step)
        if not happens_beside(step):
            self.runbook, self.due_ns, self.step_state = 0, None, WAITING
        if self.step_state in (WAITING, LOOKING):
            self._plan()
        else:
            self._plan_beside()
