"""Courses: where a condition over time stands in a run, and the row of a verdict that this comes to."""

from __future__ import annotations

from typing import Any

from labkit.scenario.measures import BROKEN, OK, UNKNOWN, VerdictRow
from labkit.scenario.timed.timed_conditions import ALWAYS, EVENTUALLY, LEADS_TO, TimedCondition
from labkit.scenario.value_types import write_duration

FIELDS = (
    *("opened_ns", "closes_ns", "settled", "at_ns", "found", "was_true", "was_false"),
    *("was_asked", "asked", "answers", "owed_ns"),
)


class Course:
    """Where one condition stands: its window, what it was judged, and once it is settled, how, when and by what.

    Of *leads to*: what its ``if`` was last, how often it was asked for and answered, and since when it is owed.
    """

    __slots__ = FIELDS

    def __init__(self, *state: Any) -> None:
        self.opened_ns: int | None = None
        self.closes_ns: int | None = None
        self.settled = ""
        self.at_ns = 0
        self.found = ""
        self.was_true = self.was_false = False
        self.was_asked: bool | None = None
        self.asked = self.answers = 0
        self.owed_ns: int | None = None
        for name, value in zip(FIELDS, state, strict=False):
            setattr(self, name, value)

    def __repr__(self) -> str:
        return f"Course({self.settled or ('open' if self.is_open else 'not open')})"

    @property
    def is_open(self) -> bool:
        """Whether its window has opened."""
        return self.opened_ns is not None

    def state(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return tuple([getattr(self, name) for name in FIELDS])

    def note(self, truth: bool | None) -> None:
        """Note what it was judged."""
        if truth is True:
            self.was_true = True
        elif truth is False:
            self.was_false = True

    def ask(self, now_ns: int) -> None:
        """What is to be answered came to hold."""
        self.asked += 1
        self.owed_ns = now_ns

    def answer(self) -> None:
        """What was owed came to hold."""
        self.answers += 1
        self.owed_ns = self.closes_ns = None

    def settle(self, status: str, at_ns: int, found: str = "") -> None:
        """Judge it once and for all."""
        self.settled, self.at_ns, self.found = status, at_ns, found

    def row(self, timed: TimedCondition) -> VerdictRow:
        """Return the row of a verdict."""
        status, measured = self._judged(timed)
        return VerdictRow(timed.label, timed.text, measured, status, timed.key)

    def _judged(self, timed: TimedCondition) -> tuple[str, str]:
        if self.settled == BROKEN:
            return BROKEN, f"broken at {write_duration(self.at_ns)}: {self.found}"
        if not self.is_open:
            return UNKNOWN, "its window never opened"
        if timed.kind == ALWAYS:
            return (OK, "held") if self.was_true else (UNKNOWN, "never judged")
        if timed.kind == EVENTUALLY:
            return self._came(timed)
        if timed.kind == LEADS_TO:
            return self._was_answered()
        return (OK, "seen") if self.was_true else (BROKEN, "not seen") if self.was_false else (UNKNOWN, "never judged")

    def _came(self, timed: TimedCondition) -> tuple[str, str]:
        if self.settled == OK:
            return OK, f"true at {write_duration(self.at_ns)}"
        if self.settled:
            return UNKNOWN, f"could not be judged when its window closed: {self.found}"
        return UNKNOWN, f"the file ended inside its window of {write_duration(timed.within_ns)}"

    def _was_answered(self) -> tuple[str, str]:
        if self.found:
            return UNKNOWN, f"an answer could not be judged when its window closed: {self.found}"
        if self.owed_ns is not None:
            return UNKNOWN, f"still owed at the end, since {write_duration(self.owed_ns)}"
        if not self.asked:
            return UNKNOWN, "never asked for"
        return OK, f"answered {'once' if self.asked == 1 else f'{self.asked} times'}"
