"""Request record: which operation each request of a client or an operator belongs to, where pictures are kept.

1. The network hands over what each message carried, right after the trace has the message's row (``Network.watcher``).
2. A row is the number of that row, who asked, the asker's number for the operation, which attempt it was, and method
   and path: never a body or a header.  Health checks are left out, which are no operations.
3. Rows are plain, in sealed chunks (R3): a branch keeps its past, and goes on.  Nothing of it is in the trace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.records.chunks import Chunks
from labkit.lab.wire.messages import ApiRequest
from labkit.trace import Trace

API = "/v1/"


class CarriedRequest(NamedTuple):
    """A request that ended its way: its row of the trace, of which operation which attempt it was, and what for."""

    row: int
    asker: str
    number: int
    attempt: int
    asked: str


ROW_TYPES = (int, str, int, int, str)


class RequestRecord:
    """The requests of one lab since pictures are kept."""

    __slots__ = ("_trace", "rows")

    def __init__(self, trace: Trace, sealed: tuple[tuple[Any, ...], ...] = ()) -> None:
        self._trace = trace
        self.rows: Chunks[CarriedRequest] = Chunks(sealed, CarriedRequest._make)

    def __repr__(self) -> str:
        return f"RequestRecord({len(self.rows)} requests)"

    def take(self, payload: Any) -> None:
        """Take what the last message in the trace carried."""
        if type(payload) is ApiRequest and payload.correlation.number >= 0:
            path = payload.request.path.removeprefix(API).partition("?")[0]
            self.rows.append((len(self._trace) - 1, *payload.correlation, f"{payload.request.method} {path}"))
