"""Dask workers: those of a scheduler on any number of machines play chunks; the only module that knows Dask.

1. Dask may play a chunk twice, and plays again what was lost with a worker; chunks are pure, so that is the same.
2. A key is what the chunk is, so two sweeps of the same on one scheduler share results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from labkit.hunt.sweeping.chunks import (
    Chunk,
    PlayedChunk,
    Reference,
    WorkerRefused,
    Workers,
    WorkersLost,
    play_chunk,
)

CONNECT_S = 10


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
    from distributed import Client, KilledWorker, as_completed

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
        for future in as_completed(futures):
            try:
                played: PlayedChunk = future.result()
            except KilledWorker as killed:
                raise WorkersLost(f"workers of {address} ended again and again: {killed}") from None
            except ModuleNotFoundError as missing:
                raise WorkerRefused(f"a worker of {address} is refused: it has no {missing.name}") from None
            yield played
            future.release()
