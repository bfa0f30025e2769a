"""Dispositions: how the result of a step is taken: whether it is what the file expects, and what is skipped by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labkit.scenario.measures import VerdictRow
from labkit.scenario.scenario import DONE, MAYBE, Step
from labkit.scenario.steps.step_timing import step_above


class StepResult(NamedTuple):
    """The result of one step: when it began and ended, whether it was done, the message at its end, a check's rows.

    A step that was skipped was not done either: the message says why.
    """

    number: int
    began_ns: int
    ended_ns: int
    ok: bool
    message: str
    rows: tuple[VerdictRow, ...] = ()
    skipped: bool = False

    def as_expected(self, step: Step) -> bool:
        """Whether it is what the file expects: done, or refused with the expected text, or either of them.

        A step is skipped because the file says so.
        """
        if self.skipped:
            return True
        if step.fails is None or step.fails == MAYBE:
            return self.ok or step.fails == MAYBE
        return not self.ok and step.fails in self.message


def why_skipped(step: Step, steps: Sequence[Step], results: Mapping[int, StepResult]) -> str:
    """Return why a step is skipped whose turn it is: what became of the step above it; empty when it is carried out."""
    above = step_above(step, steps) if step.when else None
    if above is None:
        return ""
    result = results[above.number]
    became = "done" if result.ok else "skipped" if result.skipped else "refused"
    return f"step {above.number} was {became}" if result.ok != (step.when == DONE) else ""
