"""Aiming: what a test asks of requests to come, of a vault: that they fail, wait, or get no answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from labkit.front.outside_lab import ShiftedClock
from labkit.vault.core import Environment

if TYPE_CHECKING:
    from labkit.front.aimed_failures import Aim


class Aiming:
    """Gives a vault the verbs with which failures are aimed, and the list of what is still to happen."""

    _aims: list[Aim]
    _refuse_forked: Callable[[], None]
    environment: Environment

    @property
    def aims(self) -> tuple[Aim, ...]:
        """What is to happen to requests to come, asked for with ``fail_next``, ``delay_next`` and ``drop_next``."""
        return tuple(self._aims)

    def fail_next(self, status: int, times: int = 1, *, path: str = "*", method: str | None = None) -> None:
        """Let the next requests to a path fail with a status before they reach a handler; ``*`` is any text in it."""
        from labkit.front import aimed_failures

        self._aim(aimed_failures.failing(status, path, method, times))

    def delay_next(self, duration: str | float, times: int = 1, *, path: str = "*", method: str | None = None) -> None:
        """Let the next requests to a path wait: in process the clock is moved, a door waits."""
        from labkit.front import aimed_failures

        self._aim(aimed_failures.delaying(duration, path, method, times))

    def drop_next(self, times: int = 1, *, when: str = "before", path: str = "*", method: str | None = None) -> None:
        """Let the next requests to a path get no answer, before or after they are carried out.

        In process that is Dropped, a Silence; an adapter raises its library's ConnectionError, a door ends the
        connection.
        """
        from labkit.front import aimed_failures

        self._aim(aimed_failures.dropping(when, path, method, times))

    def take_aim(self, method: str, path: str, headers: Mapping[str, str]) -> Aim | None:
        """Return what is to happen to a request, and count it; None for nothing.  ``meet`` lets it happen."""
        if not self._aims:
            return None
        from labkit.front import aimed_failures

        return aimed_failures.take(self._aims, method, path, headers)

    def _aim(self, aim: Aim) -> None:
        self._refuse_forked()
        if aim.delay_ns and not isinstance(self.environment.now, ShiftedClock):
            raise ValueError("this vault's clock is its lab's: make the lab's network slow with lab.slow(...)")
        self._aims.append(aim)
