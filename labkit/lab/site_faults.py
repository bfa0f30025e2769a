"""Site faults: a whole site goes down with all that stands there, and comes up again.

1. Down go nodes, load balancers, the cloud and clients.  What a client had under way ends in doubt where it may have
   happened: nobody is left to take the answer.  An impostor there is gone for good: an operator starts none again.
2. A client that comes up has forgotten its tokens and what it saw, and works on at its rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.parts import Parts
from labkit.lab.wire.reports import ReachChanged
from labkit.lab.wire.turns import EachInTurn
from labkit.sim.network_faults import Faults


class SiteFaults(EachInTurn):
    """The faults of a lab that take a site down and up."""

    __slots__ = ()

    _parts: Parts
    _network_faults: Faults
    _emit: Callable[[Any], None]
    _site: Callable[[str, Any], str]
    crash: Callable[[str], None]
    expose: Callable[[str], None]
    restart: Callable[[str], None]

    def crash_site(self, target: str) -> None:
        """Take a site down with all that stands there: nodes, load balancers, the cloud, and clients.

        An impostor there is gone, and does not come back with the site.
        """
        site, parts = self._site("target", target), self._parts
        self._record("crash site", site, up=True)
        for cluster in self._clusters_at(site):
            for node in self._impersonated(cluster):
                self.expose(node)
            self.crash(cluster)
        for name in self._others_at(site):
            if self._network_faults.crash(name):
                if name in parts.clients:
                    parts.clients[name].go_down()
                if name in parts.balancers:
                    parts.balancers[name].go_down()
        self._emit(ReachChanged(parts.now))

    def restart_site(self, target: str) -> None:
        """Start all that stands at a site again; nodes start sealed, clients remember nothing."""
        site, parts = self._site("target", target), self._parts
        self._record("restart site", site, up=False)
        for cluster in self._clusters_at(site):
            self.restart(cluster)
        for name in self._others_at(site):
            if self._network_faults.restart(name) and name in parts.clients:
                parts.clients[name].come_up()
        self._emit(ReachChanged(parts.now))

    def _record(self, verb: str, site: str, *, up: bool) -> None:
        """Trace what happens to a site, before what happens to its hosts; ``up``: as those are that it changes."""
        network = self._parts.network
        nodes = [node for plan in self._parts.blueprint.clusters if plan.site == site for node in plan.node_names]
        changes = any(network.up(name) == up for name in (*nodes, *self._others_at(site)))
        self._parts.trace.record(("fault", self._parts.now, verb, site, "" if changes else "no change"))

    def _clusters_at(self, site: str) -> list[str]:
        return [plan.name for plan in self._parts.blueprint.clusters if plan.site == site]

    def _impersonated(self, cluster: str) -> list[str]:
        """Return the nodes of a cluster that an impostor is in front of."""
        impostors = self._parts.impostors
        names = self._parts.blueprint.cluster(cluster).node_names
        return [name for name in names if name in impostors and impostors[name].present]

    def _others_at(self, site: str) -> list[str]:
        """Return the hosts of a site, its nodes left out."""
        parts = self._parts
        names = (*parts.balancers, *parts.clouds, *parts.clients)
        return [name for name in names if parts.network.site_of(name) == site]
