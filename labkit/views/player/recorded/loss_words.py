"""Loss words: of what a survivor lacked when it was promoted, how much was acknowledged, and how far that reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from labkit.service.durations import in_seconds

if TYPE_CHECKING:
    from labkit.lab.records.loss_and_outage import RecoveryLedger


def losses_in_words(ledger: RecoveryLedger) -> Iterator[str]:
    """Yield a sentence for each promotion that lost acknowledged writes."""
    for taken in ledger.promotions:
        lost = ledger.lost(taken)
        if not lost:
            continue
        late = [write for write in lost if write.committed.commit >= taken.next_commit]
        early = len(lost) - len(late)
        old = taken.old_primary or "its upstream"
        words = f"When {taken.survivor} was promoted, at {_seconds(taken.at_ns)}, it lacked {len(taken.missing)} "
        words += f"commit{'' if len(taken.missing) == 1 else 's'} of {old}: {early} acknowledged, so lost"
        left = len(taken.missing) - early
        words += f", and {left} that nobody had an answer to" if left > 0 else ""
        reach_ns = taken.fault_ns - min(write.at_ns for write in lost)
        words += f". The first of them was acknowledged {_seconds(reach_ns)} before the fault" if reach_ns > 0 else ""
        words += f". {len(late)} more were acknowledged by {old} afterwards, and are lost too" if late else ""
        yield f"{words}."


def _seconds(length_ns: int) -> str:
    return f"{in_seconds(length_ns)} s"
