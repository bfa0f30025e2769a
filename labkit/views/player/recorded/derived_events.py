"""Derived events: what happened in a run that no single row of its trace says, each with where its cause begins.

1. The write before a gap and the write that ends it; a promotion of which nobody wrote anything has none.
2. Clients that turn to another address, gathered; more than a few are only counted.
3. A cluster that nobody leads any more; two that are primary at once, and whether either is cut off from every other
   site then.
4. A secondary whose pages are all as its upstream's from then on; what became of entries that a survivor never had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from labkit.lab.causes.explanation import Effect
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.measures.replaced_entries import ReplacedEntries
from labkit.lab.measures.state_spans import Span
from labkit.lab.measures.trees_over_time import TreesOverTime
from labkit.lab.records.loss_and_outage import Promotion
from labkit.service.durations import in_seconds
from labkit.views.contents.map_contents import BOTH_WAYS
from labkit.views.player.recorded.client_moves import ClientMove
from labkit.views.player.recorded.happenings import (
    ADDRESS,
    LEADER,
    MAX_OBSERVED,
    MODE,
    OUTAGE,
    TREES,
    OnlyCounted,
    RunEvent,
)
from labkit.views.player.recorded.line_conditions import LineSpan
from labkit.views.player.recorded.write_gaps import WriteGap, Written

NO_ROW = -1
WITHOUT_LEADER = ("down", "sealed")


class Derived(NamedTuple):
    """An event that is derived, and what is to be explained of it; None where nothing is."""

    event: RunEvent
    effect: Effect | None = None


class RunFacts(NamedTuple):
    """What events are derived from: gaps by promotion, moves of clients, what clusters were, lines and trees."""

    run: RecordedRun
    gaps: Sequence[tuple[Promotion, WriteGap]]
    moves: Sequence[ClientMove]
    spans: Sequence[Span]
    lines: Sequence[LineSpan]
    trees: TreesOverTime | None
    replaced: Sequence[ReplacedEntries]


def derived_events(facts: RunFacts) -> tuple[list[Derived], list[OnlyCounted]]:
    """Return all of them, and what is only counted."""
    moves, left = _of_moves(facts.moves)
    led = [*_of_leaders(facts), *_of_primaries(facts)]
    return [*_of_gaps(facts.run, facts.gaps), *moves, *led, *_of_trees(facts)], left


def _of_gaps(run: RecordedRun, gaps: Iterable[tuple[Promotion, WriteGap]]) -> Iterator[Derived]:
    for taken, gap in gaps:
        if gap.before is not None:
            words = f"the last write before {gap.survivor} takes over: {_written(gap.before)}"
            row = _outcome(run, gap.before)
            yield Derived(RunEvent(gap.from_ns, OUTAGE, words, row), None if row < 0 else ("outcome", row))
        words = f"the first write that {gap.survivor} takes: {_written(gap.after)}; {gap.words}"
        yield Derived(RunEvent(gap.to_ns, OUTAGE, words, _outcome(run, gap.after)), ("recovery", taken))


def _written(write: Written) -> str:
    return f"{write.path} of {write.client}"


def _outcome(run: RecordedRun, write: Written) -> int:
    """Return the row in which a client's write ended; an operator's has none."""
    rows = (row for row in run.between(write.at_ns, write.at_ns) if run.rows[row][0] == "outcome")
    return next((row for row in rows if (run.rows[row][3], run.rows[row][5]) == write[1:]), NO_ROW)


def _of_moves(moves: Sequence[ClientMove]) -> tuple[list[Derived], list[OnlyCounted]]:
    if len(moves) > MAX_OBSERVED:
        return [], [OnlyCounted("client asks another address", len(moves))]
    found = []
    for move in moves:
        event = RunEvent(move.at_ns, ADDRESS, move.words, move.unanswered, (*move.clients, move.source, move.target))
        silence = ("silence", (move.unanswered, move.at_ns)) if move.unanswered >= 0 else None
        found.append(Derived(event, silence))
    return found, []


def _of_leaders(facts: RunFacts) -> Iterator[Derived]:
    """Yield from when on nobody leads a cluster."""
    before: dict[str, str] = {}
    for span in facts.spans:
        if span.what in WITHOUT_LEADER and before.get(span.row) not in WITHOUT_LEADER:
            yield Derived(RunEvent(span.from_ns, LEADER, f"nobody leads {span.row}", NO_ROW, (span.row,)))
        before[span.row] = span.what


def _of_primaries(facts: RunFacts) -> Iterator[Derived]:
    """Yield where a cluster becomes primary beside another."""
    primary, now_ns = [span for span in facts.spans if span.what == "primary"], facts.run.queries.now
    for one in primary:
        for other in primary:
            if other.from_ns <= one.from_ns < other.to_ns and one.row != other.row:
                until_ns = min(one.to_ns, other.to_ns)
                until = "to the end" if until_ns >= now_ns else f"until {in_seconds(until_ns)} s"
                apart = [name for name in (one.row, other.row) if _is_cut_off(facts, name, one.from_ns)]
                cut = f", {' and '.join(apart)} cut off from every other site" if apart else ""
                words = f"{other.row} and {one.row} are both primary {until}{cut}"
                yield Derived(RunEvent(one.from_ns, MODE, words, NO_ROW, (one.row, other.row)))


def _is_cut_off(facts: RunFacts, cluster: str, at_ns: int) -> bool:
    """Whether every line of a cluster's site is cut both ways at an instant."""
    queries = facts.run.queries
    site, links = queries.site_of(cluster), queries.parts.network.topology.links
    spans = [span for span in facts.lines if span.from_ns <= at_ns < span.to_ns and span.cut == BOTH_WAYS]
    cut = {frozenset((span.a, span.b)) for span in spans}
    its = [frozenset(link.between) for link in links if site in link.between]
    return bool(its) and cut.issuperset(its)


def _of_trees(facts: RunFacts) -> Iterator[Derived]:
    """Yield from when on each secondary has every page as its upstream, and what became of entries of its own."""
    trees, end_ns = facts.trees, facts.run.queries.now
    for one in () if trees is None else trees.compared:
        its = [apart.to_ns for apart in trees.apart if (apart.cluster, apart.upstream) == one[:2]] if trees else []
        last_ns = max(its, default=end_ns)
        if one.to_ns == end_ns and one.from_ns <= last_ns < end_ns:
            words = f"{one.cluster}'s tree has every page as {one.upstream}'s, and stays so to the end"
            yield Derived(RunEvent(last_ns, TREES, words, NO_ROW, (one.cluster, one.upstream)))
    for found in facts.replaced:
        yield Derived(RunEvent(found.at_ns, TREES, _replaced(found), NO_ROW, (found.cluster, found.upstream)))


def _replaced(one: ReplacedEntries) -> str:
    """Say what became of entries that a survivor never had."""
    counts = {"overwritten": one.overwritten, "deleted": one.deleted, "kept": one.kept}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    entries = "the entry" if one.entries == 1 else f"the {one.entries} entries"
    return f"{one.cluster} follows {one.upstream} without {entries} that only it had; keys changed there: {said}"
