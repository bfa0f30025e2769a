"""Dask workers: without Dask the extra is named; with it they come to the same rows as this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from labkit.hunt.processes import WorkersLost
from labkit.hunt.sweeping import dask_workers as dask
from labkit.hunt.sweeping import sweep as sweeping
from labkit.hunt.sweeping.chunks import Reference, in_this_process
from labkit.hunt.sweeping.dask_workers import NoScheduler, dask_workers
from labkit.hunt.sweeping.row_file import appending, read_rows
from labkit.hunt.sweeping.seed_rows import SeedRow
from labkit.hunt.sweeping.sweep import Sweep, sweep_into


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(NoScheduler, match=r"--scheduler needs Dask, which is not installed: pip install '.\[dask\]'"):
        dask_workers("tcp://127.0.0.1:8786")


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named(experiments, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask, "CONNECT_S", 1)

    with pytest.raises(NoScheduler, match=r"tcp://127\.0\.0\.1:1: expected a Dask scheduler with a worker, got none"):
        list(dask_workers("tcp://127.0.0.1:1")([], Reference(experiments[0], SeedRow(0, 0))))


@pytest.mark.slow
def test_its_workers_come_to_the_same_as_this_process(tmp_path: Path, experiments, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(sweeping, "size_for", lambda messages: 1)
    alone, far = tmp_path / "alone", tmp_path / "far"
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        for path, workers in ((alone, in_this_process), (far, dask_workers(cluster.scheduler_address))):
            with appending(str(path)) as writer:
                sweep_into(writer, Sweep(experiments, 2, workers))

    assert read_rows(str(far)).digest == read_rows(str(alone)).digest
    assert len(read_rows(str(far)).seeds) == 4


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["workers", "scheduler"])
def test_what_is_played_stays_when_all_workers_are_gone(tmp_path: Path, experiments, monkeypatch, gone: str):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(sweeping, "size_for", lambda messages: 1)
    monkeypatch.setattr(dask, "GONE_S", 1)
    path = tmp_path / "rows"
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:

        def leave(runs: int) -> None:
            if gone == "scheduler":
                cluster.close()
            else:
                cluster.scale(0)

        workers = dask_workers(cluster.scheduler_address)
        text = "has had no worker for 1 s, and" if gone == "workers" else "has had no worker for 1 s|ended, and"
        with appending(str(path)) as writer, pytest.raises(WorkersLost, match=text):
            sweep_into(writer, Sweep(experiments, 60, workers), leave)

    assert 0 < len(read_rows(str(path)).seeds) < 120
