"""Recorded hosts: who sends and gets messages in a run, what each is, and the lines between their sites."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from labkit.lab.queries import Queries
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.views.player.recorded.carried_messages import Carried
from labkit.views.player.recorded.interest import Ground

NODE, CLIENT, OPERATOR, CLOUD, BALANCER, OTHER = "node", "client", "operator", "cloud", "balancer", "other"


class RecordedHost(NamedTuple):
    """A host that sends or gets messages: its name, what it is, its site, of a node its cluster.

    ``timeout_ns`` is how long a client waits for an answer; 0 for any other.
    """

    name: str
    kind: str
    site: str
    cluster: str = ""
    timeout_ns: int = 0


def hosts_of(queries: Queries, messages: Iterable[Carried]) -> tuple[RecordedHost, ...]:
    """Return the hosts there are, in the order of the blueprint, and any other that sent or got something."""
    blueprint, network = queries.blueprint, queries.parts.network
    known = [RecordedHost(node, NODE, plan.site, plan.name) for plan in blueprint.clusters for node in plan.node_names]
    for group in blueprint.clients:
        known += [RecordedHost(name, CLIENT, group.site, timeout_ns=group.timeout_ns) for name in group.names]
    known += [RecordedHost(plan.name, BALANCER, plan.site) for plan in blueprint.balancers]
    found = {host.name: host for host in known}
    operators = {plan.operator_host for plan in blueprint.clusters}
    for name in sorted({end for message in messages for end in (message.source, message.target)} - set(found)):
        kind = OPERATOR if name in operators else CLOUD if name == CLOUD_HOST else OTHER
        found[name] = RecordedHost(name, kind, network.site_of(name))
    return tuple(found.values())


def links_of(queries: Queries) -> tuple[tuple[str, str, str], ...]:
    """Return the lines between sites, each with its latency in words."""
    topology = queries.parts.network.topology
    return tuple([(*link.between, f"{link.typical_ns / 1_000_000:g} ms") for link in topology.links])


def ground_of(hosts: Iterable[RecordedHost]) -> Ground:
    """Return which hosts belong together."""
    return Ground({host.name: host.site for host in hosts}, {host.name: host.cluster for host in hosts if host.cluster})
