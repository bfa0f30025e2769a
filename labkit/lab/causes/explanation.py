"""Explanation: what led to an event, from the effect back to the root, in numbered sentences."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple, TypeAlias

from labkit.service.durations import SECOND_NS

FAULT, OPERATOR, WORK, BEGINNING, NOT_RECORDED = "fault", "operator", "work", "beginning", "not recorded"
"""What a chain of causes ends at: a fault; an operator's request; a client's work; how the lab began; or where the
trace says no more."""


class CauseStep(NamedTuple):
    """One link of the chain: when, in words, and the number of the row of the trace that shows it; None for no row."""

    at_ns: int
    sentence: str
    row: int | None

    def __str__(self) -> str:
        shown = "" if self.row is None else f"  [row {self.row}]"
        return f"{self.at_ns / SECOND_NS:.3f} s  {self.sentence}{shown}"


Effect: TypeAlias = tuple[str, Any]
"""What is to be explained: the name of the rule that can, and what it is about."""


class Cause(NamedTuple):
    """What a rule finds: a step of the chain, and the effect to explain next; at a root none, but its ``origin``."""

    step: CauseStep
    effect: Effect | None = None
    origin: str = ""


class Explanation(NamedTuple):
    """The chain from an event back to its root, which is the last step; ``origin`` is the kind of the root."""

    steps: tuple[CauseStep, ...]
    origin: str

    @property
    def root(self) -> CauseStep:
        """The last step: what nothing in the lab led to."""
        return self.steps[-1]

    def __str__(self) -> str:
        lines = [f"{number}. {step}" for number, step in enumerate(self.steps, 1)]
        return "\n".join([*lines, f"root: {ROOTS[self.origin]}"])

    def __repr__(self) -> str:
        return f"Explanation({len(self.steps)} steps, root: {self.origin} at {self.root.at_ns / SECOND_NS:.3f} s)"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li value='{number}'><b>{step.at_ns / SECOND_NS:.3f} s</b> {escape(step.sentence)}{_row(step)}</li>"
            for number, step in enumerate(self.steps, 1)
        )
        return f"<ol>{rows}</ol><p>root: {escape(ROOTS[self.origin])}</p>"


ROOTS = {
    FAULT: "a fault",
    OPERATOR: "an operator asked",
    WORK: "a client's work",
    BEGINNING: "so the lab began",
    NOT_RECORDED: "the trace says no more",
}


def _row(step: CauseStep) -> str:
    return "" if step.row is None else f" <small>row {step.row}</small>"
