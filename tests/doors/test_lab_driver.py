"""The lab driver: what waits is answered, time passes as it should, and errors reach whoever waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import pytest

from labkit import Lab, real
from labkit.doors import lab_driver
from labkit.doors.lab_driver import LabDriver
from labkit.lab.operations.runbook_effects import Ask

SECOND_NS = 1_000_000_000
HEALTH = Ask("paris", "GET", "/v1/sys/health")


def driven(lab: Lab, act: Callable[[LabDriver], Awaitable[Any]], speed: float = 0) -> Any:
    """What an act returns while the driver of a lab is at work in a loop."""

    async def drive() -> Any:
        driver = LabDriver(lab.parts, lab._passage, speed)
        driver.start()
        try:
            return await asyncio.wait_for(act(driver), 60)
        finally:
            await driver.stop()

    return asyncio.run(drive())


def test_time_passes_only_while_something_waits(lab: Lab) -> None:
    async def act(driver: LabDriver) -> list[int]:
        instants = [lab.now]
        for _ in range(2):
            assert (await driver.ask(HEALTH, {})).status == 200
            instants.append(lab.now)
            await asyncio.sleep(0.01)
        return [*instants, lab.now]

    before, first, second, after = driven(lab, act)

    assert before < first < second == after < before + SECOND_NS


def test_what_is_asked_together_is_under_way_together(lab: Lab) -> None:
    lab.pause("paris-1")

    async def act(driver: LabDriver) -> list[int]:
        answers = await asyncio.gather(*(driver.ask(HEALTH._replace(node="paris-1"), {}) for _ in range(3)))
        return [answer.status for answer in answers]

    began_ns = lab.now

    assert driven(lab, act) == [0, 0, 0]
    assert lab.now == began_ns + 30 * SECOND_NS


def test_a_runbook_is_worked_through_and_a_clock_moved_meanwhile(lab: Lab) -> None:
    async def act(driver: LabDriver) -> Any:
        sealed = await driver.work_through("seal", cluster="paris")
        began_ns = lab.now
        asked = asyncio.create_task(driver.ask(HEALTH, {}))
        await driver.advance(600 * SECOND_NS)
        with pytest.raises(ValueError, match="expected a runbook, got 'dance'"):
            await driver.work_through("dance")
        return sealed, lab.now - began_ns, await asked

    sealed, passed_ns, answer = driven(lab, act)

    assert sealed.ok
    assert passed_ns >= 600 * SECOND_NS
    assert answer.status == 200  # a standby leads by then


def test_who_goes_away_changes_nothing(lab: Lab) -> None:
    async def act(driver: LabDriver) -> Any:
        body = {"data": {"user": "ada"}}
        write = Ask("paris", "POST", "/v1/secret/data/app", body)
        gone = asyncio.create_task(driver.ask(write, {"x-vault-token": lab["paris"].root_token}))
        await asyncio.sleep(0)
        gone.cancel()
        return await driver.ask(HEALTH, {})

    assert driven(lab, act).status == 200
    assert lab["paris"].get("secret/data/app").data["data"] == {"user": "ada"}
    assert lab.parts.console.answers == {}


def test_time_passes_at_its_speed_and_what_a_slow_machine_misses_is_not_made_up_for(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady_ns = [SECOND_NS]
    monkeypatch.setattr(real, "steady", lambda: steady_ns[0])

    async def act(driver: LabDriver) -> list[int]:
        instants = [lab.now]
        for passed_ns in (SECOND_NS // 10, 60 * SECOND_NS):
            steady_ns[0] += passed_ns
            await driver.advance(0)
            while lab.now == instants[-1]:
                await asyncio.sleep(0.001)
            instants.append(lab.now)
        return instants

    before, first, second = driven(lab, act, speed=20)

    assert first - before == 2 * SECOND_NS
    assert second - first == 20 * lab_driver.MAX_BEHIND_NS


def test_what_is_under_way_at_the_end_is_answered_and_a_long_run_is_left(lab: Lab) -> None:
    async def act(driver: LabDriver) -> Any:
        asked = asyncio.create_task(driver.ask(HEALTH, {}))
        await asyncio.sleep(0)
        moved = asyncio.create_task(driver.advance(10**6 * SECOND_NS))
        await asyncio.sleep(0)
        driver.finish()
        await moved
        return await asked

    assert driven(lab, act, speed=0.000_001).status == 200
    assert lab.now < 10**5 * SECOND_NS


def test_a_bug_reaches_whoever_waits_and_whoever_comes_later(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> bool:
        raise ZeroDivisionError

    ended: list[str] = []

    async def act(driver: LabDriver) -> None:
        driver.failed = lambda: ended.append("lab")
        for _ in range(2):
            with pytest.raises(RuntimeError, match="the lab has ended by an error"):
                await driver.ask(HEALTH, {})
        assert isinstance(driver.cause, ZeroDivisionError)

    monkeypatch.setattr(type(lab._passage), "run_slice", fails)
    driven(lab, act)

    assert ended == ["lab"]


def test_another_lab_takes_the_place_and_what_waited_is_silence(lab: Lab) -> None:
    other = Lab.restore(lab.snapshot())

    async def act(driver: LabDriver) -> Any:
        gone = asyncio.create_task(driver.ask(HEALTH, {}))
        waiting = asyncio.create_task(driver.ask(HEALTH, {}))
        running = asyncio.create_task(driver.work_through("seal", cluster="paris"))
        await asyncio.sleep(0)
        gone.cancel()
        driver.lead_to(LabDriver(other.parts, other._passage))
        return await waiting, await running, await driver.ask(HEALTH, {})

    silent, ended, answer = driven(lab, act)

    assert (silent.status, ended.ok, answer.status) == (0, False, 200)
    assert repr(LabDriver(lab.parts, lab._passage, 2.5)) == "LabDriver(speed 2.5)"


def test_when_the_end_is_near_time_passes_for_what_is_under_way_only(lab: Lab) -> None:
    async def act(driver: LabDriver) -> tuple[float, int]:
        asked = asyncio.create_task(driver.ask(HEALTH, {}))
        await asyncio.sleep(0)
        driver.finish()
        return driver.speed, (await asked).status

    assert driven(lab, act, speed=20) == (0, 200)


class Standing:
    """A lab's clock by hand: it stands, something falls due, and slices end when they are to."""

    def __init__(self, next_ns: int | None = None, slices: int = 0) -> None:
        self.now, self.clock, self.next_ns = 0, self, next_ns
        self.turns: Any = nullcontext()
        self.console: Any = self
        self.answers = self.finished = dict[int, Any]()
        self.slices, self.run = slices, list[int]()

    def run_slice(self, until_ns: int, stop: Any = None) -> bool:
        """Go on; say whether that instant was reached."""
        self.run.append(until_ns)
        return len(self.run) > self.slices


@pytest.mark.parametrize(
    ("next_ns", "speed", "pause_s"),
    [
        (None, 1, 0.1),
        (SECOND_NS // 20, 1, 0.05),
        (SECOND_NS // 20, 10, 0.005),
        (SECOND_NS // 20, 0, 0.1),
        (SECOND_NS, 1, 0.1),
        (0, 1, 0.001),
    ],
)
def test_it_looks_again_when_something_falls_due_and_ten_times_a_second_at_least(
    next_ns: int | None, speed: float, pause_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused: list[float] = []

    async def wait_for(waiting: Any, timeout: float) -> None:
        waiting.close()
        paused.append(timeout)
        raise TimeoutError

    standing: Any = Standing(next_ns)
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "wait_for", wait_for)
        asyncio.run(LabDriver(standing, standing, speed)._pause())

    assert paused == [pytest.approx(pause_s)]


def test_time_outside_is_kept_pace_with_in_turns_of_a_twentieth_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    steady_ns = [SECOND_NS]
    monkeypatch.setattr(real, "steady", lambda: steady_ns[0])
    standing: Any = Standing()
    driver, asked = LabDriver(standing, standing, 20), list[tuple[int, int | None]]()

    async def advance(duration_ns: int, within_ns: int | None = None) -> None:
        asked.append((duration_ns, within_ns))

    driver.advance = advance  # type: ignore[method-assign]  # what is asked of it is of interest
    driver._last_ns = SECOND_NS
    for passed_ns in (SECOND_NS // 10, 60 * SECOND_NS, 0):
        steady_ns[0] += passed_ns
        asyncio.run(driver._keep_pace())

    turn_ns = SECOND_NS // 20
    assert asked == [(2 * SECOND_NS, turn_ns), (5 * SECOND_NS, turn_ns), (0, turn_ns)]


@pytest.mark.parametrize(("within_ns", "slices"), [(None, 6), (3, 4), (0, 1), (100, 6)])
def test_a_clock_is_moved_in_slices_as_long_as_there_is_time(
    within_ns: int | None, slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady_ns = iter(range(100))
    monkeypatch.setattr(real, "steady", lambda: next(steady_ns))
    standing: Any = Standing(slices=5)
    asyncio.run(LabDriver(standing, standing).advance(7, within_ns))

    assert standing.run == [7] * slices


def test_what_was_never_started_is_stopped_and_what_was_does_nothing_more() -> None:
    standing: Any = Standing()
    driver = LabDriver(standing, standing)
    asyncio.run(driver.stop())
    assert driver._task is None

    async def started() -> bool:
        driver.start()
        await asyncio.sleep(0)
        await driver.stop()
        assert driver._task is not None
        return driver._task.cancelled() or driver._task.done()

    assert asyncio.run(started())
    assert standing.run == []


@pytest.mark.slow
def test_it_stands_until_somebody_asks_and_goes_at_its_speed_from_then_on(lab: Lab) -> None:
    async def act(driver: LabDriver) -> list[int]:
        driver.wait_for_somebody()
        instants = [lab.now]
        await asyncio.sleep(0.3)
        instants.append(lab.now)
        await driver.ask(HEALTH, {})
        answered_ns = lab.now
        while lab.now < answered_ns + 2 * SECOND_NS:
            await asyncio.sleep(0.01)
        return [*instants, lab.now]

    before, still, later = driven(lab, act, speed=20)

    assert before == still
    assert later >= still + 2 * SECOND_NS


def test_a_speed_that_is_set_is_not_replaced_by_the_one_that_waited(lab: Lab) -> None:
    async def act(driver: LabDriver) -> float:
        driver.wait_for_somebody()
        driver.set_speed(0.5)
        await driver.ask(HEALTH, {})
        return driver.speed

    assert driven(lab, act, speed=20) == 0.5
