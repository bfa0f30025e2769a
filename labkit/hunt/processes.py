"""Processes: several of this machine do pieces of work, and end when the process that asked them ends, however it does.

What one had in hand that was killed is done again: a piece of work is a function of what it is given.  So where
work is stopped, or raises, nothing is waited for.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import ParamSpec, TypeVar

MAX_LOST = 3
"""How many times in a row processes may end before any of them has done a piece."""

Given = TypeVar("Given")
Result = TypeVar("Result")
P = ParamSpec("P")


class WorkersLost(Exception):
    """Processes that play ended again and again."""


def lost_again(lost: int) -> int:
    """Return how many times processes ended in a row, once more; raise WorkersLost when that is too often."""
    if lost + 1 == MAX_LOST:
        raise WorkersLost(f"processes that play ended {MAX_LOST} times in a row; is there enough memory?")
    return lost + 1


class Pool(ProcessPoolExecutor):
    """So many processes, which leave Ctrl-C to this one from the instant at which they are started."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs, get_context("spawn"), _begin)

    def submit(self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs) -> Future[Result]:
        """Give some work to a process, which is started if none waits: it keeps the signals that are blocked here."""
        if not hasattr(signal, "pthread_sigmask"):  # a system without it
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def stop(self) -> None:
        """End the processes at once: nobody waits any more for what they have in hand."""
        for process in list(self._processes.values()):
            process.kill()
        self.shutdown(wait=True, cancel_futures=True)


def in_order(work: Callable[[Given], Result], given: Iterable[Given], jobs: int, together: int = 1) -> Iterator[Result]:
    """Yield the results of some work in the order in which it is given, in this process or in several.

    Each of several is given some pieces together.  WorkersLost when they end again and again.
    """
    if jobs == 1:
        yield from map(work, given)
        return
    pieces, done, lost = list(given), 0, 0
    while done < len(pieces):
        pool = Pool(min(jobs, len(pieces) - done))
        try:
            for result in pool.map(work, pieces[done:], chunksize=together):
                done, lost = done + 1, 0
                yield result
        except BrokenProcessPool:
            lost = lost_again(lost)
        finally:
            pool.stop()


def _begin() -> None:
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = parent_process()
    assert parent is not None, "a process of a pool was started by another"
    parent.join()
    os._exit(1)
