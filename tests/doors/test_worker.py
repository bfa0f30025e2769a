"""The worker: calls beside the loop, in order, which go on when nobody waits for them."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from labkit.doors.worker import Worker


def test_calls_are_made_in_order_and_beside_the_loop() -> None:
    async def called() -> tuple[list[int], list[int], int]:
        worker, order, begun = Worker("tests"), list[int](), threading.Event()

        def work(number: int) -> int:
            begun.wait(10)
            order.append(number)
            return threading.get_ident()

        waits = [asyncio.ensure_future(worker.run(partial(work, number))) for number in range(5)]
        await asyncio.sleep(0)
        assert worker.waiting == 5
        begun.set()
        threads = await asyncio.gather(*waits)
        await asyncio.sleep(0)
        worker.close()
        return order, threads, worker.waiting

    order, threads, waiting = asyncio.run(called())
    assert order == [0, 1, 2, 3, 4]
    assert len({*threads}) == 1
    assert threads[0] != threading.get_ident()
    assert waiting == 0


def test_what_is_called_goes_on_when_nobody_waits_any_more() -> None:
    async def abandoned() -> bool:
        worker, may_end, ended = Worker("tests"), threading.Event(), threading.Event()

        def work() -> None:
            may_end.wait(10)
            ended.set()

        waits = asyncio.ensure_future(worker.run(work))
        await asyncio.sleep(0.01)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        may_end.set()
        answered = await worker.run(lambda: 7)
        worker.close()
        worker.close()
        return ended.is_set() and answered == 7

    assert asyncio.run(abandoned())


def test_what_a_call_raises_comes_to_whoever_waits() -> None:
    async def raised() -> None:
        worker = Worker("tests")
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda: 1 // 0)
        worker.close()

    asyncio.run(raised())
