"""Faults: what goes wrong in a lab, in pairs with what puts it right; a target is a cluster, a node or a site.

A public method has a row in the table of faults.  Its docstring, up to the first empty line, is what all help says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from labkit.cloud.cloud_service import CloudService
from labkit.cloud.failures import ENDPOINTS
from labkit.lab.damage import damage
from labkit.lab.fault_meters import (
    CLOUD_DOWN,
    CLOUD_FAST,
    CLOUD_SLOW,
    CLOUD_UP,
    COMMIT,
    IMPOSTOR,
    KEYS,
    PAUSED,
    WRONG_CLOCK,
    FaultMeters,
)
from labkit.lab.fault_table import LAYERS, MAX_FACTOR, MIN_FLAP_NS
from labkit.lab.flapping import FlappingLines
from labkit.lab.nodes.election import RESTARTED_APART_NS
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.parts import Parts
from labkit.lab.queries import Queries
from labkit.lab.site_faults import SiteFaults
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.lab.wire.reports import Corrupted, NodeTreated, ReachChanged
from labkit.lab.wire.turns import Turns
from labkit.service.arguments import drift_ppm, duration_ns, flag, offset_ns, one_of, text, whole_number, wrong
from labkit.service.arguments import percent as checked_percent
from labkit.service.durations import format_duration
from labkit.sim.latency import Latency
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.interruption import BETWEEN, MOMENTS, CommitInterruptedError, CommitInterruption

MILLION = 1_000_000
STRAY = "logical/stray"

Result = TypeVar("Result")


class LabFaults(SiteFaults):
    """The faults of one lab: each takes effect at once, and is reported."""

    __slots__ = ("_emit", "_network_faults", "_parts", "flapping_lines", "meters", "queries")

    def __init__(self, parts: Parts, queries: Queries, emit: Callable[[Any], None]) -> None:
        self._parts, self.queries, self._emit = parts, queries, emit
        self._network_faults, self.meters = parts.network_faults, FaultMeters(parts)
        self.flapping_lines = FlappingLines(parts.flapping, parts.network_faults, parts.clock, emit)

    @property
    def _turns(self) -> Turns:
        return self._parts.turns

    @property
    def cloud(self) -> CloudService:
        """The cloud, which comes to the site of the first cluster where no blueprint names one."""
        parts = self._parts
        host = parts.clouds.get(CLOUD_HOST) or parts.add_cloud(parts.blueprint.clusters[0].site)
        return host.cloud

    def cloud_outage(self, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, answer nothing; the cloud comes to the lab with its first verb.

        The endpoints are discovery, keys, token, compute, directory and machine.
        """
        endpoints = _named(endpoint)  # judged before a cloud comes
        self.cloud.outage(*endpoints)
        self._cloud_changes(CLOUD_UP, CLOUD_DOWN, endpoints)

    def cloud_recover(self, endpoint: str | None = None) -> None:
        """End an outage of the cloud, at one endpoint or at all of them."""
        endpoints = _named(endpoint)  # judged before a cloud comes
        self.cloud.recover(*endpoints)
        self._cloud_changes(CLOUD_DOWN, CLOUD_UP, endpoints)

    def cloud_slow(self, delay: str, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, take so long for each answer."""
        duration_ns("delay", delay)
        endpoints = _named(endpoint)
        self.cloud.slow(delay, *endpoints)
        self._cloud_changes(CLOUD_FAST, CLOUD_SLOW, endpoints)

    def cloud_restore(self, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, answer at once again."""
        endpoints = _named(endpoint)  # judged before a cloud comes
        self.cloud.restore(*endpoints)
        self._cloud_changes(CLOUD_SLOW, CLOUD_FAST, endpoints)

    def roll_keys(self) -> None:
        """Let the cloud sign tokens with its next key, which is published already."""
        self.cloud.roll_keys()
        self._cloud_changes("", KEYS, ())

    def crash(self, target: str) -> None:
        """Take a node, or all nodes of a cluster, down; their memory is lost."""
        nodes = [self._parts.nodes[node] for node in self._nodes(target)]
        for node in nodes:
            if self._network_faults.crash(node.name):
                self.meters.end(PAUSED, (node.name,))
                node.crash()
                self._parts.processes[node.name].crash()
                self._parts.connect(node.name)
        self._emit(ReachChanged(self._parts.now))

    def crash_in_commit(self, target: str, moment: str = BETWEEN) -> None:
        """Let the active node of a cluster go down inside its next commit of two keys or more.

        ``moment``: ``before`` its keys, ``between`` two of them, or ``after`` them.  ``restart`` takes it back.
        """
        moment = one_of("moment", "a moment of a commit", moment, MOMENTS)
        nodes = self._nodes(target)
        node = self._parts.nodes[self.queries.active_node(self._parts.nodes[nodes[0]].cluster) or nodes[0]]
        if node.name not in nodes or not node.active:
            leads = self.queries.active_node(node.cluster) or "none of its nodes"
            raise ValueError(f"crash in commit: expected a node that commits, but {leads} leads {node.cluster}")
        self.meters.begin(COMMIT, (node.cluster,))
        self._parts.stores[node.cluster].interrupt(CommitInterruption(node.name, node.leadership.term, moment))
        self._emit(NodeTreated(self._parts.now, "crash in commit", node.name, True, f"{moment} its keys"))

    def end_inside_commit(self, ended: CommitInterruptedError) -> None:
        """A node's process has ended inside a commit: report what the store has of it, and whom it left, and crash."""
        node = self._parts.nodes[ended.node]
        self.meters.meet(COMMIT, node.cluster)
        node.commits.end_inside(ended)
        if MODE_KEY in ended.kept:
            node.link.end_inside()
        self.crash(ended.node)

    def restart(self, target: str) -> None:
        """Start a node, or all nodes of a cluster, again; they start sealed."""
        for number, node in enumerate(self._nodes(target)):
            cluster = self._parts.nodes[node].cluster
            if self._parts.stores[cluster].spare(node):
                self.meters.end(COMMIT, (cluster,))
                self.meters.change()
            if self._network_faults.restart(node):
                self._parts.nodes[node].boot((number + 1) * RESTARTED_APART_NS)
        self._emit(ReachChanged(self._parts.now))

    def pause(self, target: str) -> None:
        """Stop the process of a node, or of all nodes of a cluster: its timers, its lease and its messages wait."""
        nodes = self._running("pause", target)
        self.meters.begin(PAUSED, [node for node in nodes if not self._parts.processes[node].paused])
        for node in nodes:
            changed = self._parts.processes[node].pause()
            self._parts.connect(node)
            self._treated("pause", node, changed)

    def resume(self, target: str) -> None:
        """Let paused processes go on: each takes what waits for it and acts on what it believed."""
        for node in self._running("resume", target):
            process = self._parts.processes[node]
            self.meters.end(PAUSED, (node,))
            self._treated("resume", node, process.paused)
            try:
                process.resume()
            except CommitInterruptedError as ended:
                self.end_inside_commit(ended)
            self._parts.connect(node)
        self._emit(ReachChanged(self._parts.now))

    def skew(self, target: str, by: str | None = None, drift: float = 0) -> None:
        """Make the wall clock of a node, or of all nodes of a cluster, wrong, and let it drift from then on.

        It is ahead by a duration, or behind (``-90s``), and drifts by a number of percent, forward or (below 0) back.
        It replaces an earlier skew.
        """
        error_ns, ppm = 0 if by is None else offset_ns("by", by), drift_ppm("drift", drift)
        nodes = self._nodes(target)
        self.meters.end(WRONG_CLOCK, nodes)
        for node in nodes:
            self._set_clock("skew", node, error_ns, ppm)
        self.meters.begin(WRONG_CLOCK, nodes)

    def correct(self, target: str) -> None:
        """Set the wall clock of a node, or of all nodes of a cluster, right again."""
        self.meters.end(WRONG_CLOCK, self._nodes(target))
        for node in self._nodes(target):
            self._set_clock("correct", node, 0, 0)

    def impersonate(self, target: str) -> None:
        """Put an impostor, who has none of its keys, in a node's place for every other site.

        For a cluster, in the place of each of its nodes.
        """
        nodes, impostors = self._nodes(target), self._parts.impostors
        self.meters.begin(IMPOSTOR, [node for node in nodes if node not in impostors or not impostors[node].present])
        for node in nodes:
            impostor = self._parts.impostors.get(node)
            changed = impostor is None or not impostor.present
            if impostor is None:
                self._parts.add_impostor(node)
            else:
                impostor.present = True
            self._parts.connect(node)
            self._treated("impersonate", node, changed)

    def expose(self, target: str) -> None:
        """Take the impostor of a node, or of all nodes of a cluster, out of the middle."""
        for node in self._nodes(target):
            impostor = self._parts.impostors.get(node)
            changed = impostor is not None and impostor.present
            self.meters.end(IMPOSTOR, (node,))
            if impostor is not None:
                impostor.present = False
            self._parts.connect(node)
            self._treated("expose", node, changed)

    def partition(self, a: str, b: str) -> None:
        """Cut the line between two sites in both directions.

        A cluster stands for its site.
        """
        self._network_faults.partition(*self._two_sites(("a", a), ("b", b)))
        self._emit(ReachChanged(self._parts.now))

    def cut(self, source: str, target: str) -> None:
        """Cut the line from one site to another in one direction."""
        self._network_faults.cut(*self._two_sites(("source", source), ("target", target)))
        self._emit(ReachChanged(self._parts.now))

    def isolate(self, target: str) -> None:
        """Cut all lines of a site."""
        self._network_faults.isolate(self._site("target", target))
        self._emit(ReachChanged(self._parts.now))

    def heal(self, a: str | None = None, b: str | None = None) -> None:
        """Undo partition, cut and isolate: between two sites, around one, or everywhere."""
        self._network_faults.heal(*self._around(a, b))
        self._emit(ReachChanged(self._parts.now))

    def slow(
        self, a: str, b: str, *, latency: str | None = None, factor: int | None = None, one_way: bool = False
    ) -> None:
        """Give the line between two sites another latency, or multiply its latency.

        ``latency`` is a duration.  ``one_way`` means only messages from the first to the second.
        """
        sites = self._site("a", a), self._site("b", b)
        if (latency is None) == (factor is None):
            raise ValueError(f"slow: expected latency= or factor=, got {'neither' if latency is None else 'both'}")
        if factor is not None:
            whole_number("factor", f"a whole number from 2 to {MAX_FACTOR}", factor, 2, MAX_FACTOR)
        shape = None if latency is None else Latency.constant(duration_ns("latency", latency))
        self._network_faults.slow(*sites, latency=shape, factor=factor, one_way=flag("one_way", one_way))

    def lose(self, a: str, b: str, percent: float) -> None:
        """Lose a share of the messages between two sites; each lost one is sent again, later, unless it is a datagram.

        Datagrams are heartbeats that go aside, and announcements.
        """
        sites = self._site("a", a), self._site("b", b)
        self._network_faults.lose(*sites, round(checked_percent("percent", percent) * MILLION / 100))

    def duplicate(self, a: str, b: str, percent: float) -> None:
        """Deliver a share of the datagrams between two sites twice: heartbeats that go aside, and announcements."""
        sites = self._site("a", a), self._site("b", b)
        self._network_faults.duplicate(*sites, round(checked_percent("percent", percent) * MILLION / 100))

    def restore_links(self, a: str | None = None, b: str | None = None) -> None:
        """Undo slow, lose and duplicate: between two sites, around one, or everywhere."""
        self._network_faults.restore(*self._around(a, b))

    def flap(self, a: str, b: str, down: str, up: str) -> None:
        """Let the line between two sites go down and come up, again and again.

        It is up for a while, then down for a while, and so on, until ``steady``.  What other faults cut stays cut.
        """
        sites = self._two_sites(("a", a), ("b", b))
        down_ns, up_ns = (duration_ns(name, value) for name, value in (("down", down), ("up", up)))
        for name, value, ns in (("down", down, down_ns), ("up", up, up_ns)):
            if ns < MIN_FLAP_NS:
                raise wrong(name, f"a duration from {format_duration(MIN_FLAP_NS)} up such as 2s", value)
        first, second = sorted(sites)
        self.meters.begin_flapping((first, second))
        self._trace("flap", (first, second), f"{format_duration(down_ns)} down, {format_duration(up_ns)} up")
        self.flapping_lines.begin((first, second), down_ns, up_ns)

    def steady(self, a: str | None = None, b: str | None = None) -> None:
        """End flap, between two sites, around one, or everywhere: lines are up that no other fault cuts."""
        for pair in self.flapping_lines.among({site for site in self._around(a, b) if site is not None}):
            self._trace("steady", pair, "")
            self.meters.end_flapping(pair)
            self.flapping_lines.end(pair)

    def corrupt(self, cluster: str, layer: str = "subpage", key: str | None = None) -> None:
        """Alter one node of the Merkle tree that a cluster's active node keeps, or one stored value.

        The index is folded and stored first, and what was altered is stored: another active node finds it so (D7).
        Layer ``storage`` means a stored value.  Without a key it is the index's first, or the last value of a secret.
        """
        layer = one_of("layer", "a layer", layer, LAYERS)
        key = None if key is None else text("key", "a storage key, or None", key)
        node = self._active_node(cluster, "whose index could be altered")
        where, digests, place = self._through(node, lambda: damage(self._parts, self.queries, node, layer, key))
        node.core.observe("corrupted", layer=layer, **where)
        rebuild = node.journal.rebuild
        altered = where.get("key", "")
        missed = rebuild is not None and rebuild.misses(altered)
        self.meters.change()
        self._emit(Corrupted(self._parts.now, node.cluster, layer, missed, altered, digests, place))

    def stray_write(self, cluster: str) -> None:
        """Let a cluster's active node store something that nobody asked for, as a faulty service would.

        It stands in the tree that is replicated; only a primary may write there (decision D20).
        """
        node = self._active_node(cluster, "that could write")
        core, stored = node.core, str(self._parts.now).encode()
        self._trace("stray write", (node.cluster,), STRAY)
        self._through(node, lambda: core.commit({STRAY: core.keys.encrypt(STRAY, stored, core.entropy)}))
        node.after_step()

    def _active_node(self, cluster: str, which: str) -> NodeHost:
        active = self.queries.active_node(self._parts.blueprint.cluster(cluster).name)
        if not active:
            raise ValueError(f"{cluster} has no active node {which}; unseal or restart one first")
        return self._parts.nodes[active]

    def _through(self, node: NodeHost, commit: Callable[[], Result]) -> Result:
        """Return what a commit gives; ValueError where the node ends inside it, or leads no more."""
        try:
            return commit()
        except CommitInterruptedError as ended:
            self.end_inside_commit(ended)
            raise ValueError(f"{node.name} went down inside a commit, as it was to; restart it first") from None
        except StaleTerm:
            where = f"{node.name} does not lead {node.cluster} any more"
            raise ValueError(f"{where}; let time pass until another does") from None

    def _cloud_changes(self, ended: str, begun: str, endpoints: tuple[str, ...]) -> None:
        """One thing that was done to endpoints of the cloud, or to all, ends another."""
        self.meters.end(ended, endpoints or ENDPOINTS)
        self.meters.begin(begun, endpoints or ENDPOINTS)

    def _treated(self, verb: str, node: str, changed: bool, words: str = "") -> None:
        self.meters.change(changed)
        self._emit(NodeTreated(self._parts.now, verb, node, changed, words))

    def _trace(self, verb: str, pair: tuple[str, ...], detail: str) -> None:
        self.meters.change()
        self._parts.trace.record(("fault", self._parts.now, verb, " <> ".join(pair), detail))

    def _nodes(self, target: Any) -> tuple[str, ...]:
        known = [name for plan in self._parts.blueprint.clusters for name in (plan.name, *plan.node_names)]
        return self.queries.nodes_of(one_of("target", "a cluster or a node", target, known))

    def _running(self, verb: str, target: Any) -> list[str]:
        """Return the nodes of a target that are up; ValueError when none is: no process is there to act on."""
        nodes = [node for node in self._nodes(target) if self.queries.is_running(node)]
        if not nodes:
            known = [node for node in self._parts.nodes if self.queries.is_running(node)]
            up = f"there are: {', '.join(known)}" if known else "there is none"
            raise ValueError(f"{verb}: expected a node that is up, but {target} is down; {up}; restart it first")
        return nodes

    def _set_clock(self, verb: str, node: str, error_ns: int, ppm: int) -> None:
        changed = self._parts.nodes[node].clock.set(error_ns, ppm)
        sign = "-" if error_ns < 0 else "+"
        drift = f", drift {ppm:+} ppm" if ppm else ""
        words = f"{sign}{format_duration(abs(error_ns))}{drift}" if verb == "skew" else ""
        self._treated(verb, node, changed, words)

    def _site(self, name: str, value: Any) -> str:
        blueprint = self._parts.blueprint
        known = dict.fromkeys((*[plan.name for plan in blueprint.clusters], *blueprint.sites))
        return self.queries.site_of(one_of(name, "a site or a cluster", value, known))

    def _two_sites(self, first: tuple[str, Any], second: tuple[str, Any]) -> tuple[str, str]:
        sites = self._site(*first), self._site(*second)
        if sites[0] == sites[1]:
            wanted = f"expected two different sites, but {first[1]} and {second[1]} both mean {sites[0]}"
            raise ValueError(f"{first[0]}, {second[0]}: {wanted}; crash its nodes instead")
        return sites

    def _around(self, a: Any, b: Any) -> list[str | None]:
        return [None if value is None else self._site(name, value) for name, value in (("a", a), ("b", b))]


def _named(endpoint: str | None) -> tuple[str, ...]:
    """Return the endpoints of the cloud that are meant; ValueError for any other name."""
    return () if endpoint is None else (one_of("endpoint", "an endpoint of the cloud", endpoint, ENDPOINTS),)
