"""Local workers: processes of this machine that play chunks; what one had in hand that was killed is played again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from labkit.hunt.processes import Pool, lost_again
from labkit.hunt.sweeping.chunks import Chunk, PlayedChunk, Reference, Workers, in_this_process, play_chunk


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
            lost = lost_again(lost)


def _until_one_ends(jobs: int, chunks: list[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
    pool = Pool(min(jobs, len(chunks)))
    try:
        futures: list[Future[PlayedChunk]] = [pool.submit(play_chunk, chunk, reference) for chunk in chunks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.stop()
