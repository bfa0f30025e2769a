"""Processes: results come in order, what was killed is done again, and nobody outlives the one that asked."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from labkit.hunt.processes import MAX_LOST, Pool, WorkersLost, in_order

LOOKS = 1_200
ASKING = """
import os, time
from labkit.hunt.processes import Pool
pool = Pool(2)
print(*{pool.submit(os.getpid).result() for _ in range(20)}, flush=True)
time.sleep(600)
"""


def squared(number: int) -> int:
    return number * number


def killed_once(number: int, marks: str) -> int:
    """The square; of 3, the first time, nothing, as the process is killed."""
    mark = Path(marks, str(number))
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_killed(number: int, marks: str) -> int:
    Path(marks, f"{os.getpid()}").touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def slow_after_the_first(number: int, marks: str) -> int:
    if number:
        time.sleep(20)
        Path(marks, f"{number}").touch()
    return number


def test_what_is_in_hand_is_not_waited_for_once_nobody_asks(tmp_path: Path):
    results = in_order(partial(slow_after_the_first, marks=str(tmp_path)), range(9), 2)
    assert next(results) == 0
    del results

    assert [*tmp_path.iterdir()] == []


def test_one_job_is_this_process():
    assert list(in_order(lambda number: (number, os.getpid()), range(2), 1)) == [(0, os.getpid()), (1, os.getpid())]
    assert list(in_order(squared, [], 2)) == []


@pytest.mark.slow
def test_what_one_had_in_hand_that_was_killed_is_done_again_and_results_are_in_order(tmp_path: Path):
    found = list(in_order(partial(killed_once, marks=str(tmp_path)), range(9), 2, together=2))

    assert found == [number * number for number in range(9)]
    assert [mark.name for mark in tmp_path.iterdir()] == ["3"]


@pytest.mark.slow
def test_processes_that_end_again_and_again_end_all(tmp_path: Path):
    with pytest.raises(WorkersLost, match=f"ended {MAX_LOST} times in a row"):
        list(in_order(partial(always_killed, marks=str(tmp_path)), range(4), 2))
    assert len(list(tmp_path.iterdir())) >= MAX_LOST


@pytest.mark.slow
def test_processes_leave_an_interrupt_to_this_one_from_their_start_on():
    with Pool(1) as pool:
        future = pool.submit(squared, 3)
        [process] = list(pool._processes or {})
        blocked = re.search(r"^SigBlk:\s(\w+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)

        assert blocked is not None
        assert int(blocked[1], 16) >> (signal.SIGINT - 1) & 1
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        assert future.result() == 9


@pytest.mark.slow
def test_where_signals_cannot_be_blocked_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(signal, "pthread_sigmask")

    assert list(in_order(squared, range(4), 2)) == [0, 1, 4, 9]


@pytest.mark.slow
def test_none_outlives_a_process_that_was_killed():
    asking = subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    workers = [int(text) for text in asking.stdout.readline().split()]
    assert workers
    assert all(map(runs, workers))

    asking.kill()
    asking.wait()
    asking.stdout.close()
    for _ in range(LOOKS):
        if not any(map(runs, workers)):
            return
        time.sleep(0.05)
    pytest.fail(f"{workers} run on")


def runs(process: int) -> bool:
    """Whether a process runs: one that has ended may wait for whoever takes note of it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
