"""Turns: threads that share a lab act on it one at a time.

1. A turn is short: a verb that takes effect at once, a reading, a slice of a run.  Who waits for an answer or for the
   end of a runbook has no turn while it waits, so others act meanwhile.
2. The thread that has the turn may take it again.  Who waits longest for it gets it before the one that just had it.
3. In a process that was forked from the lab's nobody gets a turn, and nobody waits for one: whoever had it is not there
   (C18).  Whether it was, ``is_forked`` says, which the lab is handed.
4. ``shared`` says that more than one thread acts; a lab of one thread runs without slices.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, ClassVar

from labkit.service.errors import Forked
from labkit.vault.core import never


class Turns:
    """The turn of one lab, for ``with``."""

    __slots__ = ("_depth", "_free", "_next", "_owner", "is_forked", "shared")

    def __init__(self) -> None:
        self.is_forked: Callable[[], bool] = never
        self._free, self._next = allocate_lock(), allocate_lock()
        self._owner = self._depth = 0
        self.shared = False

    def __repr__(self) -> str:
        return f"Turns({'shared' if self.shared else 'of one thread'})"

    def refuse_forked(self) -> None:
        """Raise Forked in a process that was forked from the lab's."""
        if self.is_forked():
            raise Forked("this lab was made")

    def __enter__(self) -> None:
        self.refuse_forked()
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


class EachInTurn:
    """Lets each public method and property of a class, and of those made from it, have the turn of its lab.

    ``but`` names the methods that take turns themselves, with blanks between; where a class made from this one has a
    method of such a name, it takes them too.
    """

    __slots__ = ()
    _without_turn: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, but: str = "", **named: Any) -> None:
        super().__init_subclass__(**named)
        inherited = [vars(kind).get("_without_turn", ()) for kind in cls.__mro__]
        cls._without_turn = frozenset(but.split()).union(*inherited)
        for name, member in [*vars(cls).items()]:
            if name.startswith("_") or name in cls._without_turn:
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, _in_turn(member))
            elif isinstance(member, property):
                get, put, delete = map(_in_turn, (member.fget, member.fset, member.fdel))
                setattr(cls, name, property(get, put, delete, member.__doc__))

    @property
    @abstractmethod
    def _turns(self) -> Turns:
        """The turns of the lab that it belongs to."""


def _in_turn(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    if function is None:
        return None

    @wraps(function)
    def in_turn(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._turns:
            return function(self, *arguments, **named)

    return in_turn
