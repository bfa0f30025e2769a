"""Write gaps: for how long no write succeeded around each promotion, and what of that time was spent on what.

1. A gap is from the last write that was acknowledged before the survivor's first one to that one.
2. Its parts follow one another: until the fault, until the promotion was asked for, until the survivor was primary,
   until its first writer asked it, and the way there and back.  A part that took no time is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from labkit.lab.causes.message_causes import seconds
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.records.ledger import Write
from labkit.lab.records.loss_and_outage import Promotion
from labkit.service.durations import MILLISECOND_NS
from labkit.views.player.recorded.write_ways import way_of


class GapPart(NamedTuple):
    """A part of a gap: when it ended, and what the time went on."""

    to_ns: int
    words: str


class Written(NamedTuple):
    """An acknowledged write: when, by whom, which path."""

    at_ns: int
    client: str
    path: str


class WriteGap(NamedTuple):
    """A stretch in which no write succeeded, around the promotion of a survivor: its two writes and its parts.

    ``before`` is None where no write was acknowledged before it.  ``fault_ns`` is from when the recovery time counts,
    ``way`` are the rows of the request and of the answer that ended it, where the trace has them.
    """

    survivor: str
    fault_ns: int
    before: Written | None
    after: Written
    parts: tuple[GapPart, ...]
    way: tuple[int, ...]

    @property
    def from_ns(self) -> int:
        """When the last write before it was acknowledged; without one, the fault."""
        return self.fault_ns if self.before is None else self.before.at_ns

    @property
    def to_ns(self) -> int:
        """When the first write after it was acknowledged."""
        return self.after.at_ns

    @property
    def words(self) -> str:
        """How long it was, and its parts, in words."""
        starts = (self.from_ns, *(part.to_ns for part in self.parts))
        said = [f"{seconds(part.to_ns - start)} {part.words}" for start, part in zip(starts, self.parts, strict=False)]
        return f"no write succeeded for {seconds(self.to_ns - self.from_ns)}: {', '.join(said)}"


def write_gaps(run: RecordedRun) -> list[tuple[Promotion, WriteGap]]:
    """Return the gap around each promotion after which a write was acknowledged."""
    found = []
    for taken in run.ledger.promotions:
        first = run.ledger.first_after(taken)
        if first is not None:
            earlier = [write for write in run.ledger.writes if write.at_ns < first.at_ns]
            before = Written(*earlier[-1][:3]) if earlier else None
            way = way_of(run, first)
            start_ns = taken.fault_ns if before is None else before.at_ns
            parts = _parts(start_ns, _steps(run, taken, first, way))
            found.append((taken, WriteGap(taken.survivor, taken.fault_ns, before, Written(*first[:3]), parts, way)))
    return found


def _parts(start_ns: int, steps: Iterable[GapPart]) -> tuple[GapPart, ...]:
    """Return the steps after an instant, each later than the one before."""
    found: list[GapPart] = []
    for step in steps:
        if step.to_ns > (found[-1].to_ns if found else start_ns):
            found.append(step)
    return tuple(found)


def _steps(run: RecordedRun, taken: Promotion, first: Write, way: tuple[int, ...]) -> Iterator[GapPart]:
    survivor = taken.survivor
    yield GapPart(taken.fault_ns, "until the fault")
    yield GapPart(_asked_ns(run, taken), f"until the promotion of {survivor} was asked for")
    yield GapPart(taken.at_ns, f"until {survivor} was primary")
    if not way:
        yield GapPart(first.at_ns, f"until the first write at {survivor} was answered")
        return
    _, sent_ns, arrived_ns, source, target, *_ = run.rows[way[0]]
    _, answered_ns, at_ns, *_ = run.rows[way[1]]
    there, back = (f"{length / MILLISECOND_NS:.0f} ms" for length in (arrived_ns - sent_ns, at_ns - answered_ns))
    yield GapPart(sent_ns, f"until {source} asked {target}")
    yield GapPart(first.at_ns, f"on the way there and back ({there} there, {back} back)")


def _asked_ns(run: RecordedRun, taken: Promotion) -> int:
    """Return when a promotion was asked for: where its step of a scenario began, else its operator's first request."""
    rows = run.between(taken.at_ns, taken.at_ns)
    row = next((row for row in rows if run.rows[row][:4] == ("mode", taken.at_ns, taken.survivor, "primary")), None)
    step = None if row is None else run.step_at(row)
    if step is not None:
        return run.at_ns(step)
    asked_ns, link = taken.at_ns, None if row is None else run.trigger(row, run.nodes_of(taken.survivor))
    while link is not None and run.rows[link][0] == "message":  # each request follows the answer to the one before
        asked_ns, link = int(run.rows[link][1]), run.sent_for(link)
    return asked_ns
