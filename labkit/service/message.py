"""The records that cross a service's boundary: Request, Response, Reply, Fetch and Suspended.

1. A record is plain values: it can be stored, copied, compared and sent through the simulated network as it is.
2. A record, or the body of one, is never changed after it was handed over; to change it, make another.
3. Status 0 is silence: no answer came.  The request may have had an effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.record import NamedTuple

Body = dict[str, Any]

JSON_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"

USUAL_HEADERS = {"Content-Type": JSON_TYPE, "Cache-Control": "no-store"}
"""What every answer has."""


class Unreadable(NamedTuple):
    """What a door puts in the place of a body that it could not read: the service refuses it with these words.

    ``is_whole``: whether they are the refusal's whole text, as they are not about the body.
    """

    why: str
    status: int = 400
    is_whole: bool = False


class Request(NamedTuple):
    """One HTTP-shaped request; ``path`` as sent: with or without ``/v1/``, with percent-encoding and query string."""

    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: Body | None = None
    remote_address: str = "127.0.0.1"

    def __repr__(self) -> str:
        return f"Request({self.method} {self.path})"  # never headers or body: they carry tokens and secrets


def copied(value: Any) -> Any:
    """Return a JSON value of which no part is shared with the given one."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    return [copied(item) for item in value] if isinstance(value, (list, tuple)) else value


class Response(NamedTuple):
    """One answer: HTTP status, headers, the parsed JSON body (None when empty) and a refusal's reason code.

    The code is for programs in this process; it is not in the body and does not travel over HTTP.
    """

    status: int
    headers: dict[str, str]
    body: Body | None = None
    code: str = ""

    def __repr__(self) -> str:
        from labkit.service.masked import shown

        parts = ", ".join(f"{name}={text}" for name, text in shown(self.body))
        return f"Response({self.status}{', ' if parts else ''}{parts})"

    def _repr_html_(self) -> str:
        from labkit.service.masked import table

        return table([("status", str(self.status))], self.body)

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300

    @property
    def data(self) -> Any:
        """The envelope's ``data``; None when there is none."""
        return self.body.get("data") if type(self.body) is dict else None

    @property
    def errors(self) -> list[str]:
        """The refusal's texts; always a list."""
        return list(self.body.get("errors") or ()) if type(self.body) is dict else []

    @property
    def warnings(self) -> list[str]:
        """The envelope's warnings; always a list."""
        return list(self.body.get("warnings") or ()) if type(self.body) is dict else []

    @property
    def auth(self) -> Any:
        """The envelope's ``auth`` block; None when the answer issues no token."""
        return self.body.get("auth") if type(self.body) is dict else None

    @property
    def wrap_info(self) -> Any:
        """The envelope's ``wrap_info`` block; None when the answer is not wrapped."""
        return self.body.get("wrap_info") if type(self.body) is dict else None

    def raise_for_status(self) -> Response:
        """Return the answer itself, or raise RuntimeError with the refusal's status and texts."""
        if self.ok:
            return self
        raise RuntimeError(f"the service answered {self.status}: {'; '.join(self.errors) or 'no text'}")


def respond(status: int, body: Body | None = None, code: str = "") -> Response:
    """Build a Response with the headers that every answer has."""
    return Response(status, USUAL_HEADERS.copy(), body, code)


def silence(why: str, code: str = "") -> Response:
    """Build the Response that means: no answer at all (status 0)."""
    return Response(0, {}, {"errors": [why]}, code)


class Reply(NamedTuple):
    """What a handler returns when a plain dict is not enough: it becomes an envelope with that status.

    ``accessor`` is what a wrapped answer names its contents by, where these are not a token.
    """

    data: Body | None = None
    status: int = 200
    auth: Body | None = None
    wrap_info: Body | None = None
    lease_duration_s: int = 0
    accessor: str = ""

    def __repr__(self) -> str:
        from labkit.service.masked import masked

        return f"Reply({self.status}, data={masked(self.data)})"


class Fetch(NamedTuple):
    """One request that a handler sends to another service; the handler is resumed with the Response.

    ``channel`` is ``api`` (the other side's ordinary door) or ``cluster`` (its replication port, where
    ``request.body`` is an operation of that port).  It is not sent before ``not_before_ns`` of the sender's own clock,
    nanoseconds since the epoch.  A ``shared`` one that equals one under way is not sent again: both get its answer.
    """

    address: str
    request: Request
    timeout_ns: int = 10_000_000_000
    channel: str = "api"
    not_before_ns: int = 0
    shared: bool = False


class Suspended(NamedTuple):
    """A request that waits for the answer to ``fetch``: plain data, from which the handler can be replayed.

    ``tape`` is all that the context gave so far, each entry with its kind, ``answers`` the Responses to earlier ones,
    ``keys`` a fingerprint of the keys that the node had; a live generator is only a cache of them.
    """

    number: int
    request: Request
    fetch: Fetch
    tape: tuple[tuple[str, Any], ...] = ()
    answers: tuple[Response, ...] = ()
    request_id: str = ""
    keys: str = ""

    def __repr__(self) -> str:
        return f"Suspended({self.request!r}, waits for {self.fetch.address})"
