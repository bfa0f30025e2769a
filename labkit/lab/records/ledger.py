"""Ledger: what clients were answered: every acknowledged write, and how every operation ended.

1. An operation is a request of a client or of an operator, with all its attempts.  Whatever counts operations reads
   them here.
2. A write is an answered operation that committed something; deliberate wipes are not counted, nor calls of ``sys/`` in
   any namespace: the books keep none of which the node said so, and others are known by their path.  It stands for the
   commit of the attempt that was answered, else for that of the last attempt before, where the cluster that answered
   holds this; what an earlier attempt committed is the same write.  So a deletion that finds nothing to delete at a
   survivor counts as no write, whatever another attempt deleted elsewhere.
3. What an attempt committed is remembered while somebody waits for the answer, and no longer.
4. Acknowledged writes are kept for good, packed (``packed_rows``): any may be lost by the next promotion.  Of how
   operations ended, and of failed requests, only the newest are kept where ``newest`` says how many (``chunks``); all
   are counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.records.chunks import Chunks
from labkit.lab.records.packed_rows import BYTES, NAME, NUMBER, VALUE, PackedRows
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN

OUTCOMES = (ANSWERED, REFUSED, UNKNOWN)


class CommittedWrite(NamedTuple):
    """What an attempt committed, where and in which history, and what a check of it needs; never a value.

    ``commit`` is its number among the lab's commits.  ``version`` is the one that the answer named (0: none), of a
    secret or a key; ``options`` are the names of the fields that were sent, with those inside ``options``.
    ``value_digest`` stands for what the request said to write, empty where it did not say it all; ``first`` is the
    commit of the earliest attempt (-1: this one).
    """

    cluster: str
    history: int
    commit: int
    method: str = ""
    version: int = 0
    options: tuple[str, ...] = ()
    value_digest: bytes = b""
    first: int = -1

    @property
    def since(self) -> int:
        """The number of the earliest commit of this write."""
        return self.commit if self.first < 0 else self.first


class Write(NamedTuple):
    """One acknowledged write: when, by whom, which path, and what it had committed."""

    at_ns: int
    client: str
    path: str
    committed: CommittedWrite


WRITE_SHAPE = (NUMBER, VALUE, NAME, VALUE, NUMBER, NUMBER, VALUE, NUMBER, VALUE, BYTES, NUMBER)
"""Time, client and path of a write, and what it had committed, field by field."""


class EndedOperation(NamedTuple):
    """When an operation ended, and how: answered, refused (certainly no effect) or unknown (it may have happened)."""

    at_ns: int
    outcome: str


class FailedAsk(NamedTuple):
    """A request of an operator that was refused or stayed without an answer: of which node, why, and how it asked."""

    at_ns: int
    asker: str
    path: str
    outcome: str
    status: int
    reason: str
    node: str
    method: str = ""  # missing in files of earlier versions


class Ledger:
    """What clients were answered, kept apart from what servers stored."""

    __slots__ = ("_counts", "awaited", "failed_asks", "operations", "writes")

    def __init__(self, state: dict[str, Any] | None = None, newest: int = 0) -> None:
        state = state or {}
        self.writes: PackedRows[Write] = PackedRows(WRITE_SHAPE, _as_write, state.get("writes"))
        self.operations: Chunks[EndedOperation] = Chunks(state.get("operations", ()), EndedOperation._make, newest)
        self.failed_asks: Chunks[FailedAsk] = Chunks(state.get("failed_asks", ()), _as_failed_ask, newest)
        self._counts: dict[str, int] = dict(state.get("counts", dict.fromkeys(OUTCOMES, 0)))
        self.awaited: dict[tuple[str, int], dict[int, CommittedWrite]] = {
            asked: dict(attempts) for asked, attempts in state.get("waiting", {}).items()
        }

    def __repr__(self) -> str:
        return f"Ledger({len(self.writes)} writes acknowledged, {self.in_doubt} in doubt)"

    @property
    def answered(self) -> int:
        """How many operations were answered with success."""
        return self._counts[ANSWERED]

    @property
    def refused(self) -> int:
        """How many operations were refused."""
        return self._counts[REFUSED]

    @property
    def in_doubt(self) -> int:
        """How many operations may have happened or not: nobody answered in time, or the answer says so."""
        return self._counts[UNKNOWN]

    @property
    def unknown(self) -> int:
        """The same as ``in_doubt``, by the name that the trace has for such an outcome."""
        return self.in_doubt

    @property
    def waiting(self) -> int:
        """How many operations committed something and wait for their answer."""
        return len(self.awaited)

    def commit(self, correlation: Correlation, committed: CommittedWrite) -> None:
        """Note that an attempt, for whose answer somebody waits, committed something; its answer is not sent yet."""
        self.awaited.setdefault(correlation[:2], {})[correlation.attempt] = committed

    def end(
        self, at_ns: int, client: str, path: str, outcome: str, correlation: Correlation, cluster: str = ""
    ) -> bool:
        """Note how an operation ended, and which cluster answered; return whether that was an acknowledged write."""
        self.operations.append((at_ns, outcome))
        self._counts[outcome] += 1
        attempts = self.awaited.pop(correlation[:2], None)
        if attempts is None or outcome != ANSWERED or path.startswith("sys/"):
            return False
        committed = attempts.get(correlation.attempt)
        if committed is None:
            committed = attempts[max(attempts)]
            if not self._holds(cluster, committed):
                return False
        if len(attempts) > 1:
            committed = committed._replace(first=min([attempt.commit for attempt in attempts.values()]))
        self.writes.append((at_ns, client, path, *committed))
        return True

    def _holds(self, cluster: str, committed: CommittedWrite) -> bool:
        """Whether a cluster holds what an attempt committed; without histories it is taken for granted."""
        return True

    def state(self) -> dict[str, Any]:
        """Return the ledger as plain values; sealed chunks are shared (R3)."""
        return {
            "writes": self.writes.state(),
            "operations": self.operations.state(),
            "failed_asks": self.failed_asks.state(),
            "counts": dict(self._counts),
            "waiting": {asked: dict(attempts) for asked, attempts in self.awaited.items()},
        }


def _as_failed_ask(row: tuple[Any, ...]) -> FailedAsk:
    return FailedAsk(*row)


def _as_write(row: tuple[Any, ...]) -> Write:
    at_ns, client, path, *committed = row
    return Write(at_ns, client, path, CommittedWrite._make(committed))
