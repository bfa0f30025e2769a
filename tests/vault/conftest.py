"""What the vault's tests share: one service in development mode, on a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault

START_NS = 1_893_456_000 * 1_000_000_000


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_ns = START_NS

    def __call__(self) -> int:
        """Return nanoseconds since the epoch."""
        return self.now_ns


@pytest.fixture
def clock():
    """A clock that stands at the start of 2030."""
    return ManualClock()


@pytest.fixture
def service(clock):
    """A vault in development mode on a manual clock: secret/ (KV v2) and transit/, root token sent by short forms."""
    return Vault.dev(clock=clock)


@pytest.fixture
def observed(service) -> list[tuple[str, dict[str, Any]]]:
    """What the service reports to its observer."""
    seen: list[tuple[str, dict[str, Any]]] = []
    service.core.observe = lambda kind, **fields: seen.append((kind, fields))
    return seen
