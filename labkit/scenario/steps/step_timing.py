"""Step timing: the keys that a step has beside those of its verb: when it begins, what may become of it, its name.

1. ``at`` or ``after`` come first, then ``when``: the result of the step above, or a condition for which the step waits.
2. A step is named by its number or its name, and only by steps below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, WrapValidator

from labkit.scenario.conditions import ConditionPart, condition_of
from labkit.scenario.expect_keys import Expectations
from labkit.scenario.problems import expected
from labkit.scenario.scenario import DONE, MAYBE, REFUSED, Step
from labkit.scenario.steps.waiting import happens_beside
from labkit.scenario.timed.points import POINT, WrittenPoint, read_point
from labkit.scenario.value_types import Duration, Name, read_condition, read_duration
from labkit.scenario.verb import FAULT, Verb
from labkit.service.did_you_mean import nearest

KEYS = ("do", "at", "after", "when", "within", "fails", "late", "name", "idle")
ONLY_AT = frozenset(("do", "at"))
"""What most steps have of these."""

NEVER_REFUSED = ("check", "note", "luck")
"""Verbs whose steps have no ``fails``."""

AFTER = f"a duration such as 2s, {POINT}"
WHEN = "done, refused, or a condition such as {connections: {tokyo: not ready}}"


class WrongTiming(NamedTuple):
    """What is wrong between steps: the step, the key to look at, and the text."""

    step: int
    key: str
    text: str


def fields_of_timing(verb: Verb) -> dict[str, Any]:
    """Return the fields of a step's model that are no parameters of its verb."""
    own = verb.parameter_names
    fields: dict[str, Any] = {
        "at": (Duration, Field(None, description="the instant at which it begins, such as 20s")),
        "after": (
            Annotated[Any, BeforeValidator(_after)],
            Field(None, description=f"how long after the steps above it ended, or after a step: {AFTER}"),
        ),
        "when": (
            Annotated[ConditionPart, WrapValidator(_when), PlainSerializer(lambda value: value)],
            Field(None, description=f"what it waits for: {WHEN}"),
        ),
        "within": (Duration, Field(None, description="how long it waits for a condition, such as 30s, or 2m")),
        "late": (Literal["ok"] | None, Field(None, description="ok, for a step that may begin later than written")),
        "name": (Name, Field(None, description="a name, by which steps below refer to it")),
    }
    if verb.name not in NEVER_REFUSED:
        description = "true, or text that the refusal contains; maybe, for a step that may be done or refused"
        fields["fails"] = (Annotated[str | None, BeforeValidator(_fails)], Field(None, description=description))
    if verb.kind == FAULT:
        fields["idle"] = (Literal["fine"] | None, Field(None, description="fine, for a fault that may have no effect"))
    return {key: field for key, field in fields.items() if key not in own}


def errors_of_timing(verb: Verb, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with these keys of a step together, each of them being right: key and text."""
    if arguments.get("at") is not None and arguments.get("after") is not None:
        yield "after", "expected at or after, got both; at is an instant, after follows the step before"
    waits, until = arguments.get("when") not in (None, DONE, REFUSED), arguments.get("until") is not None
    if arguments.get("within") is not None and not (waits or until):
        wanted = "until" if verb.name == "wait" else "a condition such as when: {roots: equal}"
        yield "within", f"expected {wanted} too, since within says how long it may take"
    if waits and until:
        yield "when", "expected when or until, got both; each says what the step waits for"


def taken_from(arguments: dict[str, Any], verb: Verb) -> dict[str, Any]:
    """Return what a step has of these keys, and take those away that are no parameters of its verb."""
    own = verb.parameter_names
    found = {}
    for key in KEYS:
        value = arguments.get(key) if key in own else arguments.pop(key, None)
        if value is not None:
            found[key] = value
    return found


def timed(step: Step, given: Mapping[str, Any], names: Mapping[str, int]) -> Step:
    """Return a step with what is written of its timing; ValueError where ``after`` names no step above it."""
    if given.keys() <= ONLY_AT:
        return step._replace(at_ns=given.get("at"))
    when, after = given.get("when"), given.get("after")
    follows = WrittenPoint(*after) if isinstance(after, tuple) else WrittenPoint("", after or 0)
    return step._replace(
        at_ns=given.get("at"),
        after_ns=follows.delay_ns,
        after_step=number_of(follows.step, step.number, names) if follows.step else 0,
        from_beginning=follows.from_beginning,
        fails=given.get("fails"),
        when=when if isinstance(when, str) else "",
        condition=Expectations.from_state(when) if isinstance(when, tuple) else None,
        within_ns=given.get("within"),
        late_ok=given.get("late") is not None,
        name=given.get("name") or "",
        idle_ok=given.get("idle") is not None,
    )


def number_of(reference: str, below: int, names: Mapping[str, int]) -> int:
    """Return the number of a step above another, by its number or name; ValueError where none is so called."""
    number = int(reference) if reference.isdecimal() else names.get(reference, 0)
    if 0 < number < below:
        return number
    above = [name for name, named in names.items() if named < below]
    near = nearest(reference, above)
    if near is not None and near != reference:
        raise ValueError(f"expected a step above this one, got '{reference}' — did you mean '{near}'?")
    known = f"steps 1 to {below - 1}" if below > 2 else "step 1" if below == 2 else "none"
    by_name = f", by name {', '.join(above)}" if above else ""
    raise ValueError(f"expected a step above this one, got '{reference}'; there are: {known}{by_name}")


def wrong_between(steps: Sequence[Step]) -> Iterator[WrongTiming]:
    """Yield the steps whose name another has, and those that look at the step above and have none."""
    names: dict[str, int] = {}
    for step in steps:
        if step.name and names.setdefault(step.name, step.number) != step.number:
            text = f"expected another name, since step {names[step.name]} is called {step.name}"
            yield WrongTiming(step.number, "name", text)
        if step.when and step_above(step, steps) is None:
            yield WrongTiming(step.number, "when", f"expected a step above this one that can be {step.when}, got none")


def step_above(step: Step, steps: Sequence[Step]) -> Step | None:
    """Return the step that is written directly above, those left out that happen beside; None for the first."""
    return next((above for above in reversed(steps[: step.number - 1]) if not happens_beside(above)), None)


def _after(value: Any) -> int | WrittenPoint:
    """A duration after the steps above, or a point of one of them."""
    if isinstance(value, dict) or (isinstance(value, str) and value.startswith("step")):
        return read_point(value)
    if isinstance(value, list) or (isinstance(value, str) and value[:1].isalpha()):
        raise ValueError(expected(AFTER, value))
    return read_duration(value)


def _when(value: Any, handler: Any, info: ValidationInfo) -> Any:
    """Done or refused as they are; a condition as plain data."""
    if isinstance(value, dict):
        return condition_of(handler(value))
    if value in (DONE, REFUSED):
        return value
    raise ValueError(expected(WHEN, value))


def read_until(value: Any, handler: Any, info: ValidationInfo) -> Any:
    """Read what a step waits for: a text about the lag as it is, a condition as plain data."""
    if isinstance(value, dict):
        return condition_of(handler(value))
    read_condition(value)
    return value


Until = Annotated[ConditionPart, WrapValidator(read_until), PlainSerializer(lambda value: value)]


def _fails(value: Any) -> str | None:
    """True means any refusal, a text one that contains it, false none; ``maybe`` that it may be done or refused."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool):
        return "" if value else None
    raise ValueError(expected(f"true, {MAYBE}, or text that the refusal contains (a number in quotes)", value))
