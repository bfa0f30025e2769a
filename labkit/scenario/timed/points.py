"""Points: a point of a timeline, as it is written for a step or for a window, and with the number of its step.

One is ``step 4`` or ``step fence``, where a step has ended, or a mapping: ``{step: fence, began: 2s}`` is so long after
it began, ``{step: 4, ended: 2s}`` so long after it ended.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from labkit.scenario.problems import FieldError, expected
from labkit.scenario.value_types import NAME, read_duration, write_duration

STEP, BEGAN, ENDED = "step", "began", "ended"
POINT = "a step such as step 4, or {step: fence, began: 2s}"

NAMED_STEP = rf"step ([1-9][0-9]{{0,3}}|{NAME})"
"""What ``step 4`` and ``step fence`` look like."""

_NAMED_STEP = re.compile(NAMED_STEP, re.ASCII)


class WrittenPoint(NamedTuple):
    """A point as it is written: the number or the name of a step, and how long after its end, or its beginning."""

    step: str
    delay_ns: int = 0
    from_beginning: bool = False


class AfterPoint(NamedTuple):
    """A point of a timeline: so long after a step ended, or began."""

    number: int
    began: bool = False
    plus_ns: int = 0

    @property
    def text(self) -> str:
        """In words: ``after step 6``."""
        if not self.began and not self.plus_ns:
            return f"after step {self.number}"
        return f"{write_duration(self.plus_ns)} after step {self.number} {BEGAN if self.began else ENDED}"


def read_point(value: Any) -> WrittenPoint:
    """Read a point; ValueError for anything else, a FieldError for what is wrong within a mapping."""
    if isinstance(value, dict):
        return _read_mapping(value)
    found = _NAMED_STEP.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(expected(POINT, value))
    return WrittenPoint(found[1])


def _read_mapping(value: dict[str, Any]) -> WrittenPoint:
    known, instants = (STEP, BEGAN, ENDED), [key for key in (BEGAN, ENDED) if key in value]
    for key in value:
        if key not in known:
            raise FieldError(expected("a key", str(key), known), key, of_key=True)
    if STEP not in value:
        raise ValueError(f"expected the key '{STEP}' (the number or the name of a step), got none")
    found = _NAMED_STEP.fullmatch(f"step {str(value[STEP]).removeprefix('step ')}")
    if found is None:
        raise FieldError(expected("the number or the name of a step such as 4 or fence", value[STEP]), STEP)
    if len(instants) > 1:
        raise FieldError(f"expected {BEGAN} or {ENDED}, got both", ENDED)
    return WrittenPoint(found[1], _delay(value, instants), instants == [BEGAN])


def _delay(value: dict[str, Any], instants: list[str]) -> int:
    """Return how long after the step: nothing where it is not written."""
    if not instants:
        return 0
    try:
        return read_duration(value[instants[0]])
    except ValueError as error:
        raise FieldError(str(error), instants[0]) from None


def names_in(data: Any) -> dict[str, int]:
    """Return the numbers of a document's steps by their names, even when other parts of it are wrong."""
    timeline = data.get("timeline") if isinstance(data, dict) else None
    steps = enumerate(timeline if isinstance(timeline, list) else (), 1)
    named = [(raw.get("name"), number) for number, raw in steps if isinstance(raw, dict)]
    return {name: number for name, number in reversed(named) if isinstance(name, str)}
