"""Dask workers: those of a scheduler on any number of machines play chunks; the only module that knows Dask.

1. Dask may play a chunk twice, and plays again what was lost with a worker; chunks are pure, so that is the same.
2. Where all workers are gone, others may still come: only after a while without any is the sweep ended.
3. A key is what the chunk is, so two sweeps of the same on one scheduler share results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import sleep
from typing import Any

from labkit.hunt.processes import WorkersLost
from labkit.hunt.sweeping.chunks import (
    Chunk,
    PlayedChunk,
    Reference,
    WorkerRefused,
    Workers,
    play_chunk,
)
from labkit.real import steady
from labkit.service.durations import SECOND_NS

CONNECT_S = 10
GONE_S, LOOK_S = 30, 0.05
"""How long none of the chunks may be played for want of workers, and how often that is looked at."""


class NoScheduler(ValueError):
    """A scheduler that cannot be reached, or has no worker, or Dask is not installed; the text says which."""


def dask_workers(address: str) -> Workers:
    """Return what lets the workers of a scheduler play; raise NoScheduler where Dask is not installed."""
    try:
        import distributed  # noqa: F401 - whether it is there is all that is asked here
    except ModuleNotFoundError:
        raise NoScheduler("--scheduler needs Dask, which is not installed: pip install '.[dask]'") from None
    return partial(_on_scheduler, address)


def _on_scheduler(address: str, chunks: Sequence[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_S)
        client.wait_for_workers(1, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        text = (
            f"expected a Dask scheduler with a worker, got none within {CONNECT_S} s ({' '.join(str(error).split())})"
        )
        raise NoScheduler(f"--scheduler: {address}: {text}") from None
    with client:
        futures = [client.submit(play_chunk, chunk, reference, key=f"labkit-{chunk.key}") for chunk in chunks]
        for future, result in _ended(client, futures, address):
            yield _played(future, result, address)
            future.release()


def _ended(client: Any, futures: list[Any], address: str) -> Iterator[tuple[Any, Any]]:
    """Yield futures as they end, with what they end with: a result that is lost with its worker is none.

    Raise WorkersLost when none ends for want of workers, or of a scheduler.
    """
    from distributed import as_completed

    ended, seen_ns = as_completed(futures, with_results=True, raise_errors=False), steady()
    while ended.count():
        batch = ended.next_batch(block=False)
        yield from batch
        if batch or _has_workers(client):
            seen_ns = steady()
        elif steady() - seen_ns > GONE_S * SECOND_NS:
            left = f"{ended.count()} of {len(futures)} chunks"
            raise WorkersLost(f"{address} has had no worker for {GONE_S} s, and {left} are not played")
        if not batch:
            sleep(LOOK_S)


def _has_workers(client: Any) -> bool:
    """Ask the scheduler whether it has workers; one that does not answer has none."""
    try:
        return bool(client.nthreads())
    except (OSError, RuntimeError, TimeoutError):  # what closed connections and closed clients raise
        return False


def _played(future: Any, result: Any, address: str) -> PlayedChunk:
    from distributed import KilledWorker

    if future.status == "cancelled":
        raise WorkersLost(f"the scheduler {address} ended, and what it had in hand with it")
    if future.status != "error":
        played: PlayedChunk = result
        return played
    _, error, trace = result
    if isinstance(error, KilledWorker):
        raise WorkersLost(f"workers of {address} ended again and again: {error}")
    if isinstance(error, ModuleNotFoundError):
        raise WorkerRefused(f"a worker of {address} is refused: it has no {error.name}")
    raise error.with_traceback(trace)
