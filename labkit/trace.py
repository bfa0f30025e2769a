"""The trace: everything that happened in a lab, in order, as plain tuples.

Rules kept here:

1. An event is one plain tuple, kind first, written once, when the thing that it records has ended.
2. Recording is one append to a list; names and types are added on reading.
3. Times are whole nanoseconds of simulated time; no event holds bytes, objects or secrets.
4. The digest is a function of the events only: it does not depend on how they are split into chunks.
5. A sealed chunk never changes, so a snapshot shares it by reference.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_type_hints, overload

if TYPE_CHECKING:
    import pandas

SECOND_NS = 1_000_000_000  # also for the sim, which imports nothing else of labkit


class MessageEvent(NamedTuple):
    """A message between two hosts, recorded at its end; fate is delivered or lost."""

    kind: str
    sent_ns: int
    at_ns: int
    source: str
    target: str
    what: str
    size_bytes: int
    fate: str


class FaultEvent(NamedTuple):
    """A fault verb was carried out: on a host, a site, a pair of sites, or on all."""

    kind: str
    at_ns: int
    verb: str
    target: str
    detail: str


class ObservedEvent(NamedTuple):
    """An observation that a service reported about itself, as (name, value) pairs."""

    kind: str
    at_ns: int
    node: str
    what: str
    fields: tuple[tuple[str, Any], ...]


class LeaderEvent(NamedTuple):
    """A node became the active one of its cluster."""

    kind: str
    at_ns: int
    cluster: str
    node: str
    term: int


class ModeEvent(NamedTuple):
    """A cluster's replication mode or state changed."""

    kind: str
    at_ns: int
    cluster: str
    mode: str
    state: str


class OutcomeEvent(NamedTuple):
    """A client's operation ended: answered, refused, or unknown (no answer in time)."""

    kind: str
    started_ns: int
    at_ns: int
    client: str
    operation: str
    path: str
    cluster: str
    outcome: str
    status: int | None
    attempts: int


class StepEvent(NamedTuple):
    """A step of a scenario; status is begins, done, failed or skipped."""

    kind: str
    at_ns: int
    number: int
    text: str
    status: str


class InvariantEvent(NamedTuple):
    """An invariant was found broken; verdict is broken."""

    kind: str
    at_ns: int
    name: str
    verdict: str
    detail: str


class NoteEvent(NamedTuple):
    """A remark for the reader."""

    kind: str
    at_ns: int
    text: str


Event: TypeAlias = (
    MessageEvent
    | FaultEvent
    | ObservedEvent
    | LeaderEvent
    | ModeEvent
    | OutcomeEvent
    | StepEvent
    | InvariantEvent
    | NoteEvent
)

VIEWS: dict[str, type[Any]] = {
    "message": MessageEvent,
    "fault": FaultEvent,
    "observed": ObservedEvent,
    "leader": LeaderEvent,
    "mode": ModeEvent,
    "outcome": OutcomeEvent,
    "step": StepEvent,
    "invariant": InvariantEvent,
    "note": NoteEvent,
}
EVENTS: dict[str, tuple[str, ...]] = {kind: view._fields[1:] for kind, view in VIEWS.items()}

Chunk: TypeAlias = tuple[tuple[Any, ...], ...]
TraceState: TypeAlias = tuple[bool, tuple[Chunk, ...]]


class Trace:
    """An append-only record of events.

    `record(event)` takes a plain tuple whose first item is a kind of `EVENTS` and whose rest are that kind's
    fields, in order.  With `enabled=False` nothing is kept; a caller on a hot path checks `enabled` first and
    does not build the tuple.
    """

    __slots__ = ("_hashed", "_hasher", "_open", "_sealed", "enabled", "record")

    record: Callable[[tuple[Any, ...]], None]

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self._open: list[tuple[Any, ...]] = []
        self._sealed: list[Chunk] = []
        self._hasher = hashlib.sha256()
        self._hashed = 0
        # The list is emptied in place when a chunk is sealed, so this bound append stays valid.
        self.record = self._open.append if enabled else _ignore

    @classmethod
    def from_state(cls, state: TraceState) -> Trace:
        """A trace that goes on from a saved state; it shares the sealed chunks."""
        enabled, chunks = state
        trace = cls(enabled)
        trace._sealed = list(chunks)
        return trace

    def state(self) -> TraceState:
        """Whether it is on, and all events so far in sealed chunks: plain values that never change."""
        self._seal()
        return self.enabled, tuple(self._sealed)

    def __len__(self) -> int:
        return sum(map(len, self._sealed)) + len(self._open)

    def __iter__(self) -> Iterator[Event]:
        """Typed views of the events recorded so far, in order."""
        return map(_view, self._events())

    @overload
    def select(self, kind: Literal["message"], **fields: Any) -> list[MessageEvent]: ...
    @overload
    def select(self, kind: Literal["fault"], **fields: Any) -> list[FaultEvent]: ...
    @overload
    def select(self, kind: Literal["observed"], **fields: Any) -> list[ObservedEvent]: ...
    @overload
    def select(self, kind: Literal["leader"], **fields: Any) -> list[LeaderEvent]: ...
    @overload
    def select(self, kind: Literal["mode"], **fields: Any) -> list[ModeEvent]: ...
    @overload
    def select(self, kind: Literal["outcome"], **fields: Any) -> list[OutcomeEvent]: ...
    @overload
    def select(self, kind: Literal["step"], **fields: Any) -> list[StepEvent]: ...
    @overload
    def select(self, kind: Literal["invariant"], **fields: Any) -> list[InvariantEvent]: ...
    @overload
    def select(self, kind: Literal["note"], **fields: Any) -> list[NoteEvent]: ...
    @overload
    def select(self, kind: str | None = None, **fields: Any) -> list[Any]: ...
    def select(self, kind: str | None = None, **fields: Any) -> list[Any]:
        """Views of the events of one kind (of every kind with those fields when none is given), in order.

        Each named field must equal the value given: `select("message", fate="lost", source="paris-1")`.
        A kind or field that does not exist raises ValueError.
        """
        wanted = _positions(kind, fields)
        found: list[Any] = []
        for event in self._events():
            tests = wanted.get(event[0])
            if tests is None:
                if event[0] not in EVENTS:
                    raise ValueError(_unknown_kind(event[0]))
            elif all(event[place] == value for place, value in tests):
                found.append(_view(event))
        return found

    def is_the_same_until(self, at_ns: int, other: Trace) -> bool:
        """Whether another trace has all events of this one up to an instant, and no other."""
        mine = self._events()
        following = next(mine, None) if all(row == next(mine, None) for row in other._events()) else other
        return following is None or (isinstance(following, tuple) and _view(following).at_ns > at_ns)

    def lines(self) -> Iterator[str]:
        """Canonical JSON, one line per event: sorted keys, no spaces, ASCII only, a newline at the end."""
        return map(_line, self._events())

    def digest(self) -> str:
        """Hex SHA-256 over `lines()`; equal exactly when the same things happened in the same order.

        Events that an earlier call hashed are not hashed again.
        """
        passed = 0
        for chunk in self._chunks():
            fresh = chunk[max(0, self._hashed - passed) :]
            passed += len(chunk)
            self._hasher.update("".join(map(_line, fresh)).encode("ascii"))
        self._hashed = passed
        return self._hasher.hexdigest()

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row per event: kind, at_s, at_ns, then the fields of every kind.

        A field that a kind does not have is missing (NA or None).  Whole numbers stay exact (Int64); each
        time is there in nanoseconds and in seconds.
        """
        import pandas  # slow to load, and needed for a frame only

        rows = [dict(zip(("kind", *_fields(event)), event, strict=True)) for event in self._events()]
        whole, order = _whole_columns(), _column_order()
        columns: dict[str, Any] = {}
        for name in order:
            values = [row.get(name) for row in rows]
            if name not in whole:
                columns[name] = pandas.Series(values, dtype=object)
                continue
            columns[name] = pandas.Series(values, dtype="Int64")
            if name.endswith("_ns"):
                columns[name.removesuffix("_ns") + "_s"] = columns[name] / SECOND_NS
        frame = pandas.DataFrame(columns)
        front = ["kind", "at_s", "at_ns"]
        return frame[front + [name for name in frame.columns if name not in front]]

    def __repr__(self) -> str:
        return f"<Trace: {len(self)} events{'' if self.enabled else ', off'}>"

    def _repr_html_(self) -> str:
        counts = Counter(event[0] for event in self._events())
        cells = "".join(
            f"<tr><td>{kind}</td><td style='text-align:right'>{counts[kind]:,}</td></tr>"
            for kind in EVENTS
            if counts[kind]
        )
        caption = f"Trace{'' if self.enabled else ' (off)'}: {len(self):,} events"
        return f"<table><caption>{caption}</caption><tr><th>kind</th><th>events</th></tr>{cells}</table>"

    def _events(self) -> Iterator[tuple[Any, ...]]:
        for chunk in self._chunks():
            yield from chunk

    def _chunks(self) -> tuple[Chunk, ...]:
        self._seal()
        return tuple(self._sealed)

    def _seal(self) -> None:
        """Close the open chunk.  It absorbs earlier chunks that are not longer than itself, so there are few chunks."""
        if not self._open:
            return
        chunk = tuple(self._open)
        self._open.clear()
        while self._sealed and len(self._sealed[-1]) <= len(chunk):
            chunk = self._sealed.pop() + chunk
        self._sealed.append(chunk)


def _ignore(event: tuple[Any, ...]) -> None:
    """Drop an event: the `record` of a trace that is off."""


def _fields(event: tuple[Any, ...]) -> tuple[str, ...]:
    """Names of the fields of a recorded event; ValueError when it is not of the declared shape."""
    names = EVENTS.get(event[0])
    if names is None:
        raise ValueError(_unknown_kind(event[0]))
    if len(names) != len(event) - 1:
        wanted, count = ", ".join(names), len(event) - 1
        raise ValueError(f"a {event[0]} event has the fields {wanted}; one was recorded with {count} values")
    return names


def _view(event: tuple[Any, ...]) -> Any:
    _fields(event)
    return VIEWS[event[0]]._make(event)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def _line(event: tuple[Any, ...]) -> str:
    return _encode(dict(zip(("kind", *_fields(event)), event, strict=True))) + "\n"


def _positions(kind: str | None, fields: dict[str, Any]) -> dict[str, tuple[tuple[int, Any], ...]]:
    """For each kind that can match: the positions in its tuple and the values required there."""
    if kind is not None and kind not in EVENTS:
        raise ValueError(_unknown_kind(kind))
    kinds = EVENTS if kind is None else {kind: EVENTS[kind]}
    found = {
        name: tuple([(names.index(field) + 1, value) for field, value in fields.items()])
        for name, names in kinds.items()
        if all(field in names for field in fields)
    }
    if not found:
        required, known = ", ".join(fields), "; ".join(f"{name}: {', '.join(EVENTS[name])}" for name in kinds)
        raise ValueError(f"no kind of event has all the fields {required}; the fields are {known}")
    return found


def _unknown_kind(kind: object) -> str:
    return f"no kind of event is called {kind!r}; the kinds are {', '.join(EVENTS)}"


def _column_order() -> list[str]:
    names = ["kind", "at_ns"]
    for fields in EVENTS.values():
        names += [field for field in fields if field not in names]
    return names


def _whole_columns() -> set[str]:
    """Columns that hold whole numbers in every kind that has them."""
    types: dict[str, set[Any]] = {}
    for view in VIEWS.values():
        for name, hint in get_type_hints(view).items():
            types.setdefault(name, set()).add(hint)
    return {name for name, hints in types.items() if hints == {int}}
