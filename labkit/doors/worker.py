"""Worker: a thread beside a server's loop, for what would hold up the loop; one call at a time, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


class Worker:
    """One thread, made when it is first needed; ``waiting`` says how many calls wait or are under way."""

    __slots__ = ("_name", "_thread", "waiting")

    def __init__(self, name: str) -> None:
        self._name, self.waiting = name, 0
        self._thread: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"Worker({self._name}, {self.waiting} waiting)"

    async def run(self, work: Callable[[], Result]) -> Result:
        """Call in the thread, after what waits already; it is called also when whoever waits goes away."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, f"labkit {self._name}")
        self.waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._thread, work)
        future.add_done_callback(self._done)
        return await asyncio.shield(future)

    def close(self) -> None:
        """End the thread once its call has ended; what only waits is not called."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None

    def _done(self, future: object) -> None:
        self.waiting -= 1
