"""Timed sections: reads the lists of a file that say what holds over time, item by item."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Protocol

from labkit.lab.invariants import STANDING
from labkit.scenario.problems import FilePosition, expected
from labkit.scenario.timed.points import AfterPoint, WrittenPoint, names_in
from labkit.scenario.timed.spanning import COVERS
from labkit.scenario.timed.timed_conditions import TIMED_PARTS, TimedCondition

NO_RULE = "exception of labkit"
"""What campaigns call an exception of labkit, in the place of a rule."""

Path = tuple[str | int, ...]
Validate = Callable[[Any, Any, Any], Any]
Add = Callable[[Any, str], None]


class PlacedDocument(Protocol):
    """A document whose values have positions."""

    @property
    def data(self) -> Any:
        """What the document says."""

    def position(self, path: Path) -> FilePosition:
        """Where a value begins."""


def read_timed(data: Mapping[str, Any], validate: Validate, add: Add) -> Iterator[TimedCondition]:
    """Yield what a document says over time; problems are added, with the path of each."""
    steps, names = _step_numbers(data), set[str]()
    for kind, model in TIMED_PARTS.items():
        items = data.get(kind)
        for index, raw in enumerate(items if isinstance(items, list) else ()):
            path: Path = (kind, index)
            if not isinstance(raw, dict):
                add(path, expected(f"an item such as {EXAMPLES[kind]}", raw))
                continue
            part = validate(model, raw, path)
            if part is None:
                continue
            if part.name is not None and (taken := _whose(part.name, names)):
                add((*path, "name"), f"expected another name, since '{part.name}' is {taken}")
            names.add(part.name)
            if part.after is not None and part.after.step not in steps:
                add((*path, "after"), expected("the number or the name of a step", part.after.step, steps))
                continue
            yield TimedCondition.of(kind, index + 1, part, _point(part.after, steps))


def _whose(name: str, names: Container[str | None]) -> str:
    """Return what has a name already; empty where nothing has."""
    if name in names:
        return "the name of an item above"
    if name in STANDING:
        return "a rule of each lab"
    return "what a campaign calls what labkit raises" if name == NO_RULE else ""


def timed_positions(document: PlacedDocument) -> Iterator[tuple[str, FilePosition]]:
    """Yield where each item is, by its key in a verdict."""
    for kind in TIMED_PARTS:
        for index in range(len(document.data.get(kind, []))):
            yield f"{kind} {index + 1}", document.position((kind, index))
    for index, name in enumerate(document.data.get(COVERS, [])):
        yield f"{COVERS} {name}", document.position((COVERS, index))


def _point(after: WrittenPoint | None, steps: Mapping[str, int]) -> AfterPoint | None:
    return None if after is None else AfterPoint(steps[after.step], after.from_beginning, after.delay_ns)


def _step_numbers(data: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of each step, by its number and by its name."""
    timeline = data.get("timeline")
    count = len(timeline) if isinstance(timeline, list) else 0
    return {str(number): number for number in range(1, count + 1)} | names_in(data)


EXAMPLES = {
    "always": "{lag: {at most: 200}}",
    "eventually": "{roots: equal, within: 15s}",
    "leads to": "{if: {connections: {tokyo: not ready}}, then: {lag: 0}, within: 40s}",
    "sometimes": "{roots: different}",
}
