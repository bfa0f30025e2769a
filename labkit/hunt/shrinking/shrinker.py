"""Shrinker: makes a scenario smaller as long as the same breaks in it, pass by pass, until nothing changes.

1. A candidate is played under the strict rule and only up to what breaks; one that was played is not played again.
2. First what is far from what broke goes at once: all steps but those that led to it, then all between two that are
   needed.
3. Where steps are left out, the others may be refused: those that are go too, and so do faults without effect.  Where
   it does not break without these, they stay as far as the candidate says that they may be refused.
4. Each pass first tries all that it can do at once, then one thing after the other.
5. The order is that of what costs a reader most: clusters and clients, steps, kinds, values, instants, seed.
   Several steps together are tried only where nothing goes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from labkit.hunt.findings import CLIENT, Signature
from labkit.hunt.shrinking import parts, steps, values
from labkit.hunt.shrinking.failing_run import FailingRun, failing_run, is_late
from labkit.hunt.shrinking.flattening import flattened, is_flat, whole_end
from labkit.hunt.shrinking.idle_steps import not_done, without_effect
from labkit.hunt.world import World, read, run_of
from labkit.hunt.writing import written
from labkit.scenario.problems import ScenarioError
from labkit.scenario.running import STARTING, WORKING
from labkit.scenario.value_types import read_duration

Data = dict[str, Any]
Edit = Callable[[Data], bool]
Attempt = Callable[[Edit], bool]
MAX_RUNS = 200


class Shrinker:
    """The smallest data so far in which a signature breaks, and how many runs it took."""

    def __init__(self, data: Data, signature: Signature) -> None:
        self.best, self.signature, self.runs = deepcopy(data), signature, 0
        self._known: dict[str, int | None] = {}
        self._broken: tuple[str, World | None] = "", None  # the last text that broke, and the world in which it did

    def shrink(self) -> bool:
        """Shrink; False when it does not break at all, or only while steps are refused."""
        if not self._flatten():
            return False
        self._lead()
        self._first(values.usual_seed, self.attempt)
        self._cut_end()
        self._clients()
        self._needed()
        before = ""
        while before != (before := written(self.best)) and self.runs < MAX_RUNS:
            self._lead()
            self._clients()
            for shrinking in (parts.parts, values.names):
                self._each(shrinking, self.attempt)
            self._each(steps.singles, self.leave_out)
            for shrinking in (steps.kinds, values.values):
                self._each(shrinking, self.attempt)
            self._cut_end()
            self._each(values.instants, self.attempt)
            if before == written(self.best):
                self._each(steps.several, self.leave_out)
            if before == written(self.best):
                self._first(values.seeds, self.attempt)
        return True

    def attempt(self, edit: Edit) -> bool:
        """Make a change if the same breaks with it; an edit says whether it has changed anything."""
        candidate = deepcopy(self.best)
        if not edit(candidate) or written(candidate) == written(self.best) or self._breaks_at(candidate) is None:
            return False
        self.best = candidate
        return True

    def leave_out(self, edit: Edit) -> bool:
        """Leave out steps, and those that are refused or have no effect then."""
        candidate = deepcopy(self.best)
        if not edit(candidate):
            return False
        text = written(candidate)
        if text not in self._known:
            failing = self._played(steps.may_be_refused(candidate), strict=False)
            if failing is None or _is_as_written(failing.world):
                self._keep(text, failing)
            elif failing.world is not None:
                self._keep(text, failing if _is_as_expected(failing.world, candidate) else None)
                others = steps.without(_idle_places(failing.world))
                if self.attempt(lambda data: edit(data) and others(data)):
                    return True
        return self.attempt(edit)

    def _flatten(self) -> bool:
        """Write the steps as they were done, without those that had no effect; else as they are drawn."""
        if is_flat(self.best) and self._breaks_at(self.best) is not None:
            return True
        drawn = self._played(self.best, strict=False)
        if drawn is None:
            return False
        if drawn.world is not None:
            for left_out in (without_effect(drawn.world), ()):
                flat = flattened(self.best, drawn.world, drawn.at_ns, left_out)
                if self._breaks_at(flat) is not None:
                    self.best = flat
                    return True
        return self._breaks_at(self.best) is not None

    def _clients(self) -> None:
        """Leave out all clients, unless one of them is the root of what broke."""
        if CLIENT not in self.signature.roles:
            self._each(parts.clients, self.attempt)

    def _lead(self) -> None:
        """Leave only what led to what broke."""
        text, world = self._broken
        if world is None or text != written(self.best):
            return
        run = run_of(world)
        chain = {step.at_ns for step in world.why(world.invariants.broken[self.signature.rule]).steps}
        numbers = [result.number for result in run.results if result.began_ns in chain]
        numbers += [run.step_number] if run.step_state in (STARTING, WORKING) and run.began_ns in chain else []
        places = [number - 1 for number in numbers]
        self._first(lambda data: steps.of_chain(data, places), self.leave_out)

    def _needed(self) -> None:
        """Leave out all steps but those that are needed, from the last one up.

        As long as steps go, twice as many are tried next; where they do not, half of them, down to one that is needed.
        """
        end, size, grows = len(self.best["timeline"]), 1, True
        while end > 0 and self.runs < MAX_RUNS:
            begin = max(0, end - size)
            if self.leave_out(steps.without(range(begin, end))):
                end, size = begin, size * 2 if grows else size
            elif end - begin > 1:
                size, grows = (end - begin) // 2, False
            else:
                end, size, grows = begin, 1, True

    def _each(self, shrinking: Callable[[Data], Iterator[Edit]], attempt: Attempt) -> None:
        """Try every edit of a pass; after one that is made, those of what is left then, from the same place on."""
        place = 0
        while self.runs < MAX_RUNS:
            edits = list(shrinking(self.best))
            if place >= len(edits):
                return
            size = len(written(self.best))
            if not attempt(edits[place]) or len(written(self.best)) > size:
                place += 1

    def _first(self, shrinking: Callable[[Data], Iterator[Edit]], attempt: Attempt) -> None:
        """Make the first edit of a pass with which the same breaks."""
        any(attempt(edit) for edit in shrinking(self.best))

    def _cut_end(self) -> None:
        """Leave out what begins after it broke, and end soon after: by itself, or at an instant."""
        at_ns = self._breaks_at(self.best)
        if at_ns is not None and not self.attempt(lambda data: _ended(data, at_ns, "")):
            self.attempt(lambda data: _ended(data, at_ns, whole_end(at_ns)))

    def _breaks_at(self, data: Data) -> int | None:
        text = written(data)
        if text not in self._known:
            self._keep(text, self._played(data))
        return self._known[text]

    def _keep(self, text: str, failing: FailingRun | None) -> None:
        """Keep what a text came to, which is not played again."""
        self._known[text] = None if failing is None else failing.at_ns
        if failing is not None:
            self._broken = text, failing.world

    def _played(self, data: Data, *, strict: bool = True) -> FailingRun | None:
        """Play data, if it can be a file."""
        try:
            failing = failing_run(data, self.signature, strict=strict)
        except ScenarioError:
            return None
        self.runs += 1
        return failing


def _is_as_written(world: World | None) -> bool:
    """Whether every step was done, and began when it is written; not known where labkit raised."""
    return world is not None and not not_done(world) and not is_late(world)


def _is_as_expected(world: World, data: Data) -> bool:
    """Whether a run in which every step might be refused is, step by step, what data expects, if it can be a file."""
    try:
        expected = read(data).timeline
    except ScenarioError:
        return False
    return not is_late(world) and all(
        result.as_expected(expected[result.number - 1]) for result in run_of(world).results
    )


def _idle_places(world: World) -> tuple[int, ...]:
    """Return the places of the steps that were refused, skipped, or without effect."""
    return tuple([number - 1 for number in not_done(world) | without_effect(world)])


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
