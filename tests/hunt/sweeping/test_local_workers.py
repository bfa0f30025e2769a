"""Local workers: one job is this process; processes that end again and again are reported."""

from __future__ import annotations

import os
from concurrent.futures.process import BrokenProcessPool

import pytest

from labkit.hunt.processes import WorkersLost
from labkit.hunt.sweeping import local_workers as local
from labkit.hunt.sweeping.chunks import Chunk, Reference, in_this_process, play_chunk
from labkit.hunt.sweeping.seed_rows import play_seed


def test_one_job_is_this_process():
    assert local.local_workers(1) is in_this_process


def test_what_was_in_hand_is_played_again_but_not_for_ever(experiments, monkeypatch):
    chunks = [Chunk(experiments[0], (seed,)) for seed in range(3)]
    reference = Reference(experiments[0], play_seed(experiments[0], 0).row)
    asked: list[int] = []

    def ends_after_one(jobs, chunks, reference):
        asked.append(len(chunks))
        if len(asked) in (1, 3):
            yield play_chunk(chunks[0], reference)
        raise BrokenProcessPool

    monkeypatch.setattr(local, "_until_one_ends", ends_after_one)
    playing = local.local_workers(2)(chunks, reference)
    assert [next(playing).chunk, next(playing).chunk] == chunks[:2]
    assert asked == [3, 2, 2]
    with pytest.raises(WorkersLost, match="ended 3 times in a row"):
        next(playing)
    assert asked == [3, 2, 2, 1, 1]


@pytest.mark.slow
def test_processes_play_and_are_others(experiments):
    chunks = [Chunk(experiments[0], (seed,)) for seed in range(2)]
    reference = Reference(experiments[0], play_seed(experiments[0], 0).row)
    played = list(local.local_workers(2)(chunks, reference))

    assert sorted(one.chunk.seeds for one in played) == [(0,), (1,)]
    assert f"process {os.getpid()} " not in " ".join(one.worker for one in played)
    assert {one.chunk.seeds: one.rows for one in played} == {
        chunk.seeds: play_chunk(chunk, reference).rows for chunk in chunks
    }
