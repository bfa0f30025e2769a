"""Shrinker: makes a scenario smaller as long as the same breaks in it, pass by pass, until nothing changes.

1. A candidate is played under the strict rule and only up to what breaks; one that was played is not played again.
2. First what is far from what broke goes at once: all steps but those that led to it, then halves of the steps.
3. Each pass first tries all that it can do at once, then one thing after the other.
4. The order is that of what costs a reader most: steps, clusters and clients, kinds, values, instants, seed, names.
   Several steps together are tried only where nothing goes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from labkit.hunt.findings import Signature
from labkit.hunt.shrinking import parts, steps, values
from labkit.hunt.shrinking.failing_run import failing_run
from labkit.hunt.shrinking.flattening import flattened, whole_end
from labkit.hunt.writing import written
from labkit.scenario.problems import ScenarioError
from labkit.scenario.value_types import read_duration

Data = dict[str, Any]
Edit = Callable[[Data], bool]
MAX_RUNS = 200


class Shrinker:
    """The smallest data so far in which a signature breaks, and how many runs it took."""

    def __init__(self, data: Data, signature: Signature) -> None:
        self.best, self.signature, self.runs = deepcopy(data), signature, 0
        self._known: dict[str, int | None] = {}

    def shrink(self) -> bool:
        """Shrink; False when it does not break at all, or only while steps are refused."""
        if not self._flatten():
            return False
        self._cut_end()
        self._each(parts.clients)
        self._halve()
        before = ""
        while before != (before := written(self.best)) and self.runs < MAX_RUNS:
            for shrinking in (parts.clients, parts.parts, steps.singles, steps.kinds, values.values):
                self._each(shrinking)
            self._cut_end()
            self._each(values.instants)
            if before == written(self.best):
                self._each(steps.several)
        self._first(values.seeds)
        self._first(values.names)
        self._cut_end()
        return True

    def attempt(self, edit: Edit) -> bool:
        """Make a change if the same breaks with it; an edit says whether it has changed anything."""
        candidate = deepcopy(self.best)
        if not edit(candidate) or written(candidate) == written(self.best) or self._breaks_at(candidate) is None:
            return False
        self.best = candidate
        return True

    def _flatten(self) -> bool:
        """Write the steps as they were done; as they are drawn if it does not break then."""
        try:
            drawn = failing_run(self.best, self.signature, strict=False)
        except ScenarioError:
            return False
        self.runs += 1
        if drawn is None:
            return False
        if drawn.world is not None:
            flat = flattened(self.best, drawn.world, drawn.at_ns)
            if self._breaks_at(flat) is not None:
                self.best = flat
                chain = drawn.world.why(drawn.world.invariants.broken[self.signature.rule]).steps
                self._first(lambda data: steps.of_chain(data, [step.at_ns for step in chain]))
        return self._breaks_at(self.best) is not None

    def _halve(self) -> None:
        """Leave out steps: half of them, a quarter, down to two; later ones first, for they lean on those above."""
        size = len(self.best["timeline"]) // 2
        while size > 1:
            for end in range(len(self.best["timeline"]), 0, -size):
                if self.runs < MAX_RUNS:
                    self.attempt(steps.without(range(max(0, end - size), end)))
            size //= 2

    def _each(self, shrinking: Callable[[Data], Iterator[Edit]]) -> None:
        """Try every edit of a pass; after one that is made, those of what is left then, from the same place on."""
        place = 0
        while self.runs < MAX_RUNS:
            edits = list(shrinking(self.best))
            if place >= len(edits):
                return
            size = len(written(self.best))
            if not self.attempt(edits[place]) or len(written(self.best)) > size:
                place += 1

    def _first(self, shrinking: Callable[[Data], Iterator[Edit]]) -> None:
        """Make the first edit of a pass with which the same breaks."""
        any(self.attempt(edit) for edit in shrinking(self.best))

    def _cut_end(self) -> None:
        """Leave out what begins after it broke, and end soon after: by itself, or at an instant."""
        at_ns = self._breaks_at(self.best)
        if at_ns is not None and not self.attempt(lambda data: _ended(data, at_ns, "")):
            self.attempt(lambda data: _ended(data, at_ns, whole_end(at_ns)))

    def _breaks_at(self, data: Data) -> int | None:
        text = written(data)
        if text not in self._known:
            try:
                failing = failing_run(data, self.signature)
                self.runs += 1
            except ScenarioError:
                failing = None
            self._known[text] = None if failing is None else failing.at_ns
        return self._known[text]


def _ended(data: Data, at_ns: int, end: str) -> bool:
    """Leave out the steps after an instant; end then, unless that was earlier, or soon after the last step."""
    left = [step for step in data["timeline"] if "at" not in step or read_duration(step["at"]) <= at_ns]
    changed = len(left) < len(data["timeline"])
    data["timeline"] = left
    before = data.pop("end", "")
    if end and before and read_duration(before) <= read_duration(end):
        data["end"] = before
        return changed
    if end:
        data["end"] = end
    return changed or bool(before)
