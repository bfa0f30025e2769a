"""Running: works through a scenario's timeline in a lab, as one operator would, step after step.

1. It is a state machine over plain data: where it stands, what it waits for, how each step went (R1, R2).  What it
   schedules in the lab's clock is ``("scenario", "", payload)``, so a lab may be saved between any two events.
2. A step begins at its instant or after the step before it, whichever is later; a runbook ends when it says so.
3. A step that does not go as its file says stops the timeline: what comes after it was meant for another situation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.scenario.scenario import Scenario, Step
from labkit.scenario.verbs import RUNBOOK, VERBS

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults
    from labkit.lab.operator_console import Finished
    from labkit.lab.parts import Parts

# What a run waits for: a clock item for the next step, the end of a runbook (whose number is kept), or nothing more.
WAITING, STARTING, WORKING, OVER = "waiting", "starting", "working", "over"


class StepResult(NamedTuple):
    """How one step went: when it began and ended, whether it was done, and what was said at its end."""

    number: int
    began_ns: int
    ended_ns: int
    ok: bool
    said: str

    def as_wanted(self, step: Step) -> bool:
        """Whether it went as the file says: done, or refused in the words that were foretold."""
        return self.ok if step.fails is None else not self.ok and step.fails in self.said


class Run:
    """One scenario being played in one lab."""

    __slots__ = ("_faults", "_lab", "began_ns", "ended", "place", "results", "runbook", "scenario", "standing")

    def __init__(self, lab: Parts, faults: LabFaults, scenario: Scenario, state: dict[str, Any] | None = None) -> None:
        kept = state or {}
        self._lab, self._faults, self.scenario = lab, faults, scenario
        self.place: int = kept.get("place", 0)
        self.standing: str = kept.get("standing", WAITING)
        self.runbook: int = kept.get("runbook", 0)
        self.began_ns: int = kept.get("began_ns", 0)
        self.ended: bool = kept.get("ended", False)
        self.results: list[StepResult] = [StepResult(*row) for row in kept.get("results", ())]
        if state is None:
            if scenario.end_ns is not None:
                self._remind(max(lab.now, scenario.end_ns), "end")
            self._plan()

    @classmethod
    def from_state(cls, lab: Parts, faults: LabFaults, state: dict[str, Any]) -> Run:
        """Go on where a saved run stood; the lab's clock holds what it scheduled."""
        return cls(lab, faults, Scenario.from_state(lab.blueprint, lab.seed, state["scenario"]), state)

    def __repr__(self) -> str:
        return f"Run({self.scenario.title!r}, step {self.place + 1} of {len(self.scenario.timeline)}, {self.standing})"

    @property
    def step(self) -> Step | None:
        """The step that is under way or comes next; None when the timeline is over."""
        steps = self.scenario.timeline
        return steps[self.place] if self.standing != OVER and self.place < len(steps) else None

    def state(self) -> dict[str, Any]:
        """Return the run and what it needs of its scenario as plain values."""
        return {
            "scenario": self.scenario.state(),
            "place": self.place,
            "standing": self.standing,
            "runbook": self.runbook,
            "began_ns": self.began_ns,
            "ended": self.ended,
            "results": tuple(self.results),
        }

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """A reminder fell due: a step begins, a pause is over, or the scenario ends."""
        kind, place = payload
        if self.ended:
            return
        if kind == "end":
            self.ended = True
        elif place == self.place and kind == "begin" and self.standing == WAITING:
            self._begin(self.scenario.timeline[place])
        elif place == self.place and kind == "pause" and self.standing == WORKING:
            self._finish(True, "")

    def on_runbook(self, number: int, finished: Finished) -> None:
        """A runbook ended; one that somebody else started is none of this run's business."""
        ours = self.standing == STARTING or (self.standing == WORKING and number == self.runbook)
        if ours and not self.ended:
            self._lab.console.finished.pop(number, None)
            self._finish(finished.ok, finished.text)

    def _plan(self) -> None:
        """Schedule the next step; without one, the end, unless the file fixed it."""
        step = self.step
        if step is not None:
            self.standing = WAITING
            self._remind(max(self._lab.now + step.after_ns, step.at_ns), "begin")
            return
        self.standing = OVER
        if self.scenario.end_ns is None:
            self._remind(max(self._lab.now, self.scenario.work_until_ns) + self.scenario.settle_ns, "end")

    def _remind(self, at_ns: int, kind: str) -> None:
        self._lab.clock.at(at_ns, ("scenario", "", (kind, self.place)))

    def _begin(self, step: Step) -> None:
        lab, verb, given = self._lab, VERBS[step.verb], dict(step.given)
        self.began_ns, self.standing = lab.now, STARTING
        lab.trace.record(("step", lab.now, step.number, step.text, "begins"))
        if verb.sort == RUNBOOK:
            number = lab.console.start(step.verb, **given)
            # A runbook may have ended already, by asking nobody who had to be waited for.
            if self.standing == STARTING:
                self.standing, self.runbook = WORKING, number
        elif verb.fault is not None:
            try:
                verb.fault(self._faults, given)
            except ValueError as error:
                self._finish(False, str(error))
            else:
                self._finish(True, "")
        elif step.verb == "wait":
            self.standing = WORKING
            self._remind(lab.now + given["for"], "pause")
        else:
            lab.trace.record(("note", lab.now, given["text"]))
            self._finish(True, "")

    def _finish(self, ok: bool, said: str) -> None:
        """A step ended: go on to the next one when it went as the file says."""
        lab, step = self._lab, self.scenario.timeline[self.place]
        result = StepResult(step.number, self.began_ns, lab.now, ok, said)
        self.results.append(result)
        lab.trace.record(("step", lab.now, step.number, said or step.text, "done" if ok else "failed"))
        self.runbook = 0
        self.place = self.place + 1 if result.as_wanted(step) else len(self.scenario.timeline)
        self._plan()
