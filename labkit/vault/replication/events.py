"""What can happen to a secondary's replication, and what it can ask for in turn: plain records.

An event carries the ``Moment`` it happened at.  Effects are carried out in their order, all before the next
event: ``AskUpstream`` and ``StartTimer`` come back as events, the others are for the node itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Changes = tuple[tuple[str, bytes | None], ...]
"""Keys and the ciphertexts they are to hold, None where a key is to go."""


class Moment(NamedTuple):
    """When something happened: on this node's steady clock, and on its wall clock, which may be wrong."""

    now_ns: int
    wall_ns: int


class Start(NamedTuple):
    """Connect: after enable, update-primary, unseal or takeover.

    ``position`` is the generation of this very upstream that the contents are, None when that is unknown.
    ``serial``: the node's incarnation << 32, so that answers to a former life are strangers.
    """

    addresses: tuple[str, ...]
    at: Moment
    primary_cluster_addr: str = ""
    secondary_id: str = ""
    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0
    serial: int = 0


class Stop(NamedTuple):
    """Forget the upstream: demote, blank token; ``shut``: for good, by promote, disable, seal, step-down."""

    reason: str
    at: Moment
    shut: bool = False


class ReplyArrived(NamedTuple):
    """An answer came, as ``heard`` made it."""

    rpc: str
    payload: Mapping[str, Any]
    at: Moment


class Refused(NamedTuple):
    """A question, or (rpc "") the whole connection, was refused; ``addresses``: of who is active, if told."""

    rpc: str
    serial: int
    reason: str
    at: Moment
    addresses: tuple[str, ...] = ()


class ReplyTimedOut(NamedTuple):
    """No answer came in time."""

    rpc: str
    serial: int
    at: Moment


class Pushed(NamedTuple):
    """Entries came on the stream."""

    payload: Mapping[str, Any]
    at: Moment


class TimerFired(NamedTuple):
    """A timer that ``StartTimer`` asked for rang."""

    name: str
    serial: int
    at: Moment


Event = Start | Stop | ReplyArrived | Refused | ReplyTimedOut | Pushed | TimerFired


class AskUpstream(NamedTuple):
    """Ask the upstream at an address what ``ask`` makes of the payload; timeout 0: no silence is told."""

    rpc: str
    to: str
    payload: Mapping[str, Any]
    timeout_ns: int


class StartTimer(NamedTuple):
    """Ring a timer after a delay, to be spread evenly by ± ``spread_ppm`` millionths of it."""

    name: str
    serial: int
    delay_ns: int
    spread_ppm: int = 0


class Apply(NamedTuple):
    """Commit streamed entries, (number, changes), each in a transaction of its own.

    In the same transaction: ``position`` and ``last_remote_wal`` are now the entry's number.
    """

    entries: tuple[tuple[int, Changes], ...]


class Replace(NamedTuple):
    """Commit fetched ciphertexts and deletions in one transaction, with ``complete`` and ``position``."""

    changes: Changes
    complete: bool
    position: int | None


class Remember(NamedTuple):
    """Store the upstream's addresses, best first, for the next start."""

    addresses: tuple[str, ...]


class Observe(NamedTuple):
    """Tell whoever watches."""

    kind: str
    fields: Mapping[str, Any]


Effect = AskUpstream | StartTimer | Apply | Replace | Remember | Observe
