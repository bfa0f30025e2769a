"""Chunks: seeds of one experiment that a worker plays together, each chunk worth more than handing it over costs.

1. A chunk is pure: its rows are a function of what is in it, so it may be played twice, or again elsewhere.
2. Its size goes by the messages of a run, not by a clock, so its key is the same on every machine.
3. A worker first plays a reference seed: one whose labkit, Python or machine gives another digest plays nothing.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from labkit.hunt.sweeping import seed_rows
from labkit.hunt.sweeping.experiments import Experiment, digest_of
from labkit.hunt.sweeping.seed_rows import SeedRow

MESSAGES_PER_CHUNK, MAX_SEEDS_PER_CHUNK = 2_000, 64
"""A message costs 60 to 400 µs, so a chunk of so many takes more than 100 ms."""


class Chunk(NamedTuple):
    """Some seeds of an experiment."""

    experiment: Experiment
    seeds: tuple[int, ...]

    @property
    def key(self) -> str:
        """What it is, as a digest of file, values, code and seeds."""
        return digest_of(self.experiment.digest, self.seeds)


class Reference(NamedTuple):
    """What every worker plays first, and the row that it has to come to."""

    experiment: Experiment
    row: SeedRow


class PlayedChunk(NamedTuple):
    """What came of a chunk: who played it, its row of the reference seed, and the rows; none from a refused worker."""

    chunk: Chunk
    worker: str
    reference: SeedRow
    rows: tuple[SeedRow, ...]


class WorkerRefused(Exception):
    """A worker comes to another result with the reference seed; the text names it and what it came to."""


Workers = Callable[[Sequence[Chunk], Reference], Iterator[PlayedChunk]]
"""What plays chunks, and yields each when it is played, in any order."""


def chunks_of(
    experiments: Iterable[Experiment], seeds: Iterable[int], there: Collection[tuple[str, int]], size: int
) -> list[Chunk]:
    """Cut what is not there yet into chunks of so many seeds; ``there`` has pairs: an experiment's digest, a seed."""
    wanted, found = list(seeds), []
    for experiment in experiments:
        left = [seed for seed in wanted if (experiment.digest, seed) not in there]
        found += [Chunk(experiment, tuple(left[start : start + size])) for start in range(0, len(left), size)]
    return found


def size_for(messages: int) -> int:
    """Return how many seeds are a chunk where one run has so many messages."""
    return max(1, min(MAX_SEEDS_PER_CHUNK, -(-MESSAGES_PER_CHUNK // max(1, messages))))


def play_chunk(chunk: Chunk, reference: Reference) -> PlayedChunk:
    """Play a chunk in this process, unless that comes to another result with the reference seed."""
    seen = reference_row(reference.experiment, reference.row.seed)
    rows = (
        tuple([seed_rows.play_seed(chunk.experiment, seed).row for seed in chunk.seeds])
        if seen == reference.row
        else ()
    )
    return PlayedChunk(chunk, this_worker(), seen, rows)


@lru_cache(4)
def reference_row(experiment: Experiment, seed: int) -> SeedRow:
    """Return the row of a seed, which each process plays once."""
    return seed_rows.play_seed(experiment, seed).row


def this_worker() -> str:
    """Return the name of this process: its machine, its number and its Python."""
    return f"process {os.getpid()} on {platform.node() or 'a machine'} (Python {platform.python_version()})"


def in_this_process(chunks: Sequence[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
    """Play chunks one after the other, here."""
    for chunk in chunks:
        yield play_chunk(chunk, reference)
