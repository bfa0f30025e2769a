"""Running: carries out a scenario's timeline in a lab, one step after the other.

1. It is a state machine over plain data: the step, what it waits for, the results so far (R1, R2).  What it
   schedules in the lab's clock is ``("scenario", "", payload)``, so a lab may be saved between any two events.
2. A step begins at its instant or after the step before it, whichever is later; a runbook reports its own end.
3. A step whose result is not the expected one stops the timeline: the next steps assume that result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.scenario.scenario import Scenario, Step
from labkit.scenario.verbs import RUNBOOK, VERBS

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults
    from labkit.lab.operator_console import Finished
    from labkit.lab.parts import Parts

# The state of a step: it waits for its instant, is being started, is in progress; or the timeline is over.
WAITING, STARTING, WORKING, OVER = "waiting", "starting", "working", "over"


class StepResult(NamedTuple):
    """The result of one step: when it began and ended, whether it was done, and the message at its end."""

    number: int
    began_ns: int
    ended_ns: int
    ok: bool
    message: str

    def as_expected(self, step: Step) -> bool:
        """Whether it is what the file expects: done, or refused with the expected text."""
        return self.ok if step.fails is None else not self.ok and step.fails in self.message


class Run:
    """One scenario in one lab."""

    __slots__ = (
        "_faults",
        "_parts",
        "began_ns",
        "ended",
        "results",
        "runbook",
        "scenario",
        "step_number",
        "step_state",
    )

    def __init__(
        self, parts: Parts, faults: LabFaults, scenario: Scenario, state: dict[str, Any] | None = None
    ) -> None:
        kept = state or {}
        self._parts, self._faults, self.scenario = parts, faults, scenario
        self.step_number: int = kept.get("step_number", 1)
        self.step_state: str = kept.get("step_state", WAITING)
        self.runbook: int = kept.get("runbook", 0)
        self.began_ns: int = kept.get("began_ns", 0)
        self.ended: bool = kept.get("ended", False)
        self.results: list[StepResult] = [StepResult(*row) for row in kept.get("results", ())]
        if state is None:
            if scenario.end_ns is not None:
                self._schedule(max(parts.now, scenario.end_ns), "end")
            self._plan()

    @classmethod
    def from_state(cls, parts: Parts, faults: LabFaults, state: dict[str, Any]) -> Run:
        """Go on where a saved run stopped; the lab's clock holds what it scheduled."""
        return cls(parts, faults, Scenario.from_state(parts.blueprint, parts.seed, state["scenario"]), state)

    def __repr__(self) -> str:
        return (
            f"Run({self.scenario.title!r}, step {self.step_number} of {len(self.scenario.timeline)}, {self.step_state})"
        )

    @property
    def seed(self) -> int:
        """The seed of the lab in which it runs."""
        return self._parts.seed

    @property
    def step(self) -> Step | None:
        """The step that is in progress or comes next; None when the timeline is over."""
        steps = self.scenario.timeline
        return steps[self.step_number - 1] if self.step_state != OVER and self.step_number <= len(steps) else None

    def state(self) -> dict[str, Any]:
        """Return the run and what it needs of its scenario as plain values."""
        return {
            "scenario": self.scenario.state(),
            "step_number": self.step_number,
            "step_state": self.step_state,
            "runbook": self.runbook,
            "began_ns": self.began_ns,
            "ended": self.ended,
            "results": tuple(self.results),
        }

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """An item of the clock fell due: a step begins, a pause is over, or the scenario ends."""
        kind, step_number = payload
        if self.ended:
            return
        if kind == "end":
            self.ended = True
        elif step_number == self.step_number and kind == "begin" and self.step_state == WAITING:
            self._begin(self.scenario.timeline[step_number - 1])
        elif step_number == self.step_number and kind == "pause" and self.step_state == WORKING:
            self._finish(True, "")

    def on_runbook(self, number: int, finished: Finished) -> None:
        """A runbook ended; one that this run did not start is ignored."""
        ours = self.step_state == STARTING or (self.step_state == WORKING and number == self.runbook)
        if ours and not self.ended:
            self._parts.console.finished.pop(number, None)
            self._finish(finished.ok, finished.text)

    def _plan(self) -> None:
        """Schedule the next step; without one, the end, unless the file sets it."""
        step = self.step
        if step is not None:
            self.step_state = WAITING
            self._schedule(max(self._parts.now + step.after_ns, step.at_ns), "begin")
            return
        self.step_state = OVER
        if self.scenario.end_ns is None:
            self._schedule(max(self._parts.now, self.scenario.work_until_ns) + self.scenario.settle_ns, "end")

    def _schedule(self, at_ns: int, kind: str) -> None:
        self._parts.clock.at(at_ns, ("scenario", "", (kind, self.step_number)))

    def _begin(self, step: Step) -> None:
        parts, verb, arguments = self._parts, VERBS[step.verb], dict(step.arguments)
        self.began_ns, self.step_state = parts.now, STARTING
        parts.trace.record(("step", parts.now, step.number, step.text, "begins"))
        if verb.kind == RUNBOOK:
            number = parts.console.start(step.verb, **arguments)
            # A runbook that had to wait for no answer has ended already.
            if self.step_state == STARTING:
                self.step_state, self.runbook = WORKING, number
        elif verb.fault is not None:
            try:
                verb.fault(self._faults, arguments)
            except ValueError as error:
                self._finish(False, str(error))
            else:
                self._finish(True, "")
        elif step.verb == "wait":
            self.step_state = WORKING
            self._schedule(parts.now + arguments["for"], "pause")
        else:
            parts.trace.record(("note", parts.now, arguments["text"]))
            self._finish(True, "")

    def _finish(self, ok: bool, message: str) -> None:
        """A step ended: go on to the next one when the result is the expected one."""
        parts, step = self._parts, self.scenario.timeline[self.step_number - 1]
        result = StepResult(step.number, self.began_ns, parts.now, ok, message)
        self.results.append(result)
        parts.trace.record(("step", parts.now, step.number, message or step.text, "done" if ok else "failed"))
        self.runbook = 0
        self.step_number = self.step_number + 1 if result.as_expected(step) else len(self.scenario.timeline) + 1
        self._plan()
