"""Sweep: plays what a file of rows does not have yet, and appends it chunk by chunk.

What is there is not played again, so a sweep that was stopped goes on, and more seeds cost only what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from labkit.hunt.sweeping import seed_rows
from labkit.hunt.sweeping.chunks import Chunk, Reference, WorkerRefused, Workers, chunks_of, size_for, this_worker
from labkit.hunt.sweeping.experiments import Experiment
from labkit.hunt.sweeping.row_file import RowWriter


class Sweep(NamedTuple):
    """What is wanted: experiments, each with so many seeds from 0 on, and what plays them."""

    experiments: tuple[Experiment, ...]
    seeds: int
    workers: Workers


def runs_left(sweep: Sweep, writer: RowWriter) -> int:
    """Return how many runs are not there yet."""
    return sum(len(chunk.seeds) for chunk in _chunks(sweep, writer, sweep.seeds))


def sweep_into(writer: RowWriter, sweep: Sweep, done: Callable[[int], object] = lambda runs: None) -> None:
    """Play what is not there yet, and append it; ``done`` is called with the number of runs of each chunk.

    Raise WorkerRefused, WorkersLost, or TwoResults.
    """
    missing = _chunks(sweep, writer, sweep.seeds)
    if not missing:
        return
    first = missing[0]
    wanted, messages = seed_rows.play_seed(first.experiment, first.seeds[0])
    chunks = _chunks(sweep, writer, size_for(messages))
    for played in sweep.workers(chunks, Reference(first.experiment, wanted)):
        if played.reference != wanted:
            raise WorkerRefused(
                f"{played.worker} is refused: with the reference seed {wanted.seed} it comes to "
                f"{played.reference.text}, and {this_worker()} to {wanted.text}; give both the same labkit"
            )
        writer.append(played)
        done(len(played.rows))


def _chunks(sweep: Sweep, writer: RowWriter, size: int) -> list[Chunk]:
    return chunks_of(sweep.experiments, range(sweep.seeds), writer.rows.seeds, size)
