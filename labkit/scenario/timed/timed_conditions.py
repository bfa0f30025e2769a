"""Timed conditions: what a file says of the whole of a run, as it is written and as plain data.

A window opens at an instant (``from``), or when a step has ended or begun (``after``); at the beginning unless one of
them is written.  An item may have a name, which reports and ``why`` use.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from labkit.scenario.conditions import ConditionPart, condition_of
from labkit.scenario.expect_keys import Expectations, Part
from labkit.scenario.problems import FieldError
from labkit.scenario.timed.points import AfterPoint, read_point
from labkit.scenario.value_types import Duration, write_duration

ALWAYS, EVENTUALLY, LEADS_TO, SOMETIMES = "always", "eventually", "leads to", "sometimes"

WrittenAfter = Annotated[Any, BeforeValidator(read_point)]

FROM = "an instant such as 5s at which it begins to count; the beginning unless given"
AFTER = "a step such as step 6 after whose end it begins to count, or {step: fence, began: 2s}"
NAME = "a name by which reports and why call it"
WITHIN = "a duration such as 15s"


class WindowPart(Part):
    """When it begins to count, and what it is called."""

    from_: Duration | None = Field(None, alias="from", description=FROM)
    after: WrittenAfter = Field(None, description=AFTER)
    name: str | None = Field(None, min_length=1, max_length=100, description=NAME)

    @model_validator(mode="after")
    def _one_beginning(self) -> WindowPart:
        if self.from_ is not None and self.after is not None:
            raise FieldError("expected from or after, got both", "after")
        return self


class AlwaysPart(ConditionPart, WindowPart):
    """What holds at every look."""


class SometimesPart(ConditionPart, WindowPart):
    """What holds once in some run of the file."""


class EventuallyPart(ConditionPart, WindowPart):
    """What comes to hold within a time."""

    within: Duration = Field(description=WITHIN)


class LeadsToPart(WindowPart):
    """What comes to hold within a time, each time that something else does."""

    if_: ConditionPart = Field(alias="if", description="a condition such as {connections: {tokyo: not ready}}")
    then: ConditionPart = Field(description="a condition such as {connections: {tokyo: ready}}")
    within: Duration = Field(description=WITHIN)


TIMED_PARTS: dict[str, type[WindowPart]] = {
    ALWAYS: AlwaysPart,
    EVENTUALLY: EventuallyPart,
    LEADS_TO: LeadsToPart,
    SOMETIMES: SometimesPart,
}
"""{key of a file: the model of its items}."""


class TimedCondition(NamedTuple):
    """One condition over time, as plain data: its kind, its place in the list of its kind, and its window.

    Of *leads to* it is what is written after ``if``, and ``then`` what it leads to.  ``by_hand``: a lab watches it.
    """

    kind: str
    number: int
    name: str
    condition: Expectations
    then: Expectations | None = None
    from_ns: int = 0
    after: AfterPoint | None = None
    within_ns: int = 0
    by_hand: bool = False

    @property
    def key(self) -> str:
        """What it is called in the file: ``always 1``."""
        return f"{self.kind} {self.number}"

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or self.key

    @property
    def text(self) -> str:
        """What it says, in words."""
        begins = self.after.text if self.after is not None else f"from {write_duration(self.from_ns)} on"
        window = f", {begins}" if self.after is not None or self.from_ns else ""
        within = f" within {write_duration(self.within_ns)}" if self.within_ns else ""
        if self.then is not None:
            return f"{self.condition.text} leads to {self.then.text}{within}{window}"
        return f"{self.kind} {self.condition.text}{within}{window}"

    @classmethod
    def of(cls, kind: str, number: int, part: Any, after: AfterPoint | None = None) -> TimedCondition:
        """Build one from what is written."""
        leads = isinstance(part, LeadsToPart)
        return cls(
            kind=kind,
            number=number,
            name=part.name or "",
            condition=condition_of(part.if_ if leads else part),
            then=condition_of(part.then) if leads else None,
            from_ns=part.from_ or 0,
            after=after,
            within_ns=getattr(part, "within", 0),
        )

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> TimedCondition:
        """Build it again from plain values."""
        kind, number, name, condition, then, from_ns, after, within_ns, by_hand = state
        return cls(
            kind=kind,
            number=number,
            name=name,
            condition=Expectations.from_state(condition),
            then=None if then is None else Expectations.from_state(then),
            from_ns=from_ns,
            after=None if after is None else AfterPoint(*after),
            within_ns=within_ns,
            by_hand=by_hand,
        )
