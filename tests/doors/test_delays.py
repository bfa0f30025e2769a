"""Delays at a door: over in time, ended before, and of whom nobody waits any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from labkit.doors.delays import Delays
from labkit.doors.other_end import OtherEnd
from labkit.front.aimed_failures import Aim, Aimed
from labkit.front.aiming import Aims


def delayed(delay_ns: int) -> Aim:
    aim = Aim(Aimed("*", None, 1))
    aim.delay_ns, aim.group = delay_ns, Aims()
    return aim


def test_a_delay_is_over_in_time() -> None:
    delays, aim = Delays(), delayed(1_000_000)

    assert asyncio.run(delays.over(aim, OtherEnd()))
    assert not asyncio.run(delays.over(aim, OtherEnd(is_gone=lambda: True)))
    assert (repr(delays), aim.group.waiting) == ("Delays(0 waiting)", set())


def ended_by(end: Callable[[Delays, Aim], object]) -> tuple[bool, str]:
    """What a delay of an hour comes to that is ended by another thread."""
    delays, aim = Delays(), delayed(3_600_000_000_000)

    async def wait() -> tuple[bool, str]:
        waiting = asyncio.ensure_future(delays.over(aim, OtherEnd()))
        await asyncio.sleep(0.01)
        shown = repr(delays)
        thread = threading.Thread(target=end, args=(delays, aim))
        thread.start()
        found = await waiting
        thread.join()
        return found, shown

    return asyncio.run(wait())


def test_a_delay_is_ended_by_its_door_or_its_vault() -> None:
    assert ended_by(lambda delays, aim: delays.end()) == (False, "Delays(1 waiting)")
    assert ended_by(lambda delays, aim: aim.group.end()) == (False, "Delays(1 waiting)")


def test_whoever_comes_after_the_end_does_not_wait() -> None:
    aim = delayed(3_600_000_000_000)
    aim.group.end()

    assert not asyncio.run(Delays().over(aim, OtherEnd()))


def test_an_end_after_the_loop_has_ended_is_none() -> None:
    """As when a vault is reset while its server's thread ends."""
    aim, kept = delayed(1_000_000), list[Callable[[], None]]()

    async def keep(waiting: Awaitable[bool]) -> None:
        task = asyncio.ensure_future(waiting)
        await asyncio.sleep(0)
        kept.extend(aim.group.waiting)
        await task

    asyncio.run(keep(Delays().over(aim, OtherEnd())))
    kept[0]()
