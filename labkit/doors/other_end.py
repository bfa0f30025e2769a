"""Other end: who asks on a connection, as far as what answers knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class OtherEnd(NamedTuple):
    """The client's address, the port that it asks, and whether it has ended its side of the connection."""

    address: str = "127.0.0.1"
    port: int = 0
    is_gone: Callable[[], bool] = lambda: False


def other_end(client: Any, server: Any, is_gone: Callable[[], bool]) -> OtherEnd:
    """Return who asks, by the addresses of both ends, as far as they are known."""
    return OtherEnd(client[0] if client else "127.0.0.1", (server[1] if server else 0) or 0, is_gone)
