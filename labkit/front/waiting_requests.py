"""Requests of a vault that wait: for what they fetch, and for passwords that are hashed.

1. While a password is hashed other threads are let in.  What else is fetched comes from beside the vault, in process.
2. Nothing sleeps: where a request waits for a slow cloud, or to ask again, the vault's clock moves on, but no further
   than its client waits.  From then on nothing is fetched for it, and it ends as if no host answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.front.outside_lab import ShiftedClock
from labkit.service.arguments import duration_ns
from labkit.service.durations import format_duration
from labkit.service.message import Fetch, Response, Suspended, silence
from labkit.service.silence import Silence
from labkit.vault import password_hashing

if TYPE_CHECKING:
    from _thread import RLock

    from labkit.vault.vault_node import VaultNode


class ClientTimeout:
    """How long the client of one request waits while a vault's clock is moved; for ever without a timeout."""

    __slots__ = ("_clock", "_end_ns", "_timeout_ns", "is_over")

    def __init__(self, clock: Any, timeout: str | float | None) -> None:
        moved = timeout is not None and isinstance(clock, ShiftedClock)
        self._timeout_ns = duration_ns("timeout", timeout, seconds=True) if moved else 0
        self._end_ns = clock.shift_ns + self._timeout_ns if moved else None
        self._clock, self.is_over = clock, False

    def fetch(self, fetch: Callable[[Fetch], Response], asked: Fetch) -> Response:
        """Answer a fetch that ends when the client gives up; nothing is fetched after that."""
        if self._end_ns is None:
            return fetch(asked)
        left_ns = self._end_ns - self._clock.shift_ns - max(asked.not_before_ns - self._clock(), 0)
        if left_ns > 0 and not self.is_over:
            answer = fetch(asked._replace(timeout_ns=min(asked.timeout_ns, left_ns)))
            self.is_over = self._clock.shift_ns >= self._end_ns
        else:
            self._clock.shift_ns, self.is_over = max(self._clock.shift_ns, self._end_ns), True
        return silence("nobody waits for it any more") if self.is_over else answer

    def check(self, shown: str) -> None:
        """Raise Silence for a request, by its method and path, whose client did not wait for the answer."""
        if self.is_over:
            raise Silence(f"{shown}: no answer within {format_duration(self._timeout_ns)}, as it waited for the cloud")


def finish(
    vault: VaultNode, lock: RLock, fetch: Callable[[Fetch], Response], outcome: Suspended, client_timeout: ClientTimeout
) -> Response:
    """Return the answer to a request that waits; the caller holds the lock, and the vault's route is the request's."""
    resolved = vault.resolved
    step: Response | Suspended = outcome
    while isinstance(step, Suspended):
        asked = step.fetch
        is_hashed = asked.channel == password_hashing.CHANNEL
        step = vault.resume(step, _hashed(lock, asked) if is_hashed else client_timeout.fetch(fetch, asked))
    vault.resolved = resolved
    return step


def _hashed(lock: RLock, asked: Fetch) -> Response:
    lock.release()
    try:
        return password_hashing.answer(asked)
    finally:
        lock.acquire()
