"""Acts now: which verbs make sense in a lab as it is, and for whom; of the others, why not.

1. A verb without a row makes sense at any time.  What a verb is refused for is still judged when it is carried out.
2. A target that makes no sense is left out of the choices; a verb without any choice left is not offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from labkit.lab.queries import Queries
from labkit.views.contents.map_contents import ClusterMark, contents_of

PRIMARY, SECONDARY, DISABLED = "primary", "secondary", "disabled"
DOWN, PAUSED, SEALED = "down", "paused", "sealed"
NO_PRIMARY, NO_SECONDARY = "no cluster is a primary", "no cluster is a secondary"


class ActNow(NamedTuple):
    """Whether a verb makes sense now: why not, empty where it does; and of a parameter the choices that do."""

    why_not: str
    choices: dict[str, list[str]]


class _Seen(NamedTuple):
    """What rules are asked about: clusters and lines as they are."""

    clusters: tuple[ClusterMark, ...]
    queries: Queries

    def modes(self, *modes: str) -> list[str]:
        return [cluster.name for cluster in self.clusters if cluster.mode in modes]

    def led(self) -> list[str]:
        return [cluster.name for cluster in self.clusters if self.queries.active_node(cluster.name)]

    def targets(self, *states: str) -> list[str]:
        """Return the clusters that have a node in one of these states, and those nodes."""
        marks = [(cluster.name, [n.name for n in cluster.nodes if n.state in states]) for cluster in self.clusters]
        return [name for name, nodes in marks if nodes] + [node for _, nodes in marks for node in nodes]


_Rule = tuple[str, Callable[[_Seen], Iterable[str]], str]
"""A parameter, what gives the choices that make sense, and what is said where there is none."""

RUNNING = ("active", "standby", SEALED, PAUSED)
UP = ("active", "standby", SEALED)

RULES: dict[str, tuple[_Rule, ...]] = {
    "enable-primary": (("cluster", lambda seen: seen.modes(DISABLED), "every cluster replicates or has no leader"),),
    "enable-secondary": (("cluster", lambda seen: seen.modes(DISABLED), "every cluster replicates or has no leader"),),
    "replicate": (
        ("primary", lambda seen: seen.modes(DISABLED, PRIMARY), "no cluster can be a primary"),
        ("secondary", lambda seen: seen.modes(DISABLED), "every cluster replicates already or has no leader"),
    ),
    "promote": (("cluster", lambda seen: seen.modes(SECONDARY), NO_SECONDARY),),
    "demote": (("cluster", lambda seen: seen.modes(PRIMARY), NO_PRIMARY),),
    "repoint": (
        ("cluster", lambda seen: seen.modes(SECONDARY), NO_SECONDARY),
        ("to", lambda seen: seen.modes(PRIMARY), NO_PRIMARY),
    ),
    "failover": (
        ("old", lambda seen: seen.modes(PRIMARY), NO_PRIMARY),
        ("new", lambda seen: seen.modes(SECONDARY), NO_SECONDARY),
    ),
    "disable": (("cluster", lambda seen: seen.modes(PRIMARY, SECONDARY), "no cluster replicates"),),
    "reindex": (("cluster", lambda seen: seen.led(), "no cluster has a leader"),),
    "seal": (("cluster", lambda seen: seen.led(), "no cluster has a leader"),),
    "unseal": (
        (
            "cluster",
            lambda seen: [n for n in seen.targets(SEALED) if n in seen.queries.cluster_names],
            "none is sealed",
        ),
    ),
    "operation-token": (("cluster", lambda seen: seen.led(), "no cluster has a leader"),),
    "crash": (("target", lambda seen: seen.targets(*RUNNING), "every node is down"),),
    "restart": (("target", lambda seen: seen.targets(DOWN), "no node is down"),),
    "pause": (("target", lambda seen: seen.targets(*UP), "no node runs"),),
    "resume": (("target", lambda seen: seen.targets(PAUSED), "no node is paused"),),
    "correct": (("target", lambda seen: _with(seen, _is_skewed), "no clock is wrong"),),
    "expose": (("target", lambda seen: _with(seen, _is_impersonated), "no node has an impostor"),),
}


def acts_now(queries: Queries) -> dict[str, ActNow]:
    """Return for each verb that has a rule whether it makes sense; those without one always do."""
    clusters = tuple([cluster for site in contents_of(queries).sites for cluster in site.clusters])
    seen = _Seen(clusters, queries)
    found = {verb: _judged(rules, seen) for verb, rules in RULES.items()}
    network = queries.parts.network
    lines = [network.impairment(*pair) for pair in network.impaired()]
    for verb, is_wanted, why_not in (
        ("heal", any(line.cut for line in lines), "no line is cut"),
        (
            "restore",
            any(any(line._replace(cut=False, down=False, factor=line.factor - 1)) for line in lines),
            "no line is under a fault",
        ),
        ("steady", bool(queries.parts.flapping), "no line flaps"),
    ):
        found[verb] = ActNow("" if is_wanted else why_not, {})
    return found


def _judged(rules: tuple[_Rule, ...], seen: _Seen) -> ActNow:
    choices = {parameter: [*names(seen)] for parameter, names, _ in rules}
    missing = [why_not for parameter, _, why_not in rules if not choices[parameter]]
    return ActNow(missing[0] if missing else "", choices)


def _with(seen: _Seen, is_so: Callable[[Queries, str], bool]) -> list[str]:
    """Return the clusters that have such a node, and those nodes."""
    marks = [
        (cluster.name, [n.name for n in cluster.nodes if is_so(seen.queries, n.name)]) for cluster in seen.clusters
    ]
    return [name for name, nodes in marks if nodes] + [node for _, nodes in marks for node in nodes]


def _is_skewed(queries: Queries, node: str) -> bool:
    return bool(queries.parts.nodes[node].clock.error_ns)


def _is_impersonated(queries: Queries, node: str) -> bool:
    impostor = queries.parts.impostors.get(node)
    return impostor is not None and impostor.present
