"""Breadth-first search of a model: every state that can be reached, and the shortest way to one that must not be.

1. A state is compared whole, not by a fingerprint: two states are never taken for one.
2. States are visited in the order in which they were found, so counts and ways are the same in every process.
3. The search ends at the first state that breaks a property: its way has as few events as any.
4. It also ends at a limit of states; then it is not exhausted, and shows less.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)

MAX_STATES = 5_000_000


class Model(Protocol[S]):
    """What is searched: where it begins, what can happen in a state, and what must hold."""

    def start(self) -> S:
        """Return the state in which everything begins."""

    def successors(self, state: S) -> Sequence[tuple[Any, S]]:
        """Return (event, state after it) for everything that can happen in a state, in a fixed order."""

    def broken(self, state: S) -> str:
        """Return which property a state breaks, in a sentence; an empty text when it breaks none."""

    def is_fault(self, event: Any) -> bool:
        """Whether an event counts against the bounds; every other one happens by itself, sooner or later."""

    def is_goal(self, state: S) -> bool:
        """Whether in this state everything has arrived that was on its way."""


class Found(NamedTuple):
    """What a search saw: counts, and the shortest way to a state that breaks a property, if there is one."""

    states: int
    transitions: int
    depth: int
    exhausted: bool
    broken: str = ""
    way: tuple[Any, ...] = ()


class Reached(Generic[S]):
    """The states in the order in which they were found; of each, the one before it and the event between."""

    def __init__(self, start: S) -> None:
        self.states: list[S] = [start]
        self.before: list[int] = [0]
        self.events: list[Any] = [None]

    def way(self, number: int) -> tuple[Any, ...]:
        """Return the events from the start to a state."""
        events: list[Any] = []
        while number:
            events.append(self.events[number])
            number = self.before[number]
        return tuple(reversed(events))


def search(
    model: Model[S], max_states: int = MAX_STATES, report: Callable[[int, int], None] | None = None
) -> tuple[Found, Reached[S]]:
    """Visit all states; ``report(depth, states)`` is called whenever another depth begins."""
    start = model.start()
    reached: Reached[S] = Reached(start)
    numbers = {start: 0}
    states, before, events = reached.states, reached.before, reached.events
    successors, broken = model.successors, model.broken
    transitions = depth = number = 0
    end_of_depth = 1
    why = broken(start)
    while number < len(states) and not why:
        if len(states) >= max_states:
            return Found(len(states), transitions, depth, False), reached
        if number == end_of_depth:
            depth, end_of_depth = depth + 1, len(states)
            if report is not None:
                report(depth, len(states))
        for event, following in successors(states[number]):
            transitions += 1
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
                before.append(number)
                events.append(event)
                why = broken(following)
                if why:
                    depth += 1
                    break
        number += 1
    way = reached.way(len(states) - 1) if why else ()
    return Found(len(states), transitions, depth, not why, why, way), reached


def stuck(model: Model[S], reached: Reached[S]) -> tuple[Any, ...] | None:
    """Return the shortest way to a state from which no goal can be reached without further faults; None without one.

    ``reached`` is what an exhausted search reached.
    """
    states = reached.states
    numbers = {state: number for number, state in enumerate(states)}
    sources: list[list[int]] = [[] for _ in states]
    for number, state in enumerate(states):
        for event, following in model.successors(state):
            if not model.is_fault(event):
                sources[numbers[following]].append(number)
    waiting = [number for number, state in enumerate(states) if model.is_goal(state)]
    done = bytearray(len(states))
    for number in waiting:
        done[number] = 1
    while waiting:
        for source in sources[waiting.pop()]:
            if not done[source]:
                done[source] = 1
                waiting.append(source)
    left = done.find(0)
    return None if left < 0 else reached.way(left)
