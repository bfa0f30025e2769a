"""The events of a secondary's replication, and the effects that it asks for: plain records.

An event carries the ``Moment`` it happened at, but for what is pushed: nothing asks when that came.  Effects are
carried out in their order, all before the next event: ``AskUpstream`` and ``StartTimer`` come back as events, the
others are for the node itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.record import NamedTuple

Changes = tuple[tuple[str, bytes | None], ...]
"""Keys and the ciphertexts they are to hold, None deletes the key."""


class Moment(NamedTuple):
    """When something happened: on this node's steady clock, and on its wall clock, which may be wrong."""

    now_ns: int
    wall_ns: int


class Start(NamedTuple):
    """Connect: after enable, update-primary, unseal or takeover.

    ``position`` is the generation of this upstream that the contents are, None when that is unknown.
    ``serial``: this node's leadership term << 32, so that answers to an earlier lead are ignored.  ``term``: the
    highest of the upstream that was seen.
    """

    addresses: tuple[str, ...]
    at: Moment
    primary_cluster_addr: str = ""
    secondary_id: str = ""
    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0
    serial: int = 0
    term: int = 0


class Stop(NamedTuple):
    """Forget the upstream: demote, blank token; ``shut``: no reconnect, after promote, disable, seal, step-down."""

    reason: str
    at: Moment
    shut: bool = False


class ReplyArrived(NamedTuple):
    """An answer arrived, as ``heard`` returned it."""

    rpc: str
    payload: Mapping[str, Any]
    at: Moment

    def __repr__(self) -> str:
        return f"ReplyArrived({self.rpc})"


class Refused(NamedTuple):
    """A question was refused, or (rpc "") the upstream ends the connection; ``addresses``: the active node's, if known.

    ``serial`` is the question's; of a heartbeat, that of the question before it.
    """

    rpc: str
    serial: int
    reason: str
    at: Moment
    addresses: tuple[str, ...] = ()


class Pushed(NamedTuple):
    """Entries arrived on the stream."""

    payload: Mapping[str, Any]

    def __repr__(self) -> str:
        return "Pushed()"


class Announced(NamedTuple):
    """The upstream's new active node announced itself, as ``announcement`` has judged."""

    address: str
    term: int
    at: Moment


NOTHING, NODES, LEAVES = "nothing", "nodes", "leaves"
"""What a reindex found otherwise than it was: leaves, and so the contents that they stand for; or only nodes above."""


class Reindexed(NamedTuple):
    """This side's index was made again from its store; ``differing``: in what it is not as the one before was."""

    differing: str  # NOTHING, NODES, LEAVES
    at: Moment


class TimerFired(NamedTuple):
    """A timer that ``StartTimer`` asked for fired."""

    name: str
    serial: int
    at: Moment


Event = Start | Stop | ReplyArrived | Refused | Pushed | Announced | Reindexed | TimerFired


class AskUpstream(NamedTuple):
    """Ask the upstream at an address what ``ask`` makes of the payload, after all that was asked before, or aside."""

    rpc: str
    to: str
    payload: Mapping[str, Any]
    aside: bool = False

    def __repr__(self) -> str:
        return f"AskUpstream({self.rpc}, {self.to})"


class StartTimer(NamedTuple):
    """Fire a timer after a delay, to be spread evenly by ± ``spread_ppm`` millionths of it."""

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
    """Store the upstream's addresses, best first, and its term, for the next start."""

    addresses: tuple[str, ...]
    term: int


class Observe(NamedTuple):
    """Report to the node's observer."""

    kind: str
    fields: Mapping[str, Any]


Effect = AskUpstream | StartTimer | Apply | Replace | Remember | Observe
