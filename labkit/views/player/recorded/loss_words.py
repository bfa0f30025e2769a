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
        words = f"When {taken.survivor} was promoted, at {_seconds(taken.at_ns)}, it lacked "
        words += f"{_commits(len(taken.missing))} of {old}"
        words += f": {early} acknowledged, so lost" if taken.missing else ""
        left = len(taken.missing) - early
        words += f", and {left} that nobody had an answer to" if left > 0 else ""
        reach_ns, begin = taken.fault_ns - min(write.at_ns for write in lost), "move" if taken.planned else "fault"
        words += f". The first of them was acknowledged {_seconds(reach_ns)} before the {begin}" if reach_ns > 0 else ""
        words += f". {_late(len(late), early)} acknowledged by {old} afterwards, and lost at once" if late else ""
        yield f"{words}."


def _commits(count: int) -> str:
    return {0: "no commit", 1: "1 commit"}.get(count, f"{count} commits")


def _late(count: int, early: int) -> str:
    return f"{count}{' more' if early else ''} {'was' if count == 1 else 'were'}"


def _seconds(length_ns: int) -> str:
    return f"{in_seconds(length_ns)} s"
