"""Delays: requests at a door that wait as long as was asked for (``delay_next``).

1. A request waits beside all others.  Whose client ends the connection meanwhile, also its own side only, has given up.
2. All that wait are ended when the door stops or leads elsewhere, and those of a vault when it is reset.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from labkit.doors.other_end import OtherEnd
from labkit.service.durations import SECOND_NS


class Delays:
    """The requests of one application that wait."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends: set[Callable[[], None]] = set()

    def __repr__(self) -> str:
        return f"Delays({len(self._ends)} waiting)"

    async def over(self, aim: Any, other: OtherEnd) -> bool:
        """Let an aim's delay pass; return whether its answer is still wanted."""
        group, ended = aim.group, asyncio.Event()
        end = partial(_from_any_thread, asyncio.get_running_loop(), ended.set)
        self._ends.add(end)
        group.waiting.add(end)
        try:
            if not group.is_over:
                await asyncio.wait_for(ended.wait(), aim.delay_ns / SECOND_NS)
        except TimeoutError:
            return not other.is_gone()
        finally:
            self._ends.discard(end)
            group.waiting.discard(end)
        return False

    def end(self) -> None:
        """End all that wait; any thread may do so."""
        for end_waiting in [*self._ends]:
            end_waiting()


def _from_any_thread(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended, and with it what waited
        loop.call_soon_threadsafe(act)
