"""Loss and outage: what a promotion lost (RPO) and how long it took (RTO), by what clients were answered (D14).

1. Lost is what was acknowledged but is not in the history that the survivor had applied when it was promoted.
2. The fault is the last crash or partition of the old primary before that promotion.
3. RPO: the number of lost writes, and the seconds from the acknowledgement of the oldest of them to the fault.
   RTO: the seconds from the fault to the first write that the survivor acknowledged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.ledger import Ledger, Write
from labkit.service.durations import SECOND_NS


class Promotion(NamedTuple):
    """A survivor took over: whose history it had applied, up to which entry, and when the fault was."""

    at_ns: int
    survivor: str
    old_primary: str
    old_history: int
    applied: int
    fault_ns: int
    planned: bool


class RecoveryPoint(NamedTuple):
    """Measured loss: how many acknowledged writes, and how far back the oldest reaches."""

    writes: int
    seconds: float


class RecoveryTime(NamedTuple):
    """Measured outage: from the fault to the first write that the survivor acknowledged; None when there was none."""

    seconds: float | None


class RecoveryLedger(Ledger):
    """A lab's ledger, with the faults and promotions by which its losses are measured."""

    __slots__ = ("faults", "promotions")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        super().__init__(state)
        state = state or {}
        self.promotions: list[Promotion] = [Promotion(*row) for row in state.get("promotions", ())]
        self.faults: dict[str, int] = dict(state.get("faults", {}))

    def __repr__(self) -> str:
        return f"Ledger({len(self.writes)} writes acknowledged, {len(self.lost())} lost, {self.unknown} unknown)"

    def fault(self, cluster: str, at_ns: int) -> None:
        """Note a crash or partition of a cluster."""
        self.faults[cluster] = at_ns

    def promoted(self, promotion: Promotion) -> None:
        """Note that a secondary was promoted, and what it had applied by then; the fault is filled in (rule 2)."""
        fault_ns = self.faults.get(promotion.old_primary, promotion.at_ns)
        self.promotions.append(promotion._replace(fault_ns=fault_ns))

    def lost(self, promotion: Promotion | None = None) -> list[Write]:
        """Return the acknowledged writes that are lost, oldest first: of one promotion, or of all."""
        chosen = self.promotions if promotion is None else [promotion]
        return [write for write in self.writes if any(_missed(write, taken) for taken in chosen)]

    def rpo(self) -> RecoveryPoint:
        """Measure the loss of the last promotion; zero when there was none."""
        if not self.promotions:
            return RecoveryPoint(0, 0.0)
        last = self.promotions[-1]
        lost = self.lost(last)
        oldest = min((write.at_ns for write in lost), default=last.fault_ns)
        return RecoveryPoint(len(lost), max(0, last.fault_ns - oldest) / SECOND_NS)

    def rto(self) -> RecoveryTime:
        """Measure the outage of the last promotion."""
        if not self.promotions:
            return RecoveryTime(None)
        last = self.promotions[-1]
        for write in self.writes:
            if write.cluster == last.survivor and write.at_ns >= last.at_ns:
                return RecoveryTime((write.at_ns - last.fault_ns) / SECOND_NS)
        return RecoveryTime(None)

    def state(self) -> dict[str, Any]:
        """Return the ledger as plain values."""
        return {**super().state(), "promotions": tuple(self.promotions), "faults": dict(self.faults)}


def _missed(write: Write, promotion: Promotion) -> bool:
    """Whether a write is in the old primary's history but not in what the survivor had applied of it."""
    return (
        write.cluster == promotion.old_primary
        and write.history == promotion.old_history
        and write.entry > promotion.applied
    )
