"""Lab driver: lets time pass in a served lab, for what waits and by itself, in the loop of its server.

1. A request is under way as soon as it comes, whatever else waits.  Time passes in slices, each a turn of its own, so
   the lab's verbs can be called meanwhile; what they make happen happens at once.
2. At speed 0 time passes only while somebody waits for an answer, and exactly as long as that takes: the same calls,
   one after the other, find the same lab.  At any other, that many simulated seconds pass in a second.  What a
   slow machine falls behind is not made up for.
3. Who has asked and goes away changes nothing: the request is carried out.
4. It may stand until somebody is there, a client that asks or a page that is opened, and go at its speed from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from labkit import real
from labkit.lab.operations.operator_console import Finished
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.parts import Parts
from labkit.lab.time_passage import TimePassage
from labkit.service.durations import SECOND_NS
from labkit.service.message import Response, silence

TIMEOUT_NS = 30 * SECOND_NS
MAX_BEHIND_NS = SECOND_NS // 4
MAX_WORK_NS = SECOND_NS // 20
MAX_PAUSE_NS = SECOND_NS // 10
MIN_PAUSE_NS = SECOND_NS // 1_000


class LabDriver:
    """What drives one served lab; all but ``speed`` is called in the server's loop, ``failed`` when a bug ends it."""

    def __init__(self, parts: Parts, passage: TimePassage, speed: float = 0) -> None:
        self.parts, self.speed, self._passage = parts, speed, passage
        self._speed_later: float | None = None
        self._asks: dict[int, asyncio.Future[Response]] = {}
        self._runbooks: dict[int, asyncio.Future[Finished]] = {}
        self._wanted = asyncio.Event()
        self._last_ns = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self.cause: BaseException | None = None
        self._ends = False
        self.failed: Callable[[], None] = lambda: None

    def __repr__(self) -> str:
        return f"LabDriver(speed {self.speed:g})"

    def lead_to(self, other: LabDriver) -> None:
        """Drive another lab from now on; what waits for the other one gets no answer any more."""
        asks, runbooks, self._asks, self._runbooks = self._asks, self._runbooks, {}, {}
        self.parts, self._passage = other.parts, other._passage
        if self._loop is not None:
            self._loop.call_soon_threadsafe(_end_all, asks, silence("another lab"))
            self._loop.call_soon_threadsafe(_end_all, runbooks, Finished(False, "another lab stands here now"))

    def wait_for_somebody(self) -> None:
        """Let no time pass before the first request; from then on at its speed."""
        self._speed_later, self.speed = self.speed, 0

    def begin(self) -> None:
        """Go at the speed that it has, now that somebody is there."""
        if self._speed_later is not None:
            self.set_speed(self._speed_later)

    def set_speed(self, speed: float) -> None:
        """Go at another speed from now on, whoever is there."""
        if not self.speed:
            self._last_ns = real.steady()
        self.speed, self._speed_later = speed, None
        self.wake()

    def start(self) -> None:
        """Let time pass from now on."""
        self._last_ns, self._ends = real.steady(), False
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._drive())

    def finish(self) -> None:
        """Answer what is under way as soon as can be: the end is near."""
        self.speed, self._speed_later, self._ends = 0, None, True

    async def stop(self) -> None:
        """Let no more time pass; what still waits is not answered."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def ask(self, ask: Ask, headers: dict[str, str]) -> Response:
        """Ask a cluster; return its answer, of status 0 for silence."""
        await self._begin()
        console = self.parts.console
        with self.parts.turns:
            number = console.ask(ask, TIMEOUT_NS, headers=headers)
        answer: Response = await self._answered(self._asks, number)
        return answer

    async def work_through(self, runbook: str, **arguments: Any) -> Finished:
        """Work through a runbook to its end; ValueError for one that is not there, or other arguments than its own."""
        await self._begin()
        with self.parts.turns:
            number = self.parts.console.start(runbook, **arguments)
        finished: Finished = await self._answered(self._runbooks, number)
        return finished

    def wake(self) -> None:
        """Look at once what falls due now: something was done, or the speed is another one."""
        self._wanted.set()

    async def advance(self, duration_ns: int, within_ns: int | None = None) -> None:
        """Let a duration pass at once; with a limit, no more than can be done within it outside."""
        until_ns, began_ns = self.parts.now + duration_ns, real.steady()
        while not self._passage.run_slice(until_ns, self._is_over):
            self._deliver()
            await asyncio.sleep(0)
            if self._ends or (within_ns is not None and real.steady() - began_ns > within_ns):
                break
        self._deliver()

    async def _begin(self) -> None:
        """Let time catch up before something is asked."""
        if self.cause is not None:
            raise RuntimeError("the lab has ended by an error") from self.cause
        self.begin()
        if self.speed:
            await self._keep_pace()

    async def _answered(self, waiting: dict[int, asyncio.Future[Any]], number: int) -> Any:
        waiting[number] = asyncio.get_running_loop().create_future()
        self._wanted.set()
        return await waiting[number]

    def _is_over(self) -> bool:
        """Whether something that is waited for has ended."""
        console = self.parts.console
        asked, started = self._asks.keys(), self._runbooks.keys()
        return not (asked.isdisjoint(console.answers) and started.isdisjoint(console.finished))

    def _deliver(self) -> None:
        """Hand over what has ended."""
        console = self.parts.console
        with self.parts.turns:
            _hand_over(self._asks, console.answers)
            _hand_over(self._runbooks, console.finished)

    async def _drive(self) -> None:
        try:
            while True:
                self._wanted.clear()
                if self.speed:
                    await self._keep_pace()
                    await self._pause()
                elif self._asks or self._runbooks:
                    self._deliver()
                    if self._asks or self._runbooks:
                        self._passage.run_slice(stop=self._is_over)
                        self._deliver()
                    await asyncio.sleep(0)
                else:
                    await self._wanted.wait()
                    self._last_ns = real.steady()
        except Exception as cause:  # a bug has closed the lab's clock: nothing will be answered any more
            self.cause = cause
            self.failed()
            waiting: list[asyncio.Future[Any]] = [*self._asks.values(), *self._runbooks.values()]
            for future in waiting:
                if not future.done():
                    future.set_exception(RuntimeError("the lab has ended by an error"))

    async def _keep_pace(self) -> None:
        """Let the time pass that has passed outside."""
        now_ns = real.steady()
        passed_ns, self._last_ns = min(now_ns - self._last_ns, MAX_BEHIND_NS), now_ns
        await self.advance(int(passed_ns * self.speed), MAX_WORK_NS)

    async def _pause(self) -> None:
        """Wait until the next thing falls due, or something is asked."""
        due_ns = self.parts.clock.next_ns
        left_ns = MAX_PAUSE_NS if due_ns is None or not self.speed else (due_ns - self.parts.now) / self.speed
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), min(max(left_ns, MIN_PAUSE_NS), MAX_PAUSE_NS) / SECOND_NS)


def _end_all(waiting: dict[int, asyncio.Future[Any]], result: Any) -> None:
    for future in waiting.values():
        if not future.done():
            future.set_result(result)


def _hand_over(waiting: dict[int, asyncio.Future[Any]], ended: dict[int, Any]) -> None:
    for number in [number for number in waiting if number in ended]:
        future, result = waiting.pop(number), ended.pop(number)
        if not future.done():
            future.set_result(result)
