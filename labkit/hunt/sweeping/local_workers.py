"""Local workers: processes of this machine that play chunks; what one had in hand that was killed is played again."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context

from labkit.hunt.sweeping.chunks import (
    Chunk,
    PlayedChunk,
    Reference,
    Workers,
    WorkersLost,
    in_this_process,
    play_chunk,
)

MAX_LOST = 3
"""How many times in a row processes may end before any of them has played a chunk."""


def local_workers(jobs: int) -> Workers:
    """Return what plays chunks in so many processes; one is this process."""
    return in_this_process if jobs == 1 else partial(_in_processes, jobs)


def _in_processes(jobs: int, chunks: Sequence[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
    left, lost = dict.fromkeys(chunks), 0
    while left:
        try:
            for played in _until_one_ends(jobs, list(left), reference):
                del left[played.chunk]
                lost = 0
                yield played
        except BrokenProcessPool:
            lost += 1
            if lost == MAX_LOST:
                raise WorkersLost(
                    f"processes that play ended {MAX_LOST} times in a row; is there enough memory?"
                ) from None


def _until_one_ends(jobs: int, chunks: list[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
    pool = ProcessPoolExecutor(min(jobs, len(chunks)), get_context("spawn"), _leave_interrupts_to_the_parent)
    try:
        futures: list[Future[PlayedChunk]] = [pool.submit(play_chunk, chunk, reference) for chunk in chunks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
