"""Chunks: their size goes by messages, their key by what they are; a worker with another result plays nothing."""

from __future__ import annotations

from labkit.hunt.sweeping.chunks import Chunk, Reference, chunks_of, in_this_process, play_chunk, size_for, this_worker
from labkit.hunt.sweeping.seed_rows import SeedRow, play_seed


def test_what_is_there_is_left_out(experiments):
    one, other = experiments
    there = {(one.digest, 0), (one.digest, 3), (other.digest, 1)}

    assert [(chunk.experiment.digest, chunk.seeds) for chunk in chunks_of(experiments, range(5), there, 2)] == [
        *((one.digest, (1, 2)), (one.digest, (4,))),
        *((other.digest, (0, 2)), (other.digest, (3, 4))),
    ]
    assert chunks_of(experiments, range(1), {(one.digest, 0), (other.digest, 0)}, 2) == []


def test_a_size_goes_by_the_messages_of_a_run():
    assert [size_for(messages) for messages in (0, 1, 40, 600, 2_000, 9_000)] == [64, 64, 50, 4, 1, 1]


def test_a_key_is_what_a_chunk_is(experiments):
    one, other = experiments
    keys = [Chunk(one, (0, 1)).key, Chunk(one, (0, 2)).key, Chunk(other, (0, 1)).key]

    assert len(set(keys)) == 3
    assert keys[0] == Chunk(one._replace(title="another"), (0, 1)).key


def test_a_chunk_has_a_row_for_each_seed_and_plays_the_reference_first(experiments):
    one, other = experiments
    reference = Reference(one, play_seed(one, 0).row)
    (played,) = in_this_process([Chunk(other, (1, 2))], reference)

    assert played.rows == tuple([play_seed(other, seed).row for seed in (1, 2)])
    assert (played.worker, played.reference) == (this_worker(), reference.row)


def test_a_worker_with_another_result_plays_nothing(experiments):
    wanted = SeedRow(0, 0, digest="of another labkit")
    played = play_chunk(Chunk(experiments[0], (1, 2)), Reference(experiments[0], wanted))

    assert played.rows == ()
    assert played.reference == play_seed(experiments[0], 0).row
