"""Turns: threads that share a lab act on it one at a time.

1. A turn is short: a verb that takes effect at once, a reading, a slice of a run.  Who waits for an answer or for the
   end of a runbook has no turn while it waits, so others act meanwhile.
2. The thread that has the turn may take it again.  Who waits longest for it gets it before the one that just had it.
3. ``shared`` says that more than one thread acts; a lab of one thread runs without slices.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from collections.abc import Callable
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


class Turns:
    """The turn of one lab, for ``with``."""

    __slots__ = ("_depth", "_free", "_next", "_owner", "shared")

    def __init__(self) -> None:
        self._free, self._next = allocate_lock(), allocate_lock()
        self._owner = self._depth = 0
        self.shared = False

    def __repr__(self) -> str:
        return f"Turns({'shared' if self.shared else 'of one thread'})"

    def __enter__(self) -> None:
        me = get_ident()
        if self._owner != me:
            with self._next:  # whoever had the turn last stands behind the one that waits here
                self._free.acquire()
            self._owner = me
        self._depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
            self._free.release()


def each_in_turn(turns: Callable[[Any], Turns], but: str = "") -> Callable[[Kind], Kind]:
    """Let each public method and property of a class have the turn of its lab, except those that take turns themselves.

    ``turns`` finds the turns of an object of the class; ``but`` names those, with blanks between.
    """

    def decorate(kind: Kind) -> Kind:
        others = but.split()
        for name, member in [*vars(kind).items()]:
            if name.startswith("_") or name in others:
                continue
            if isinstance(member, FunctionType):
                setattr(kind, name, _in_turn(member, turns))
            elif isinstance(member, property) and member.fget is not None:
                setattr(kind, name, property(_in_turn(member.fget, turns)))
        return kind

    return decorate


def _in_turn(function: Callable[..., Any], turns: Callable[[Any], Turns]) -> Callable[..., Any]:
    @wraps(function)
    def in_turn(self: Any, *arguments: Any, **named: Any) -> Any:
        with turns(self):
            return function(self, *arguments, **named)

    return in_turn
