"""Dispositions: how the result of a step is taken: whether it is what the file expects, or ends the timeline."""

from __future__ import annotations

from typing import NamedTuple

from labkit.scenario.measures import VerdictRow
from labkit.scenario.scenario import MAYBE, Step


class StepResult(NamedTuple):
    """The result of one step: when it began and ended, whether it was done, the message at its end, a check's rows."""

    number: int
    began_ns: int
    ended_ns: int
    ok: bool
    message: str
    rows: tuple[VerdictRow, ...] = ()

    def as_expected(self, step: Step) -> bool:
        """Whether it is what the file expects: done, or refused with the expected text, or either of them."""
        if step.fails is None or step.fails == MAYBE:
            return self.ok or step.fails == MAYBE
        return not self.ok and step.fails in self.message
