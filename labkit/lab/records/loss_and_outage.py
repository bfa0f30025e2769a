"""Loss and outage: what a promotion lost (RPO) and how long it took (RTO), by what clients were answered (D14).

1. Lost is judged by contents, once, at the promotion: an acknowledged write of the history that the survivor followed,
   of which it held, under some key, neither what the write left nor what a later one left (``histories``).  Writes
   committed to that history afterwards, by an old primary that goes on, are lost too.  What an earlier attempt of the
   same operation, or a later writer, left on the survivor is not lost; what was damaged there on purpose is not either.
2. The fault is the earliest event that ended the old primary's service or its shipping and was not undone before the
   promotion (``outages``); without any, the promotion itself.
3. RPO: the number of lost writes, those acknowledged before the fault and after it apart, and for each part how far
   it reaches: the seconds from the oldest acknowledgement to the fault, and from the fault to the last one.
   RTO: the seconds from the fault to the first acknowledged write that the survivor committed after its promotion: a
   late answer to what it committed before an own demotion does not count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.records.histories import Histories
from labkit.lab.records.ledger import CommittedWrite, Ledger, Write
from labkit.lab.records.outages import Outages
from labkit.lab.records.outcome_counts import OutcomeCounts
from labkit.lab.records.read_log import ReadLog
from labkit.lab.records.surviving_tokens import TokenSurvival
from labkit.service.durations import SECOND_NS


class Promotion(NamedTuple):
    """A survivor took over: when, which history it had followed, and what it did not hold of it.

    ``missing`` are the numbers of commits; ``next_commit`` is the first that came after the promotion.  A cluster that
    followed none, and is promoted with its own contents, has no old primary and ``old_history`` -1.  ``history`` is the
    one that the survivor writes from then on (-1: not known).
    """

    at_ns: int
    survivor: str
    old_primary: str
    old_history: int
    next_commit: int
    missing: frozenset[int]
    fault_ns: int
    planned: bool
    history: int = -1

    def lost(self, write: Write) -> bool:
        """Whether an acknowledged write is lost by this promotion."""
        committed = write.committed
        late = committed.history == self.old_history and committed.commit >= self.next_commit
        return late or committed.commit in self.missing


class RecoveryPoint(NamedTuple):
    """Measured loss: how many acknowledged writes, how far back the oldest reaches, and how many came after the fault.

    A split brain loses what the old primary goes on to acknowledge: those writes are ``after_fault``, the last of them
    ``seconds_after`` it.
    """

    writes: int
    seconds: float
    after_fault: int = 0
    seconds_after: float = 0.0

    @property
    def before_fault(self) -> int:
        """How many of them were acknowledged before the fault."""
        return self.writes - self.after_fault


class RecoveryTime(NamedTuple):
    """Measured outage: from the fault to the first write that the survivor acknowledged; None when there was none."""

    seconds: float | None


SHOWN = ("answered", "in_doubt", "lost", "operations", "promotions", "refused", "rpo", "rto", "writes")


class RecoveryLedger(Ledger):
    """A lab's ledger, with the histories, outages and promotions by which its losses are measured.

    It also keeps what readings showed, what each group of clients got, and what became of tokens at promotions.
    """

    __slots__ = ("histories", "outages", "outcomes", "promotions", "read_log", "tokens")

    def __dir__(self) -> list[str]:
        """Name what users ask; the rest is the lab's own."""
        return [name for name in super().__dir__() if name in SHOWN or name.startswith("__")]

    def __init__(self, state: dict[str, Any] | None = None, newest: int = 0) -> None:
        super().__init__(state, newest)
        state = state or {}
        self.promotions: list[Promotion] = list(state.get("promotions", ()))
        self.histories = Histories(state.get("histories"))
        self.outages = Outages(state.get("outages"))
        self.outcomes = OutcomeCounts(state.get("outcomes"))
        self.read_log = ReadLog(state.get("read_log"), newest)
        self.tokens: list[TokenSurvival] = list(state.get("tokens", ()))

    def __repr__(self) -> str:
        return f"Ledger({len(self.writes)} writes acknowledged, {len(self.lost())} lost, {self.in_doubt} in doubt)"

    def lost(self, promotion: Promotion | None = None) -> list[Write]:
        """Return the acknowledged writes that are lost, oldest first: of one promotion, or of all."""
        chosen = self.promotions if promotion is None else [promotion]
        if not chosen:
            return []
        missing = [(write, taken) for write in self.writes for taken in chosen if taken.lost(write)]
        newest = {taken: self._left_again(taken, missing) for taken in dict.fromkeys([taken for _, taken in missing])}
        lost = [
            write
            for write, taken in missing
            if newest[taken].get(write.committed.value_digest, -1) < write.committed.since
        ]
        return list(dict.fromkeys(lost))

    def _left_again(self, taken: Promotion, missing: list[tuple[Write, Promotion]]) -> dict[bytes, int]:
        """Return, of values that a survivor did not take over, the number of the last commit that left each there."""
        values = frozenset([write.committed.value_digest for write, by in missing if by == taken]) - {b""}
        return self.histories.newest_of(taken.history, values) if values and taken.history >= 0 else {}

    def _holds(self, cluster: str, committed: CommittedWrite) -> bool:
        return self.histories.holds(cluster, committed.commit, committed.history)

    def rpo(self) -> RecoveryPoint:
        """Measure the loss of the last promotion; zero when there was none."""
        if not self.promotions:
            return RecoveryPoint(0, 0.0)
        last = self.promotions[-1]
        lost = self.lost(last)
        times_ns = [last.fault_ns, *[write.at_ns for write in lost]]
        after_fault = sum(at_ns > last.fault_ns for at_ns in times_ns)
        reach_ns = last.fault_ns - min(times_ns), max(times_ns) - last.fault_ns
        return RecoveryPoint(len(lost), reach_ns[0] / SECOND_NS, after_fault, reach_ns[1] / SECOND_NS)

    def rto(self) -> RecoveryTime:
        """Measure the outage of the last promotion."""
        if not self.promotions:
            return RecoveryTime(None)
        last = self.promotions[-1]
        first = self.first_after(last)
        return RecoveryTime(None if first is None else (first.at_ns - last.fault_ns) / SECOND_NS)

    def first_after(self, promotion: Promotion) -> Write | None:
        """Return the first acknowledged write that a survivor committed after its promotion; None without one."""
        for write in self.writes:
            if write.committed.cluster == promotion.survivor and write.committed.commit >= promotion.next_commit:
                return write
        return None

    def state(self) -> dict[str, Any]:
        """Return the ledger as plain values."""
        return {
            **super().state(),
            "promotions": tuple(self.promotions),
            "histories": self.histories.state(),
            "outages": self.outages.state(),
            "outcomes": self.outcomes.state(),
            "read_log": self.read_log.state(),
            "tokens": tuple(self.tokens),
        }
