"""The model of replication: its counts, its properties, and that fewer events show the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.primary import Primary, PrimarySide, contents_at
from labkit.proof.replication import Replication, broken_by
from labkit.proof.search import search, stuck
from labkit.proof.secondary import ASIDE, MARK, Secondary, SecondarySide, Stored
from labkit.proof.steps import BEAT, Exchange, Occurrence, Steps, Taken
from labkit.vault.replication.state import State

COUNTS = {
    Bounds(2, 1): (1874, 4177, 17),
    Bounds(1, 1, 1, network="late"): (3028, 9500, 15),
    Bounds(1, 0, 0, 1, network="duplicating"): (1090, 2318, 14),
}
"""States, transitions and depth: they move when the way that replication works does."""

SMALL = [
    Bounds(0, 1, 0, 0, "destroying"),
    *[pytest.param(Bounds(1, 1, 0, 0, kind), marks=pytest.mark.slow) for kind in ("ordered", "destroying", "losing")],
    *[pytest.param(Bounds(0, 1, 0, 0, kind), marks=pytest.mark.slow) for kind in ("late", "duplicating")],
]
LARGE = [
    Bounds(3, 2, 1, 0, "destroying"),
    Bounds(2, 1, 1, 0, "late"),
    *[Bounds(2, 1, 1, 0, kind) for kind in ("ordered", "losing", "duplicating")],
    Bounds(1, 1, 1, 1, "destroying"),
    Bounds(3, 1, 1, 0, "destroying", 2),
]


@pytest.mark.parametrize("bounds", COUNTS, ids=str)
def test_the_space_is_exhausted_and_as_large_as_it_was(searched: Callable[[Bounds], Any], bounds: Bounds) -> None:
    _, found, _ = searched(bounds)

    assert found.exhausted
    assert found[:3] == COUNTS[bounds]


@pytest.mark.parametrize("bounds", COUNTS, ids=str)
def test_every_state_leads_on_and_what_is_over_is_ignored(searched: Callable[[Bounds], Any], bounds: Bounds) -> None:
    model, found, reached = searched(bounds)

    assert found.broken == ""
    assert stuck(model, reached) is None
    assert model.steps.dropped()
    assert model.steps.not_ignored() is None


@pytest.mark.slow
@pytest.mark.parametrize("bounds", LARGE, ids=str)
def test_larger_bounds_show_the_same(bounds: Bounds) -> None:
    model = Replication(bounds)
    found, reached = search(model)

    assert (found.exhausted, found.broken) == (True, "")
    assert model.steps.not_ignored() is None
    assert stuck(model, reached) is None


COUNT = """
from labkit.proof.bounds import Bounds
from labkit.proof.replication import Replication
from labkit.proof.search import search
print(search(Replication(Bounds(2, 1)))[0][:3])
"""


@pytest.mark.parametrize("hash_seed", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_counts_are_the_same_under_every_hash_seed(hash_seed: str, checkout: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=checkout,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )

    assert finished.stdout.strip() == str(COUNTS[Bounds(2, 1)])


ENTRY = (("token/y", b"1"),)
FIRST = (("logical/x", b"0"),)
WHOLE = (("logical/x", b"0"), ("token/y", b"1"))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, ""),
        ({"state": "stream-wals"}, ""),
        ({"state": "stream-wals", "position": 0}, "it streams at entry 0"),
        ({"state": "stream-wals", "position": None}, "it streams at entry None"),
        ({"position": 2}, "it is complete at entry 2"),
        ({"contents": ENTRY, "position": None}, "it is complete, and its contents are those of no entry"),
        (
            {"contents": ENTRY, "position": None, "complete": False, "state": "stream-wals"},
            "it streams at entry None",
        ),
        ({"stored": Stored(False, 1, ("a",), 3)}, "what is stored is not what the state says"),
        ({"stored": Stored(True, 1, ("b",), 3)}, "what is stored is not what the state says"),
        ({"state": "stream-wals", "position": 0, "contents": FIRST}, ""),
        ({"position": None}, ""),
        ({"position": None, "contents": FIRST}, ""),
        ({"position": -1}, "it is complete at entry -1"),
        ({"complete": False, "position": None, "contents": ENTRY}, ""),
        ({"error": "KeyError: 'x'"}, "a step of the secondary raised KeyError: 'x'"),
    ],
)
def test_each_property_is_judged(changed: dict[str, Any], why: str) -> None:
    fields = {name: changed[name] for name in State._fields if name in changed}
    state = State(state="idle", addresses=("a",), term=3, complete=True, position=1)._replace(**fields)
    stored = changed.get("stored", Stored(state.complete, state.position, state.addresses, state.term))
    secondary = Secondary(state, changed.get("contents", WHOLE), stored, error=changed.get("error", ""))

    broken = broken_by(Primary(history=ENTRY), secondary)

    assert broken.startswith(why)
    assert bool(broken) == bool(why)


class Travelling(Steps):
    """Steps in which a heartbeat is sent, and its answer travels."""

    def exchanges(self, primary: int, secondary: int) -> tuple[Exchange, ...]:
        return ()

    def beat(self, whole: Secondary, way: int) -> Taken:
        return self._step(whole, lambda: self._secondary_side.beat(whole, way))


class Stepwise(Replication):
    """The same model with every leg of a way as an event of its own: questions and heartbeats travel too."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)
        self._catches = False
        self.steps: Travelling = Travelling(self.steps.messages, PrimarySide(bounds.backlog), SecondarySide())

    def _after(self, primary: int, step: Taken, wire: int, left: int) -> int:
        after = self.steps.renamed(primary, step.roles) if step.roles else primary
        return after | step.secondary << 20 | self.steps.sent(wire, step.sent, step.roles) << 40 | left << 72

    def successors(self, world: int) -> list[tuple[Occurrence, int]]:
        found = super().successors(world)
        primary, secondary, wire, left = world & 0xFFFFF, world >> 20 & 0xFFFFF, world >> 40 & 0xFFFFFFFF, world >> 72
        whole = self.steps.secondaries.values[secondary]
        if whole.state.connection_state in ("connecting", "ready"):
            for way in (MARK, ASIDE):
                step = self.steps.beat(whole, way)
                if not self._on_its_way(wire, step.sent):
                    found.append((Occurrence(BEAT, way), self._after(primary, step, wire, left)))
        return found

    def _on_its_way(self, wire: int, heartbeat: tuple[int, ...]) -> bool:
        """Whether a heartbeat of this kind, its answer, or a refusal of any, is on its way."""
        parcels = self.steps.messages.parcels
        aside = parcels[heartbeat[0]].aside
        lanes = self.steps.wires.values[wire].lanes
        beats = [parcels[number] for lane in lanes for number in lane if parcels[number].rpc == "echo"]
        return any(beat.aside == aside or beat.kind == "refusal" for beat in beats)


def judged(model: Replication, states: list[int]) -> set[Any]:
    """What the properties are judged by, of every state."""
    seen = set()
    for primary, secondary in {model.parts(world)[:2] for world in states}:
        state = secondary.state
        what = (state.state, state.connection_state, state.complete, state.position)
        seen.add((primary.history, primary.oldest, secondary.contents, secondary.stored, what))
    return seen


@pytest.mark.parametrize("bounds", SMALL, ids=str)
def test_events_that_are_taken_together_leave_nothing_out(searched: Callable[[Bounds], Any], bounds: Bounds) -> None:
    short, _, reached = searched(bounds)
    long = Stepwise(bounds)
    found, stepwise = search(long)

    assert found.exhausted
    assert judged(long, stepwise.states) == judged(short, reached.states)


def test_a_goal_is_a_stream_that_is_ready_and_level(searched: Callable[[Bounds], Any]) -> None:
    model, _, reached = searched(Bounds(2, 1))
    goals = [world for world in reached.states if model.is_goal(world)]
    for world in goals:
        primary, secondary, _, _ = model.parts(world)
        assert primary.stream.sent == secondary.state.position == primary.last
        assert (secondary.state.state, secondary.state.connection_state) == ("stream-wals", "ready")
        assert secondary.contents == contents_at(primary.history, primary.last)
        assert primary.stream.serial == secondary.state.stream

    assert 0 < len(goals) < len(reached.states)
    assert {model.parts(world)[0].last for world in goals} == {0, 1, 2}


def test_what_counts_against_the_bounds_and_what_is_left_of_them(searched: Callable[[Bounds], Any]) -> None:
    model, _, reached = searched(Bounds(1, 0, 0, 1, network="duplicating"))
    kinds = {event.kind: model.is_fault(event) for event in reached.events if event is not None}
    lefts = {model.parts(world)[3] for world in reached.states}

    assert {kind for kind, fault in kinds.items() if fault} == {"wrote", "took over", "gave up"}
    assert {kind for kind, fault in kinds.items() if not fault} == {"began", "delivered", "beat", "tried"}
    assert {left.writes for left in lefts} == {left.takeovers for left in lefts} == {0, 1}
    assert {(left.takeovers, left.silences) for left in lefts} == {(1, 0), (0, 1), (0, 0)}
    assert not model.is_fault("wrote")
