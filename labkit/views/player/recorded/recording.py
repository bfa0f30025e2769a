"""Recording: everything that a player says of a run, from its trace, ledger and records; nothing is asked of a node.

1. The same records give the same recording.  Times are those of the trace.
2. What is left out is counted: messages of a run with too many, and what was observed too often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from labkit.lab.causes.explanation import Explanation
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.why import explain, explain_effect
from labkit.lab.measures.replaced_entries import ReplacedEntries, replaced_entries
from labkit.lab.measures.state_spans import Span, spans_of
from labkit.lab.measures.trees_over_time import TreesOverTime, trees_over_time
from labkit.lab.records.ledger import EndedOperation, Write
from labkit.views.contents.timeline_contents import heard_by
from labkit.views.player.pace import Stretch, pace
from labkit.views.player.recorded.carried_messages import Carried, messages_of, thinned, with_causes, with_requests
from labkit.views.player.recorded.client_moves import client_moves
from labkit.views.player.recorded.client_operations import ClientOperation, client_operations, operators_operations
from labkit.views.player.recorded.derived_events import RunFacts, derived_events
from labkit.views.player.recorded.finished_ledger import FinishedLedger
from labkit.views.player.recorded.happenings import (
    FAULT,
    UNDOING,
    WEIGHTY,
    OnlyCounted,
    RunEvent,
    happenings_of,
    joined,
)
from labkit.views.player.recorded.interest import of_interest
from labkit.views.player.recorded.line_conditions import LineSpan, line_spans
from labkit.views.player.recorded.loss_words import losses_in_words
from labkit.views.player.recorded.recorded_hosts import RecordedHost, ground_of, hosts_of, links_of
from labkit.views.player.recorded.silences import SilentStretch, silences_of
from labkit.views.player.recorded.write_gaps import WriteGap, write_gaps
from labkit.views.player.recorded.write_ways import push_of, way_of

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.measures.tree_record import TreeRecord
    from labkit.lab.queries import Queries
    from labkit.lab.records.loss_and_outage import RecoveryLedger

MAX_EXPLAINED = 1_000
MAX_LOST_SHOWN = 200


class Loss(NamedTuple):
    """An acknowledged write that is lost: what it is, when which promotion lost it, and why.

    ``way`` are the rows of its request, its answer and its push, as far as they are known.
    """

    write: Write
    promoted_ns: int
    way: tuple[int, ...] = ()
    explanation: Explanation | None = None


class Recording(NamedTuple):
    """What a run was: its places, its messages, what happened and why, and what clients and operators were answered.

    ``total`` counts all messages; ``lacked`` says what survivors did not have when they were promoted.
    """

    end_ns: int
    seed: int
    sites: tuple[str, ...]
    hosts: tuple[RecordedHost, ...]
    clusters: Mapping[str, tuple[str, ...]]
    links: tuple[tuple[str, str, str], ...]
    spans: tuple[Span, ...]
    nodes: tuple[Span, ...]
    lines: tuple[LineSpan, ...]
    messages: tuple[Carried, ...]
    total: int
    interesting: tuple[int, ...]
    happenings: tuple[RunEvent, ...]
    left: tuple[OnlyCounted, ...]
    explanations: Mapping[int, Explanation]
    losses: tuple[Loss, ...]
    lacked: tuple[str, ...]
    operations: tuple[ClientOperation, ...]
    asks: tuple[EndedOperation, ...]
    stretches: tuple[Stretch, ...]
    gaps: tuple[WriteGap, ...] = ()
    silences: tuple[SilentStretch, ...] = ()
    trees: TreesOverTime | None = None


def recording_of(
    queries: Queries, invariants: Invariants, only: str | None = None, pictures: TreeRecord | None = None
) -> Recording:
    """Return what a player says of a lab's run up to now; ValueError without a trace.  No tree record, no pages."""
    parts = queries.parts
    if not parts.trace.enabled:
        raise ValueError("play: expected a lab that keeps a trace, got one with trace=False")
    run = RecordedRun(parts.trace, cast("RecoveryLedger", FinishedLedger(parts.ledger)), queries)
    every = with_requests(with_causes(run, messages_of(run)), () if pictures is None else pictures.requests.rows)
    facts = _facts(run, every, pictures)
    happenings, left, explanations = _events(invariants, facts)
    losses, hosts = _losses(run, invariants), hosts_of(queries, every)
    interesting = of_interest(every, happenings, [loss.write for loss in losses], ground_of(hosts), only)
    if only is None:
        interesting = sorted({*interesting, *(row for _, gap in facts.gaps for row in gap.way)})
    return Recording(
        end_ns=parts.now,
        seed=parts.seed,
        sites=tuple(queries.blueprint.sites),
        hosts=hosts,
        clusters=_clusters(run),
        links=links_of(queries),
        spans=tuple(facts.spans),
        nodes=tuple(_spans(run)[1]),
        lines=tuple(facts.lines),
        messages=tuple(thinned(every, interesting)),
        total=len(every),
        interesting=tuple(interesting),
        happenings=happenings,
        left=left,
        explanations=explanations,
        losses=losses,
        lacked=tuple(losses_in_words(run.ledger)),
        operations=tuple(client_operations(run)),
        asks=tuple(operators_operations(run)),
        stretches=tuple(_stretches(parts.now, every, interesting, happenings)),
        gaps=tuple([gap for _, gap in facts.gaps]),
        silences=tuple(_silences(run, facts.spans)),
        trees=facts.trees,
    )


def _clusters(run: RecordedRun) -> dict[str, tuple[str, ...]]:
    return {plan.name: plan.node_names for plan in run.queries.blueprint.clusters}


def _spans(run: RecordedRun) -> tuple[list[Span], list[Span]]:
    """Return what clusters were and what nodes were; a run of no length shows how it began."""
    return spans_of(run.queries.parts.trace, _clusters(run), max(run.queries.now, 1))


def _silences(run: RecordedRun, spans: Sequence[Span]) -> Iterator[SilentStretch]:
    """Yield when secondaries heard nothing, cluster by cluster."""
    for name, times in heard_by(run.queries.parts.trace, _clusters(run)).items():
        yield from silences_of(name, spans, times)


def _facts(run: RecordedRun, messages: Sequence[Carried], pictures: TreeRecord | None) -> RunFacts:
    """Return what events are derived from; without a tree record nothing of trees."""
    queries, commits, trees = run.queries, run.ledger.histories.commits, None
    replaced: list[ReplacedEntries] = []
    if pictures is not None:
        trees = trees_over_time(pictures, commits, queries.now)
        replaced = replaced_entries(pictures, run.ledger.promotions, commits)
    return RunFacts(
        run=run,
        gaps=write_gaps(run),
        moves=client_moves(messages, queries.blueprint.clients),
        spans=_spans(run)[0],
        lines=line_spans(run.rows, queries.parts.network.topology, queries.now),
        trees=trees,
        replaced=replaced,
    )


def _events(
    invariants: Invariants, facts: RunFacts
) -> tuple[tuple[RunEvent, ...], tuple[OnlyCounted, ...], dict[int, Explanation]]:
    """Return what happened, in order, what is only counted, and what led to the first thousand of them, by row."""
    recorded, left = happenings_of(facts.run.rows, _clusters(facts.run))
    derived, more_left = derived_events(facts)
    effects = {one.event.row: one.effect for one in derived if one.effect is not None}
    events = sorted([*recorded, *(one.event for one in derived)], key=lambda one: (one.at_ns, one.row < 0, one.row))
    explanations: dict[int, Explanation] = {}
    for one in events[:MAX_EXPLAINED]:
        effect = effects.get(one.row)
        found = _explained(facts.run, invariants, one.row) if effect is None else explain_effect(facts.run, effect)
        if found is not None:
            explanations[one.row] = _of_all(facts.run, one, found)
    return tuple(events), (*left, *more_left), explanations


def _of_all(run: RecordedRun, event: RunEvent, found: Explanation) -> Explanation:
    """Return what led to an event: of a fault that hit several nodes, the first step names the others too."""
    others = event.hosts[1:]
    if event.kind not in (FAULT, UNDOING) or not others or not set(event.hosts) <= set(run.nodes):
        return found
    first, *rest = found.steps
    return found._replace(steps=(first._replace(sentence=f"{first.sentence}; {joined(others)} with it"), *rest))


def _stretches(
    end_ns: int, messages: list[Carried], interesting: list[int], happenings: Iterable[RunEvent]
) -> list[Stretch]:
    by_row = {message.row: message for message in messages}
    flights = [(by_row[row].sent_ns, by_row[row].gone_ns) for row in interesting]
    return pace(end_ns, flights, [one.at_ns for one in happenings if one.kind in WEIGHTY])


def stretches_of(*recordings: Recording) -> list[Stretch]:
    """Return the stretches of runs that are on screen together: as long as the slower of them needs."""
    flights, instants = [], []
    for one in recordings:
        by_row = {message.row: message for message in one.messages}
        flights += [(by_row[row].sent_ns, by_row[row].gone_ns) for row in one.interesting]
        instants += [happening.at_ns for happening in one.happenings if happening.kind in WEIGHTY]
    return pace(max(one.end_ns for one in recordings), flights, instants)


def _losses(run: RecordedRun, invariants: Invariants) -> tuple[Loss, ...]:
    """Return the lost writes, the first acknowledged first, each with the first promotion that lost it."""
    taken_last_first = run.ledger.promotions[::-1]
    taken_of = {write: taken for taken in taken_last_first for write in run.ledger.lost(taken)}
    found = []
    for number, write in enumerate(run.ledger.lost()):
        taken = taken_of[write]
        if number >= MAX_LOST_SHOWN:
            found.append(Loss(write, taken.at_ns))
            continue
        push = push_of(run, write, taken.survivor)
        way = (*way_of(run, write), *([] if push is None else [push]))
        found.append(Loss(write, taken.at_ns, way, _explained(run, invariants, write)))
    return tuple(found)


def _explained(run: RecordedRun, invariants: Invariants, event: int | Write) -> Explanation | None:
    try:
        return explain(run, invariants, event)
    except ValueError:  # such as a step that ended: the trace has nothing to say of it
        return None
