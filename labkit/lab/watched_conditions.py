"""Watched conditions: rules of one's own that are written as data; they travel in snapshots and branches.

What reads and judges one is handed in: scenario files have the same conditions, above the lab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from labkit.lab import build
from labkit.lab.invariants import Invariants
from labkit.lab.queries import Queries


class WatchedCondition(Protocol):
    """One condition that a lab watches."""

    @property
    def judged(self) -> bool:
        """Whether there was any occasion to judge it."""

    def on_timer(self, payload: Any) -> None:
        """Something that it put into the clock fell due."""

    def state(self) -> Any:
        """Return it as plain values."""

    def begin(self) -> None:
        """Judge it from now on, or from its instant on."""

    def close(self) -> None:
        """Judge it no more."""


Schedule = Callable[[int, Any], None]
MakeCondition = Callable[[str, Any, Queries, Invariants, Schedule], WatchedCondition]
"""Makes one from its name and what it says, which is as written or as ``state`` gave it."""


class WatchedConditions:
    """The conditions that one lab watches, by name."""

    __slots__ = ("_invariants", "_make", "_queries", "by_name")

    def __init__(self, make: MakeCondition | None, queries: Queries, invariants: Invariants, state: Any = ()) -> None:
        self._make, self._queries, self._invariants = make, queries, invariants
        self.by_name: dict[str, WatchedCondition] = {}
        for name, kept in state:
            self._add(name, kept)

    def __repr__(self) -> str:
        return f"WatchedConditions({', '.join(self.by_name)})"

    def watch(self, name: str, says: Mapping[str, Any] | tuple[Any, ...]) -> None:
        """Watch a condition, in the place of one of the same name."""
        before = self.by_name.get(name)
        condition = self._add(name, says)
        if before is not None:
            before.close()
        condition.begin()

    def drop(self, name: str) -> None:
        """Watch it no more, if it is watched."""
        found = self.by_name.pop(name, None)
        if found is not None:
            found.close()
            del self._invariants.conditions[name]

    def on_timer(self, payload: tuple[str, Any]) -> None:
        """An item of the clock fell due."""
        name, what = payload
        if name in self.by_name:
            self.by_name[name].on_timer(what)

    def state(self) -> tuple[tuple[str, Any], ...]:
        """Return them as plain values."""
        return tuple([(name, condition.state()) for name, condition in self.by_name.items()])

    def _add(self, name: str, says: Any) -> WatchedCondition:
        if self._make is None:
            raise ValueError(f"{name}: expected a function of the lab; conditions are judged by labkit.Lab")
        clock = self._queries.parts.clock

        def schedule(at_ns: int, what: Any) -> None:
            clock.at(at_ns, (build.CONDITION, "", (name, what)))

        condition = self._make(name, says, self._queries, self._invariants, schedule)
        self.by_name[name] = condition
        self._invariants.conditions[name] = lambda: condition.judged
        return condition
