"""Catching up: a secondary whose path to its primary is sound comes level with it (R18): what has to happen at last.

1. A path is sound when nothing is treated: both clusters' nodes are up, unsealed, in time and not paused, no line is
   cut, slower or lossy, nobody is in the middle, nothing is damaged or reindexed, and the primary knows the
   secondary's certificate.  The clock of the rule begins when the path is sound, and again whenever it was not.
2. Owed is what the primary had when the path was last looked at.  It is paid when the secondary streams and has reached
   it; at rest their roots are equal too.
3. Patience is with what stands still, not with what is slow: as long as entries arrive, keys are fetched, or bytes are
   on the line, its time begins again, so no load breaks the rule.  It lasts for the longest pause between two attempts,
   and as long as all contents take over this line several times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import CATCHING_UP
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.queries import STREAMING
from labkit.lab.wire.reports import (
    Corrupted,
    ModeChanged,
    NodeTreated,
    OvertakenWrote,
    ReachChanged,
    ServiceChanged,
    UpstreamFollowed,
)
from labkit.service.durations import SECOND_NS
from labkit.sim.topology import NoRouteError, Path
from labkit.vault.replication.trust.activation import AUTHORITY, held_bundle, issued, version_numbers
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record

PATIENCE_NS = 180 * SECOND_NS
"""Silence until a connection counts as lost, and the longest pause before the next attempt, twice over."""

TRIPS, CROSSINGS = 100, 4
MAX_TRIP_NS, MAX_LOSS_PPM, MIN_BANDWIDTH_BPS = 5 * SECOND_NS, 50_000, 64_000
"""Lines that are longer, lossier or narrower are not judged."""

MAX_CLOCK_ERROR_NS = SECOND_NS

Seen = tuple[Any, ...]


class Owed(NamedTuple):
    """What was seen of a secondary: since when it stands there, what it owes (None: it is level), how far it is."""

    since_ns: int
    entry: int | None
    seen: Seen


class CatchingUp(StandingRule):
    """What each secondary owes whose path to its primary is sound."""

    __slots__ = ("_overtaken", "_owed")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._owed: dict[str, Owed] = {name: Owed(*row) for name, row in state.get("owed", ())}
        self._overtaken: set[str] = set(state.get("overtaken", ()))

    @property
    def judgements(self) -> Judgements:
        """What may begin or end a sound path; time passes between these, and is judged at rest."""
        of_one, of_any = (ServiceChanged, ModeChanged, Corrupted, UpstreamFollowed), (ReachChanged, NodeTreated)
        return {
            **dict.fromkeys(of_one, self.look_near),
            **dict.fromkeys(of_any, lambda report: self._look(self._scene.queries.upstreams)),
            OvertakenWrote: lambda report: self._overtaken.add(report.cluster),
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {
            **super().state(),
            "owed": tuple([(name, tuple(row)) for name, row in self._owed.items()]),
            "overtaken": tuple(sorted(self._overtaken)),
        }

    def check_at_rest(self) -> None:
        """The lab stands still: judge every secondary, its root too."""
        self._look(self._scene.queries.upstreams, at_rest=True)

    def look_near(self, report: Any) -> None:
        """Look at the secondary that a report names, and at those that follow it: no other path can have changed."""
        queries, cluster = self._scene.queries, report.cluster
        near = dict.fromkeys([cluster] if cluster in queries.upstreams else ())
        self._look(near | dict.fromkeys(queries.followers.get(cluster, ())))

    def _look(self, secondaries: Collection[str], *, at_rest: bool = False) -> None:
        if not secondaries:
            return
        queries = self._scene.queries
        disturbed = self._is_disturbed()
        ordered = sorted(secondaries, key=queries.place_of) if len(secondaries) > 1 else secondaries
        for cluster in ordered:
            upstream = queries.upstream_of(cluster)
            path = self._sound_path(cluster, upstream) if upstream and not disturbed else None
            if path is None:
                self._owed.pop(cluster, None)
            else:
                self._judge(cluster, upstream, path, at_rest=at_rest)

    def _judge(self, cluster: str, upstream: str, path: Path, *, at_rest: bool) -> None:
        queries = self._scene.queries
        nodes = queries.parts.nodes
        leader, sync = nodes[queries.active_node(upstream)], nodes[queries.active_node(cluster)].sync
        assert sync is not None, "a sound path has a secondary at its end"
        entry, position = leader.journal.last, sync.position
        # Roots are folded where all entries are there only: under load that is work for nothing.
        roots = at_rest and position == entry and queries.root(upstream) != queries.root(cluster)
        seen: Seen = (upstream, position, sync.work.progress, len(sync.work.pages))
        reached = position if sync.state == STREAMING and position is not None and not roots else -1
        before, level = self._owed.get(cluster), reached == entry
        if before is not None and before.entry is not None and (level or reached >= before.entry):
            self.judged += 1
            before = None
        if level or before is None or before.entry is None or before.seen != seen or self._is_busy(upstream, cluster):
            self._owed[cluster] = Owed(queries.now, None if level else entry, seen)
            return
        idle_ns = queries.now - before.since_ns
        if idle_ns > PATIENCE_NS and idle_ns > self._patience_ns(upstream, path):
            what = (
                "its roots differ"
                if position == entry
                else f"it is {queries.lag(upstream, cluster).text}, {sync.state}, {sync.connection_state}"
            )
            text = f"{cluster} stands still for {idle_ns // SECOND_NS} s behind {upstream} on a sound path: {what}"
            self._scene.found(CATCHING_UP, text)

    def _is_busy(self, upstream: str, cluster: str) -> bool:
        """Whether bytes are on the line between two clusters."""
        queries = self._scene.queries
        sites = queries.site_of(upstream), queries.site_of(cluster)
        free_ns = queries.parts.network.free_ns
        return max(free_ns(*sites), free_ns(*reversed(sites))) > queries.now

    def _patience_ns(self, upstream: str, path: Path) -> int:
        """Return how long a secondary may stand still on a line, by its length, its bandwidth and all contents."""
        sizes = sum(map(len, self._scene.queries.parts.stores[upstream].values.values()))
        bandwidth = path.bandwidth_bps
        crossing_ns = 8 * sizes * SECOND_NS // bandwidth if bandwidth else 0
        return PATIENCE_NS + TRIPS * path.typical_ns + CROSSINGS * crossing_ns

    # ---- whether a path is sound

    def _is_disturbed(self) -> bool:
        """Whether any line of the lab is treated."""
        parts = self._scene.queries.parts
        return bool(parts.network.impaired()) or any(row.flaps for row in parts.flapping.values())

    def _sound_path(self, cluster: str, upstream: str) -> Path | None:
        """Return the path from a primary to its secondary when nothing at its ends is in its way, else None."""
        queries, parts = self._scene.queries, self._scene.queries.parts
        if {cluster, upstream} & (self._scene.corrupted.keys() | self._overtaken):
            return None
        names = [*queries.nodes_of(cluster), *queries.nodes_of(upstream)]
        if not all(self._is_sound(name) for name in names):
            return None
        leader, follower = queries.active_node(upstream), queries.active_node(cluster)
        if not leader or not follower or not self._are_joined(parts.nodes[leader], parts.nodes[follower]):
            return None
        try:
            path = parts.network.topology.route(queries.site_of(upstream), queries.site_of(cluster))
        except NoRouteError:
            return None
        narrow = path.bandwidth_bps is not None and path.bandwidth_bps < MIN_BANDWIDTH_BPS
        return None if narrow or path.loss_ppm > MAX_LOSS_PPM or path.typical_ns > MAX_TRIP_NS else path

    def _is_sound(self, name: str) -> bool:
        """Whether a node is up, unsealed, not paused, not overloaded, in time, and itself."""
        queries = self._scene.queries
        node, impostor = queries.parts.nodes[name], queries.parts.impostors.get(name)
        present = queries.is_running(name) and not queries.is_paused(name) and not node.vault.sealed
        itself = impostor is None or not impostor.present
        return present and itself and not queries.waiting(name) and abs(node.clock.error_ns) <= MAX_CLOCK_ERROR_NS

    def _are_joined(self, leader: NodeHost, follower: NodeHost) -> bool:
        """Whether two nodes lead a primary and a secondary of it whose certificate, address and version will do."""
        above, below, sync = leader.mode, follower.mode, follower.sync
        if (above.mode, below.mode) != ("primary", "secondary") or above.cluster_id != below.cluster_id or sync is None:
            return False
        if leader.journal.rebuild is not None or follower.journal.rebuild is not None or sync.damaged:
            return False
        if not any(name in (follower.link.upstream.hosts or ()) for name in leader.plan.cluster.node_names):
            return False
        if version_numbers(leader.plan.version) > version_numbers(follower.plan.version):
            return False
        bundle, authority = held_bundle(follower.core), leader.store.get(AUTHORITY)
        if bundle is None or authority is None or bundle.secondary_id != below.secondary_id:
            return False
        try:
            record = issued(leader.core, below.secondary_id)
            anchor = decode_record(leader.core.keys.decrypt(AUTHORITY, authority))[1]
        except BarrierError:
            return False
        return record is not None and (record.certificate, anchor) == (bundle.certificate, bundle.authority)
