"""Sweep: what is there is not played again; who comes to another result is refused, and nothing is lost by a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.hunt.sweeping import sweep as sweeping
from labkit.hunt.sweeping.chunks import PlayedChunk, WorkerRefused, in_this_process
from labkit.hunt.sweeping.row_file import TwoResults, appending, read_rows
from labkit.hunt.sweeping.sweep import Sweep, runs_left, sweep_into


def swept(path: Path, experiments, seeds: int, workers=in_this_process) -> list[int]:
    """Sweep into a file; return how many runs each chunk had."""
    done: list[int] = []
    with appending(str(path)) as writer:
        sweep_into(writer, Sweep(experiments, seeds, workers), done.append)
    return done


def test_a_sweep_goes_on_where_it_was_and_comes_to_the_same(tmp_path: Path, experiments, monkeypatch):
    monkeypatch.setattr(sweeping, "size_for", lambda messages: 2)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert swept(whole, experiments, 3) == [2, 1, 2, 1]
    assert swept(parts, experiments[1:], 2) == [2]
    parts.write_bytes(parts.read_bytes() + b'{"checksum":"torn')
    with appending(str(parts)) as writer:
        assert runs_left(Sweep(experiments, 3, in_this_process), writer) == 4
    assert swept(parts, experiments, 3) == [2, 1, 1]
    assert swept(parts, experiments, 3) == []

    assert read_rows(str(parts)).digest == read_rows(str(whole)).digest


def test_a_sweep_that_is_stopped_has_what_it_had_played(tmp_path: Path, experiments, monkeypatch):
    monkeypatch.setattr(sweeping, "size_for", lambda messages: 1)
    path = tmp_path / "rows"

    def stop(runs: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), appending(str(path)) as writer:
        sweep_into(writer, Sweep(experiments, 2, in_this_process), stop)
    assert len(read_rows(str(path)).seeds) == 1


def with_other_reference(chunks, reference):
    for played in in_this_process(chunks, reference):
        yield played._replace(worker="process 7 on elsewhere", reference=played.reference._replace(digest="other"))


def with_other_rows(chunks, reference):
    for played in in_this_process(chunks, reference):
        yield played
        yield PlayedChunk(played.chunk, "elsewhere", played.reference, (played.rows[0]._replace(lost=9),))


def test_a_worker_with_another_digest_is_refused_by_name(tmp_path: Path, experiments):
    with pytest.raises(WorkerRefused, match=r"process 7 on elsewhere is refused: .*other, and"):
        swept(tmp_path / "rows", experiments, 1, with_other_reference)
    assert (tmp_path / "rows").read_bytes() == b""


def test_a_chunk_that_is_played_twice_with_other_results_stops_the_sweep(tmp_path: Path, experiments):
    with pytest.raises(TwoResults, match="seed 0 of Cut short"):
        swept(tmp_path / "rows", experiments, 1, with_other_rows)
    assert len(read_rows(str(tmp_path / "rows")).seeds) == 1
