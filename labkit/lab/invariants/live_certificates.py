"""Live certificates: who replicates with whom, held against what was issued and revoked (R18, decision D5).

1. A primary's node answers as a primary only to a node, not to a host that took a node's place.  The primary knows the
   id that this node names.  The node's cluster was activated with that id since the primary was promoted last.
2. Activations are known from what clusters reported that they follow.  Revocations and promotions end them.  What a
   connection shows is not asked.
3. A secondary takes replication only from nodes of the cluster that it was activated for: from them, or through a load
   balancer that passes its connection on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import LIVE_CERTIFICATES
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import REVOKED, ModeChanged, Observed, SecondaryServed, UpstreamFollowed, UpstreamHeard
from labkit.vault.replication.trust.activation import known_key

ANY = ""
"""Stands for an upstream that was followed at an address that names no node."""


class Grant(NamedTuple):
    """An activation: of which cluster, for which primary and id."""

    cluster: str
    upstream: str
    secondary_id: str


class LiveCertificates(StandingRule):
    """Every activation that was ever followed, by what stands for its credentials, and which of them ended."""

    __slots__ = ("_ended", "_grants", "_modes", "_of_cluster")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._grants: dict[str, Grant] = {}
        self._of_cluster: dict[str, dict[str, Grant]] = {}  # the same, by cluster: each question is judged by these
        for name, row in state.get("grants", ()):
            self._keep(name, Grant(*row))
        self._ended: set[str] = set(state.get("ended", ()))
        self._modes: dict[str, str] = dict(state.get("modes", ()))

    @property
    def judgements(self) -> Judgements:
        """Who is served and heard; what begins and ends activations."""
        return {
            SecondaryServed: self.on_served,
            UpstreamHeard: self.on_heard,
            UpstreamFollowed: self.on_followed,
            ModeChanged: self.on_mode_changed,
            Observed: self.on_observed,
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {
            **super().state(),
            "grants": tuple([(name, tuple(row)) for name, row in self._grants.items()]),
            "ended": tuple(sorted(self._ended)),
            "modes": tuple(self._modes.items()),
        }

    def on_followed(self, report: UpstreamFollowed) -> None:
        """A secondary follows with credentials: they count for the first upstream that they are used for."""
        if report.secondary_id and report.activation and report.activation not in self._grants:
            self._keep(report.activation, Grant(report.cluster, report.upstream or ANY, report.secondary_id))

    def on_mode_changed(self, report: ModeChanged) -> None:
        """A cluster that becomes primary has a new authority: what it issued before ends."""
        before, self._modes[report.cluster] = self._modes.get(report.cluster), report.mode
        if report.mode == "primary" != before:
            self._end(lambda grant: grant.upstream == report.cluster)

    def on_observed(self, report: Observed) -> None:
        """An id may have been revoked."""
        if report.kind == REVOKED:
            primary, revoked = self._scene.queries.cluster_of(report.node), dict(report.fields)["secondary"]
            self._end(lambda grant: (grant.upstream, grant.secondary_id) == (primary, revoked))

    def on_served(self, report: SecondaryServed) -> None:
        """Judge a primary that answered somebody as one of its secondaries."""
        primary, host, secondary_id, what = report
        self.judged += 1
        queries = self._scene.queries
        if host not in queries.parts.nodes:
            self._found(f"{primary} answered {what} to {host}, which belongs to no cluster")
        elif queries.parts.stores[primary].get(known_key(secondary_id)) is None:
            self._found(f"{primary} answered {what} to {host} as {secondary_id}, which is revoked or was never issued")
        elif what != "bootstrap" and not self._holds(queries.cluster_of(host), (primary, ANY), secondary_id):
            self._found(f"{primary} answered {what} to {host} as {secondary_id}, for which it has no live activation")

    def on_heard(self, report: UpstreamHeard) -> None:
        """Judge a secondary that took replication from somebody."""
        cluster, host = report
        source, own = self._cluster_at(host, cluster), self._of_cluster.get(cluster, {})
        if not any(source and row.upstream in (source, ANY) for row in own.values()):
            self._found(f"{cluster} took replication from {host}, for which it was never activated")

    def _cluster_at(self, host: str, secondary: str) -> str:
        """Return the cluster whose messages come from a host, or to this secondary through it; empty for none."""
        queries = self._scene.queries
        balancer = queries.parts.balancers.get(host)
        node = host if balancer is None else balancer.connected.get(queries.active_node(secondary), "")
        return queries.cluster_of(node) if node in queries.parts.nodes else ""

    def _holds(self, cluster: str, upstreams: tuple[str, ...], secondary_id: str) -> bool:
        """Whether a cluster has an activation of an id that did not end."""
        for name, grant in self._of_cluster.get(cluster, {}).items():  # a loop: each heartbeat is judged
            if grant.secondary_id == secondary_id and grant.upstream in upstreams and name not in self._ended:
                return True
        return False

    def _keep(self, name: str, grant: Grant) -> None:
        self._grants[name] = grant
        self._of_cluster.setdefault(grant.cluster, {})[name] = grant

    def _end(self, which: Any) -> None:
        self._ended.update(name for name, grant in self._grants.items() if which(grant))

    def _found(self, detail: str) -> None:
        self._scene.found(LIVE_CERTIFICATES, detail)
