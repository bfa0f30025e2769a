"""A work limit interrupts what goes on and on, whatever it catches, and leaves nothing behind."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import pytest

from labkit.lessons import work_limit
from labkit.lessons.work_limit import TookTooLong, limited


def catches_what_it_can() -> None:
    while True:
        with suppress(Exception):
            sum(range(1000))


def keeps_two_interruptions() -> None:
    for _ in range(2):
        with suppress(BaseException):
            catches_what_it_can()
    catches_what_it_can()


@pytest.mark.parametrize("work", [catches_what_it_can, keeps_two_interruptions])
def test_what_goes_on_and_on_is_interrupted_whatever_it_keeps(work, monkeypatch):
    monkeypatch.setattr(work_limit, "AGAIN_S", 0.05)
    with pytest.raises(TookTooLong), limited(0.05):
        work()

    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_what_ends_in_time_is_left_alone():
    with limited(5):
        found = sum(range(1000))

    assert found == 499_500


@pytest.mark.parametrize("lacking", ["setitimer", "first thread"])
def test_where_nothing_can_be_interrupted_there_is_no_limit(lacking, monkeypatch):
    if lacking == "setitimer":
        monkeypatch.delattr(signal, "setitimer")
        with limited(0.001):
            assert sum(range(100_000))
        return
    done: list[int] = []

    def work() -> None:
        with limited(0.001):
            done.append(sum(range(100_000)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done
