"""The wall clock and the operating system's entropy: the only module through which a vault reads either.

1. Code that needs time or entropy is passed a function for it; it never reads the system's clock or entropy itself.
2. A simulated world is passed functions of its own, so that the same seed gives the same bytes.
3. A process that was forked has another number than its parent, by which what the parent made is known there (C18).
   Of its parent's sockets those that are named here lead nowhere in it: else a port that the parent closes stays open,
   and who is connected waits.
4. Draws of the sizes of nonces, and ids of requests, are made many at once.  One by one, nonces took 2 to 3 % of a
   transit encrypt, and ids 8 % of any request.  Each is handed out once, and a forked process has none of its parent's.
   What a token's text and accessor are drawn of, one by one, took 2 % of its creation.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _struct import Struct

POOLED_BYTES = (12, 48, 56)  # a nonce, the nonces of a step's writes, a token's text and accessor
DRAWS, FIRST_DRAWS = 256, 16  # that are made at once

T = TypeVar("T")

now: Callable[[], int] = time.time_ns
"""Return the wall clock: integer nanoseconds since 1970-01-01T00:00:00Z; each request looks at it."""

steady: Callable[[], int] = time.monotonic_ns
"""Return nanoseconds since some instant, on a clock that is never set: for what is paced by real time."""

_pools: list[list[Any]] = []
_nonces: dict[int, list[bytes]] = {}
_begun: set[int] = set()  # the sizes of which a few were drawn
_sockets: dict[Callable[[], list[int]], None] = {}  # what names descriptors that are of no use to a child
_forks = 0  # that lie between the first process that had this module, and this one


def entropy(size_bytes: int) -> bytes:
    """Return random bytes from the operating system's cryptographic source."""
    pool = _nonces.get(size_bytes)
    if pool is None:
        return os.urandom(size_bytes)
    try:
        return pool.pop()
    except IndexError:
        drawn, *others = _draws(size_bytes)
        pool += others
        return drawn


def _draws(size_bytes: int) -> Iterable[bytes]:
    """Return many draws of a size; of each size at first a few, for which no module is loaded (R24)."""
    if size_bytes not in _begun:
        _begun.add(size_bytes)
        drawn = os.urandom(size_bytes * FIRST_DRAWS)
        return [drawn[place : place + size_bytes] for place in range(0, len(drawn), size_bytes)]
    draws: tuple[bytes, ...] = _form(size_bytes).unpack(os.urandom(size_bytes * DRAWS))
    return draws


@cache
def _form(size_bytes: int) -> Struct:
    from _struct import Struct  # the written module is not loaded (R24)

    return Struct(f"{size_bytes}s" * DRAWS)


def fork_watch() -> Callable[[], bool]:
    """Return a function that says whether it is called in a process that was forked from the present one."""
    here = _forks

    def is_forked() -> bool:
        return _forks != here

    return is_forked


def leave_sockets(descriptors: Callable[[], list[int]]) -> Callable[[], None]:
    """Let the descriptors that a function names lead nowhere in each process that is forked; return what ends that."""
    _sockets[descriptors] = None
    return lambda: _sockets.pop(descriptors, None)


def many_at_once(make: Callable[[bytes], list[T]], size_bytes: int) -> Callable[[], T]:
    """Return a function that gives one thing at each call: ``make`` makes a list of them of random bytes (rule 4)."""
    pool: list[T] = _new_pool()

    def draw() -> T:
        try:
            return pool.pop()
        except IndexError:
            first, *others = make(os.urandom(size_bytes))
            pool.extend(others)
            return first

    return draw


def _new_pool() -> list[Any]:
    pool: list[Any] = []
    _pools.append(pool)
    return pool


def _begin_again() -> None:
    global _forks  # it is the process's own number, like that of the operating system
    _forks += 1
    for pool in _pools:
        pool.clear()
    left = [descriptor for descriptors in _sockets for descriptor in descriptors()]
    _sockets.clear()
    if left:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in left:
            os.dup2(nowhere, descriptor, inheritable=False)  # whoever has it still may close it
        os.close(nowhere)


_nonces.update({size_bytes: _new_pool() for size_bytes in POOLED_BYTES})
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
