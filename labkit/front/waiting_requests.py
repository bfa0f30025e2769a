"""Requests of a vault that wait: for what they fetch, and for passwords that are hashed.

While a password is hashed other threads are let in.  What else is fetched comes from beside the vault, in process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from labkit.service.message import Fetch, Response, Suspended
from labkit.vault import password_hashing

if TYPE_CHECKING:
    from _thread import RLock

    from labkit.vault.vault_node import VaultNode


def finish(vault: VaultNode, lock: RLock, fetch: Callable[[Fetch], Response], outcome: Suspended) -> Response:
    """Return the answer to a request that waits; the caller holds the lock, and the vault's route is the request's."""
    resolved = vault.resolved
    step: Response | Suspended = outcome
    while isinstance(step, Suspended):
        step = vault.resume(step, _answer(lock, fetch, step.fetch))
    vault.resolved = resolved
    return step


def _answer(lock: RLock, fetch: Callable[[Fetch], Response], asked: Fetch) -> Response:
    if asked.channel != password_hashing.CHANNEL:
        return fetch(asked)
    lock.release()
    try:
        return password_hashing.answer(asked)
    finally:
        lock.acquire()
