"""Explanation: what led to an event, from the effect back to the root, in numbered sentences."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple, TypeAlias

from labkit.lab.fault_table import NAMED
from labkit.service.durations import in_seconds

FAULT, OPERATOR, WORK, WRITTEN = "fault", "operator", "work", "written"
BEGINNING, TIME, NOT_RECORDED = "beginning", "time", "not recorded"
"""What a chain of causes ends at: a fault; an operator's request; a client's work; a step as the scenario has it; how
the lab began; what falls due by itself; or where the trace says no more."""


class CauseStep(NamedTuple):
    """One link of the chain: when, in words, and the number of the row of the trace that shows it; None for no row."""

    at_ns: int
    sentence: str
    row: int | None

    def __str__(self) -> str:
        shown = "" if self.row is None else f"  [row {self.row}]"
        return f"{in_seconds(self.at_ns)} s  {self.sentence}{shown}"


Effect: TypeAlias = tuple[str, Any]
"""What is to be explained: the name of the rule that can, and what it is about."""


class Cause(NamedTuple):
    """What a rule finds: a step of the chain, and the effect to explain next; at a root none, but its ``origin``."""

    step: CauseStep
    effect: Effect | None = None
    origin: str = ""


class Root(NamedTuple):
    """A root as data: its kind, the verb, message or observation that it is, and the hosts or sites of that.

    ``what`` is empty, and ``hosts`` are, where no row of the trace shows it.
    """

    origin: str
    what: str
    hosts: tuple[str, ...]


class Explanation(NamedTuple):
    """The chain from an event back to its root, which is the last step; ``origin`` is the kind of the root.

    ``cause`` is the root as data.
    """

    steps: tuple[CauseStep, ...]
    origin: str
    cause: Root

    @property
    def root(self) -> CauseStep:
        """The last step: what nothing in the lab led to."""
        return self.steps[-1]

    @property
    def said(self) -> str:
        """The root in one sentence."""
        return f"{self.root_is}, at {in_seconds(self.root.at_ns)} s: {self.root.sentence}"

    @property
    def root_is(self) -> str:
        """What kind of root it is, in words."""
        undone = self.origin == FAULT and self.cause.what in NAMED and bool(NAMED[self.cause.what].undoes)
        return UNDONE if undone else ROOTS[self.origin]

    def without_rows(self) -> Explanation:
        """Return the same for readers who have no trace at hand: no step names its row."""
        return self._replace(steps=tuple([step._replace(row=None) for step in self.steps]))

    def __str__(self) -> str:
        lines = [f"{number}. {step}" for number, step in enumerate(self.steps, 1)]
        return "\n".join([*lines, f"root: {self.said}"])

    def __repr__(self) -> str:
        return f"Explanation({len(self.steps)} steps, root: {self.origin} at {in_seconds(self.root.at_ns)} s)"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li value='{number}'><b>{in_seconds(step.at_ns)} s</b> {escape(step.sentence)}{_row(step)}</li>"
            for number, step in enumerate(self.steps, 1)
        )
        return f"<ol>{rows}</ol><p>root: {escape(self.said)}</p>"


UNDONE = "a fault was undone"
ROOTS = {
    FAULT: "a fault",
    OPERATOR: "an operator asked",
    WORK: "a client's work",
    WRITTEN: "the scenario says so",
    BEGINNING: "so the lab began",
    TIME: "it falls due by itself",
    NOT_RECORDED: "the trace says no more",
}


def _row(step: CauseStep) -> str:
    return "" if step.row is None else f" <small>row {step.row}</small>"
