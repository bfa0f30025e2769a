"""Recording: everything that a player says of a run, from its trace and ledger; nothing is asked of a node.

1. The same records give the same recording.  Times are those of the trace.
2. What is left out is counted: messages of a run with too many, and what was observed too often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

from labkit.lab.causes.explanation import Explanation
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.why import explain
from labkit.lab.measures.state_spans import Span, spans_of
from labkit.lab.measures.trees_over_time import TreesOverTime, trees_over_time
from labkit.lab.records.ledger import EndedOperation, Write
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.views.player.carried_messages import Carried, messages_of, thinned, with_causes
from labkit.views.player.finished_ledger import FinishedLedger
from labkit.views.player.happenings import WEIGHTY, OnlyCounted, RunEvent, happenings_of
from labkit.views.player.interest import Ground, of_interest
from labkit.views.player.line_conditions import LineSpan, line_spans
from labkit.views.player.pace import Stretch, pace

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.measures.tree_record import TreeRecord
    from labkit.lab.queries import Queries
    from labkit.lab.records.loss_and_outage import RecoveryLedger

NODE, CLIENT, OPERATOR, CLOUD, BALANCER, OTHER = "node", "client", "operator", "cloud", "balancer", "other"
MAX_EXPLAINED = 1_000
MAX_LOST_SHOWN = 200


class RecordedHost(NamedTuple):
    """A host that sends or gets messages: its name, what it is, its site, and of a node its cluster."""

    name: str
    kind: str
    site: str
    cluster: str = ""


class Loss(NamedTuple):
    """An acknowledged write that is lost: what it is, and when a promotion lost it."""

    write: Write
    promoted_ns: int


class Recording(NamedTuple):
    """What a run was: its places, its messages, what happened and why, and what clients were answered.

    ``before`` counts operations whose instants are not kept any more; ``total`` counts all messages.
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
    loss_explanations: tuple[Explanation | None, ...]
    operations: tuple[EndedOperation, ...]
    before: Mapping[str, int]
    stretches: tuple[Stretch, ...]
    trees: TreesOverTime | None = None


def recording_of(
    queries: Queries, invariants: Invariants, only: str | None = None, pictures: TreeRecord | None = None
) -> Recording:
    """Return what a player says of a lab's run up to now; ValueError without a trace.  No tree record, no pages."""
    parts = queries.parts
    if not parts.trace.enabled:
        raise ValueError("play: expected a lab that keeps a trace, got one with trace=False")
    run = RecordedRun(parts.trace, cast("RecoveryLedger", FinishedLedger(parts.ledger)), queries)
    clusters = {plan.name: plan.node_names for plan in queries.blueprint.clusters}
    bars, nodes = spans_of(parts.trace, clusters, parts.now)
    every = with_causes(run, messages_of(run))
    hosts = _hosts(queries, every)
    happenings, left = happenings_of(run.rows, clusters)
    losses = _losses(run)
    interesting = of_interest(every, happenings, [loss.write for loss in losses], _ground(hosts), only)
    operations = tuple(parts.ledger.operations)
    return Recording(
        end_ns=parts.now,
        seed=parts.seed,
        sites=tuple(queries.blueprint.sites),
        hosts=hosts,
        clusters=clusters,
        links=_links(queries),
        spans=tuple(bars),
        nodes=tuple(nodes),
        lines=tuple(line_spans(run.rows, parts.network.topology, parts.now)),
        messages=tuple(thinned(every, interesting)),
        total=len(every),
        interesting=tuple(interesting),
        happenings=tuple(happenings),
        left=tuple(left),
        explanations=_explanations(run, invariants, happenings),
        losses=losses,
        loss_explanations=tuple([_explained(run, invariants, loss.write) for loss in losses[:MAX_LOST_SHOWN]]),
        operations=operations,
        before=_before(run, operations),
        stretches=tuple(_stretches(parts.now, every, interesting, happenings)),
        trees=None if pictures is None else trees_over_time(pictures, parts.ledger.histories.commits, parts.now),
    )


def _ground(hosts: Iterable[RecordedHost]) -> Ground:
    return Ground({host.name: host.site for host in hosts}, {host.name: host.cluster for host in hosts if host.cluster})


def _stretches(
    end_ns: int, messages: list[Carried], interesting: list[int], happenings: list[RunEvent]
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


def _hosts(queries: Queries, messages: list[Carried]) -> tuple[RecordedHost, ...]:
    """Return the hosts there are, in the order of the blueprint, and any other that sent or got something."""
    blueprint, network = queries.blueprint, queries.parts.network
    known = [RecordedHost(node, NODE, plan.site, plan.name) for plan in blueprint.clusters for node in plan.node_names]
    known += [RecordedHost(name, CLIENT, group.site) for group in blueprint.clients for name in group.names]
    known += [RecordedHost(plan.name, BALANCER, plan.site) for plan in blueprint.balancers]
    found = {host.name: host for host in known}
    operators = {plan.operator_host for plan in blueprint.clusters}
    for name in sorted({end for message in messages for end in (message.source, message.target)} - set(found)):
        kind = OPERATOR if name in operators else CLOUD if name == CLOUD_HOST else OTHER
        found[name] = RecordedHost(name, kind, network.site_of(name))
    return tuple(found.values())


def _links(queries: Queries) -> tuple[tuple[str, str, str], ...]:
    """Return the lines between sites, each with its latency in words."""
    topology = queries.parts.network.topology
    return tuple([(*link.between, f"{link.typical_ns / 1_000_000:g} ms") for link in topology.links])


def _losses(run: RecordedRun) -> tuple[Loss, ...]:
    """Return the lost writes, the first acknowledged first, each with the first promotion that lost it."""
    taken_last_first = run.ledger.promotions[::-1]
    promotions = {write: taken.at_ns for taken in taken_last_first for write in run.ledger.lost(taken)}
    return tuple([Loss(write, promotions[write]) for write in run.ledger.lost()])


def _before(run: RecordedRun, operations: tuple[EndedOperation, ...]) -> dict[str, int]:
    """Count by outcome the operations whose instants the ledger does not keep any more."""
    ledger = run.ledger
    counts = {"answered": ledger.answered, "refused": ledger.refused, "unknown": ledger.in_doubt}
    for operation in operations:
        counts[operation.outcome] -= 1
    return counts


def _explanations(run: RecordedRun, invariants: Invariants, happenings: list[RunEvent]) -> dict[int, Explanation]:
    """Return what led to each of the happenings, by row: to the first thousand."""
    found = ((one.row, _explained(run, invariants, one.row)) for one in happenings[:MAX_EXPLAINED])
    return {row: explanation for row, explanation in found if explanation is not None}


def _explained(run: RecordedRun, invariants: Invariants, event: int | Write) -> Explanation | None:
    try:
        return explain(run, invariants, event)
    except ValueError:  # such as a step that ended: the trace has nothing to say of it
        return None
