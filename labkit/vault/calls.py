"""Calls: the requests that a vault answered in process, for checks of what was done (``Vault.calls``).

1. A call says method, path, status, the version that the answer names, the key or secret that the path names, and the
   names of what was sent: members of the body, ``options.cas`` for those of ``options``, parameters of the query.
   Status 0 is a request that was dropped before it was carried out.  Method and path are as ``call_names`` says.
2. The newest calls are kept: up to a number, and of those with long paths or many names up to a size.  Who sends such
   requests pushes out older calls.
3. A call is added with every request.  What only its display needs is computed when the calls are read.
4. ``body`` is what was sent, for whoever tests a client; no text shows it.  The newest bodies are kept up to a size.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterator
from typing import Any, overload

from labkit.service.call_names import MAX_NAME_CHARACTERS, call_method, call_path, named_version, sent_names
from labkit.service.limits import is_text
from labkit.service.message import Body, Response
from labkit.service.record import NamedTuple
from labkit.service.request_path import readable
from labkit.service.routing import Match
from labkit.vault.mounts import ResolvedRoute

MAX_CALLS = 10_000
MAX_LONG_BYTES = 4_194_304
MAX_SHORT_CHARACTERS = 128  # of the names of a short call
MAX_SHORT_NAMES = 16
MAX_REMEMBERED = 256
MAX_SHOWN_CALLS = 10
DROPPED = "dropped"
SHORT_BODY_BYTES, MAX_BODY_BYTES, MAX_BODIES_BYTES = 512, 262_144, 4_194_304

_CALL_BYTES, _NAME_BYTES = 300, 50  # beside their characters

# method, path or route, status, version, names, the body or its number, and the size of a long call (0 for a short one)
_Row = tuple[str, "str | ResolvedRoute", int, Any, tuple[str, ...], "bytes | int", int]


class Call(NamedTuple):
    """One request that a vault answered in process; ``body`` is None also where it was too large to be kept."""

    method: str
    path: str
    status: int
    version: int | None = None
    key: str = ""
    names: tuple[str, ...] = ()
    body: Body | None = None

    def __repr__(self) -> str:
        names = f", {', '.join(self.names)}" if self.names else ""
        return f"Call({self}{names})"  # never the body

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.answered}"

    @property
    def answered(self) -> str:
        """The status as texts say it."""
        return str(self.status) if self.status else DROPPED


class Calls:
    """The newest calls, the oldest first: it has a length, can be indexed, sliced and gone through."""

    __slots__ = ("_bodies", "_bodies_bytes", "_long_bytes", "_numbered", "_rows", "_short_names")

    def __init__(self) -> None:
        self._rows: deque[_Row] = deque()
        self._long_bytes = self._bodies_bytes = self._numbered = 0
        self._bodies: dict[int, bytes] = {}  # long ones by their numbers, the oldest first
        self._short_names: set[tuple[str, ...]] = set()  # names that were sent together, and were found short

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self[-MAX_SHOWN_CALLS:]))
        before = "…, " if len(self) > MAX_SHOWN_CALLS else ""
        return f"Calls({len(self)}: {before}{shown})" if shown else "Calls(0)"

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Calls | list | tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Call]:
        return iter([self._described(row) for row in [*self._rows]])  # copied first: others may add

    @overload
    def __getitem__(self, place: int) -> Call: ...
    @overload
    def __getitem__(self, place: slice) -> list[Call]: ...
    def __getitem__(self, place: int | slice) -> Call | list[Call]:
        return list(self)[place]

    def clear(self) -> None:
        """Forget all calls."""
        self._rows.clear()
        self._bodies.clear()
        self._long_bytes = self._bodies_bytes = 0

    def mark(self) -> object:
        """Return what ``since`` takes to give the calls from now on."""
        return self._rows[-1] if self._rows else None

    def since(self, mark: object) -> list[Call]:
        """Return the calls after a mark; all of them when what it marks was forgotten or pushed out."""
        rows = [*self._rows]
        place = next((place for place in range(len(rows) - 1, -1, -1) if rows[place] is mark), -1)
        return [self._described(row) for row in rows[place + 1 :]]

    def add(
        self,
        method: Any,
        path: Any,
        body: Any,
        resolved: ResolvedRoute | None,
        response: Response,
        *,
        is_shown: bool = False,
    ) -> None:
        """Add an answered request; ``resolved``: None where it had no route; ``is_shown``: the path is as shown."""
        names: tuple[str, ...] = ()
        long_bytes = 0
        sent: bytes | int = b""
        if body and type(body) is dict:
            try:
                sent = marshal.dumps(body)  # a ninth of the time of json
                if len(sent) > SHORT_BODY_BYTES:
                    sent = self._keep(sent)
            except ValueError:  # not plain data
                sent = b""
        if resolved is None or not resolved.is_short:
            method, path, names = _shortened(method, path, body, resolved, is_shown)
            long_bytes = _size_bytes(path if resolved is None else resolved.namespace.path + path, names)
        elif body:
            names = tuple(body)
            if names not in self._short_names and not self._are_short(names):
                names = sent_names(body)
                long_bytes = _size_bytes(path, names)
        rows = self._rows
        if resolved is None:
            rows.append((method, path, response.status, None, names, sent, long_bytes))
        else:
            version = named_version(response.body) if resolved.names_version else None
            rows.append((method, resolved, response.status, version, names, sent, long_bytes))
        if long_bytes or len(rows) > MAX_CALLS:
            self._long_bytes += long_bytes
            self._push_out()

    def _push_out(self) -> None:
        """Forget the oldest calls while there are too many, or too long ones."""
        rows = self._rows
        while len(rows) > MAX_CALLS or self._long_bytes > MAX_LONG_BYTES:
            row = rows.popleft()
            self._long_bytes -= row[-1]
            if isinstance(row[-2], int):
                self._bodies_bytes -= len(self._bodies.pop(row[-2], b""))

    def _keep(self, sent: bytes) -> bytes | int:
        """Keep a long body, and return its number; nothing for one that is too large."""
        if len(sent) > MAX_BODY_BYTES:
            return b""
        self._numbered += 1
        self._bodies[self._numbered] = sent
        self._bodies_bytes += len(sent)
        while self._bodies_bytes > MAX_BODIES_BYTES:
            self._bodies_bytes -= len(self._bodies.pop(next(iter(self._bodies))))
        return self._numbered

    def _described(self, row: _Row) -> Call:
        method, path, status, version, names, sent, _ = row
        sent = self._bodies.get(sent, b"") if isinstance(sent, int) else sent
        body = marshal.loads(sent) if sent else None
        if isinstance(path, str):
            return Call(method, call_path(path), status, None, "", names, body)
        captured = path.match.captured if isinstance(path.match, Match) else {}
        key = str(captured.get("name") or captured.get("path") or "")
        method = call_method(method, lists=path.operation == "list")
        return Call(method, call_path(path.namespace.path + path.path), status, version, key, names, body)

    def _are_short(self, names: tuple[str, ...]) -> bool:
        """Whether names are kept as they were sent; the usual ones are remembered."""
        if len(names) > MAX_SHORT_NAMES or len("".join(names)) > MAX_SHORT_CHARACTERS or "options" in names:
            return False
        if len(self._short_names) >= MAX_REMEMBERED:
            self._short_names.clear()
        self._short_names.add(names)
        return True


def _size_bytes(path: str, names: tuple[str, ...]) -> int:
    """Return about how much memory a long call takes; its route holds the path, parts of it and the query."""
    return _CALL_BYTES + 4 * len(path) + sum([_NAME_BYTES + len(name) for name in names])


def _shortened(
    method: Any, path: Any, body: Any, resolved: ResolvedRoute | None, is_shown: bool
) -> tuple[Any, Any, tuple[str, ...]]:
    """Return method, path and names of a request that has a query, or no route: then they may be anything."""
    sent = dict(body) if type(body) is dict else {}
    if resolved is not None:
        return method, path, sent_names({**resolved.query, **sent})
    method = method[:MAX_NAME_CHARACTERS] if type(method) is str else ""
    shown = path if is_shown else readable(path)
    return method, shown, sent_names({name: member for name, member in sent.items() if is_text(name)})
