"""Shared use: one thread at a time is let in, and nobody in a process that was forked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from labkit.cloud.shared_use import SharedUse
from labkit.service.errors import Forked


def test_one_thread_at_a_time_is_let_in_and_may_come_in_again() -> None:
    use, is_in = SharedUse(), Event()

    def enter() -> None:
        with use:
            is_in.set()

    with ThreadPoolExecutor(1) as threads:
        with use:
            with use:
                other = threads.submit(enter)
            assert not is_in.wait(0.05)
        other.result(10)
    assert is_in.is_set()
    assert repr(use) == "SharedUse()"


def test_a_forked_process_does_not_wait_for_a_thread_that_is_not_there() -> None:
    use = SharedUse()
    use.refuse_forked()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(use.__enter__).result(10)
        use.is_forked = lambda: True
        for enter in (use.__enter__, use.refuse_forked):
            with pytest.raises(Forked, match="this cloud was made before this process was forked"):
                enter()
        assert str(SharedUse("key store").forked()).startswith("this key store was made before this process")
        use.is_forked = lambda: False
        threads.submit(use.__exit__, None, None, None).result(10)
