"""Control: what a door answers beside the API, to whom its guard lets in.

Below ``/page/`` a lab is looked at; below ``/control/``, which is there only when it was asked for, clock, calls,
failures to come, faults and runbooks are handled.  A request's body is a JSON object, an answer's too; what is wrong is
answered with ``errors``, as in the API.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from labkit.doors.asgi import Message
from labkit.doors.guard import Guard
from labkit.doors.http_exchange import Answer, first_of_each, read_body, written
from labkit.service.message import JSON_TYPE, Response, Unreadable
from labkit.service.request_path import readable

HEADERS = {"Content-Type": JSON_TYPE, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
SESSION = "/page/session"


class ControlRequest(NamedTuple):
    """One request to a control: what follows its path, the members of its body, the parameters of its query."""

    name: str
    fields: Mapping[str, Any]
    query: Mapping[str, str]

    def __repr__(self) -> str:
        return f"ControlRequest({self.name})"  # never fields: they may carry secrets

    def only(self, *names: str) -> None:
        """Raise ValueError for a member or parameter with another name."""
        for name in (*self.fields, *self.query):
            if name not in names:
                wanted = f"only {', '.join(names)}" if names else "nothing"
                raise ValueError(f"expected {wanted} here, got {readable(str(name))[:40]!r}")


Handler = Callable[[ControlRequest], Awaitable[dict[str, Any]]]


class Control:
    """Requests below ``/control/`` and ``/page/``; ``acts`` by method and path, some of which end in ``/<name>``."""

    __slots__ = ("_acts", "_opened", "guard")

    prefixes = (b"/control/", b"/page/")

    def __init__(
        self, acts: Mapping[tuple[str, str], Handler], guard: Guard, opened: Callable[[], None] = lambda: None
    ) -> None:
        self.guard = guard
        self._acts, self._opened = acts, opened

    def __repr__(self) -> str:
        return f"Control({len(self._acts)} acts)"

    async def answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        """Answer one request."""
        method, path = scope["method"], scope["raw_path"].decode("latin-1")
        named = first_of_each(headers)
        refused = self.guard.refusal(scope, named, with_key=path != SESSION)
        if refused:
            return answered(403, {"errors": [refused]})
        body = read_body(method, JSON_TYPE, content) if isinstance(content, bytes) and content else content or None
        if isinstance(body, Unreadable):
            return answered(body.status, {"errors": [body.why]})
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if path == SESSION:
            return self._session(method, body or {})
        folder, _, name = path.rpartition("/")
        act = self._acts.get((method, path)) or self._acts.get((method, f"{folder}/<name>"))
        if act is None:
            return self._missing(method, path, folder)
        try:
            return answered(200, await act(ControlRequest(name, body or {}, query)))
        except ValueError as error:
            return answered(400, {"errors": [str(error)]})

    def _session(self, method: str, body: Mapping[str, Any]) -> Answer:
        if method != "POST":
            return answered(405, {"errors": ["expected POST"]})
        key = self.guard.exchange(body.get("key"))
        if key is None:
            return answered(403, {"errors": ["this address was opened already; open the one that was printed last"]})
        self._opened()
        return answered(200, {"key": key})

    def _missing(self, method: str, path: str, folder: str) -> Answer:
        methods = sorted({known for known, place in self._acts if place in (path, f"{folder}/<name>")})
        if methods:
            return answered(405, {"errors": [f"expected {' or '.join(methods)}, got {readable(method)[:20]}"]})
        return answered(404, {"errors": [f"there is nothing at this path; there are: {', '.join(self._places)}"]})

    @property
    def _places(self) -> list[str]:
        return sorted({place for _, place in self._acts})


def answered(status: int, body: dict[str, Any]) -> Answer:
    """Return an answer as it goes out."""
    return written(Response(status, dict(HEADERS), body))
