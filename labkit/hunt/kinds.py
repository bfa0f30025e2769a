"""Kinds: what a schedule may consist of, in one table, and how a fault of each kind is drawn.

1. A *mandatory* kind is in every schedule, for nothing happens without it; a *suppressor* undoes what others did, and
   keeps what they would break from breaking; all others are *optional*.
2. A kind that aims at a timeout is in force for less than that in half of the cases, and for longer in the others:
   a cut that ends before anybody gives up shows only that messages wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from labkit.hunt.draws import Draws
from labkit.lab.fault_table import LAYERS, NAMED
from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.vault.storage.interruption import MOMENTS

MANDATORY, OPTIONAL, SUPPRESSOR, REQUEST = "mandatory", "optional", "suppressor", "request"
NODE_UP, LEADER, TWO_SITES, CLOUD = "a node that is up", "a cluster that is open", "two sites", "a cloud in the file"
TWO_CLUSTERS, OWN_SITES = "two clusters", "a site for each cluster"
"""What a kind needs, or a block of an operator."""

CONNECTION_NS, LEASE_NS = 15 * SECOND_NS, 3 * SECOND_NS
"""The timeouts that faults aim at: a connection of replication that is silent, the lease of a leader."""

Arguments = dict[str, Any]


class Names(NamedTuple):
    """What a fault may be aimed at: clusters, the nodes and the site of each, and pairs of sites."""

    clusters: tuple[str, ...]
    nodes: Mapping[str, tuple[str, ...]]
    sites: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...]

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """All nodes, in the order of their clusters."""
        return tuple([node for nodes in self.nodes.values() for node in nodes])


class Kind(NamedTuple):
    """One kind: its verb, its class, what it needs, the timeout it aims at (0: none), and how its arguments are drawn.

    ``least_ns`` is the shortest time that it is in force.
    """

    name: str
    verb: str
    group: str
    needs: tuple[str, ...] = ()
    aims_at_ns: int = 0
    least_ns: int = 0
    draw: Callable[[Draws, Names], Arguments] | None = None

    @property
    def undo(self) -> str:
        """The verb that undoes it; empty for what stays."""
        fault = next((fault for fault in NAMED.values() if fault.verb == self.verb), None)
        return fault.undone_by.replace(" ", "-") if fault is not None else {"seal": "unseal"}.get(self.verb, "")

    def time_in_force_ns(self, draws: Draws) -> int:
        """Draw how long it is in force: of a kind that aims at a timeout, in half of the cases longer than that."""
        if not self.aims_at_ns:
            return draws.between(self.least_ns // MILLISECOND_NS + 500, 12_000) * MILLISECOND_NS
        percent = draws.between(120, 220) if draws.chance(50) else draws.between(10, 90)
        return max(self.least_ns, self.aims_at_ns // 100 * percent)


def _node(draws: Draws, names: Names) -> Arguments:
    return {"target": draws.one_of(names.all_nodes)}


def _cluster(draws: Draws, names: Names) -> Arguments:
    return {"target": draws.one_of(names.clusters)}


def _line(draws: Draws, names: Names) -> Arguments:
    return {"between": list(draws.one_of(names.pairs))}


def _way(draws: Draws, names: Names) -> Arguments:
    one, other = draws.one_of(names.pairs)
    return {"from": one, "to": other} if draws.chance(50) else {"from": other, "to": one}


def _flap(draws: Draws, names: Names) -> Arguments:
    return {**_line(draws, names), "down": draws.one_of(("200ms", "2s", "20s")), "up": draws.one_of(("300ms", "3s"))}


def _commit(draws: Draws, names: Names) -> Arguments:
    return {**_cluster(draws, names), "moment": draws.one_of(MOMENTS)}


def _damage(draws: Draws, names: Names) -> Arguments:
    return {"cluster": draws.one_of(names.clusters), "layer": draws.one_of(LAYERS)}


def _with(key: str, *values: Any, on: Callable[[Draws, Names], Arguments] = _line) -> Callable[..., Arguments]:
    """Return what draws a target, and one of some values beside it."""
    return lambda draws, names: {**on(draws, names), key: draws.one_of(values)}


def _nothing(draws: Draws, names: Names) -> Arguments:
    return {}


KINDS: tuple[Kind, ...] = (
    Kind("clients", "", MANDATORY),
    Kind("replicate", "replicate", MANDATORY, (LEADER,)),
    Kind("crash of a node", "crash", OPTIONAL, (NODE_UP,), LEASE_NS, draw=_node),
    Kind("crash of a cluster", "crash", OPTIONAL, (NODE_UP,), CONNECTION_NS, draw=_cluster),
    Kind("crash in a commit", "crash-in-commit", OPTIONAL, (LEADER,), LEASE_NS, draw=_commit),
    Kind("pause", "pause", OPTIONAL, (NODE_UP,), LEASE_NS, draw=_node),
    Kind("skew", "skew", OPTIONAL, draw=_with("by", "90s", "-90s", "1h", "-5s", on=_node)),
    Kind("impersonate", "impersonate", OPTIONAL, (TWO_SITES,), CONNECTION_NS, draw=_node),
    Kind("partition", "partition", OPTIONAL, (TWO_SITES,), CONNECTION_NS, draw=_line),
    Kind("cut", "cut", OPTIONAL, (TWO_SITES,), CONNECTION_NS, draw=_way),
    Kind("isolate", "isolate", OPTIONAL, (TWO_SITES,), CONNECTION_NS, draw=_cluster),
    Kind("flap", "flap", OPTIONAL, (TWO_SITES,), CONNECTION_NS, 2 * SECOND_NS, draw=_flap),
    Kind("slow", "slow", OPTIONAL, (TWO_SITES,), draw=_with("factor", 3, 10, 50)),
    Kind("lose", "lose", OPTIONAL, (TWO_SITES,), draw=_with("loss", "5%", "20%", "50%")),
    Kind("duplicate", "duplicate", OPTIONAL, (TWO_SITES,), draw=_with("share", "20%", "80%")),
    Kind("corrupt", "corrupt", OPTIONAL, (LEADER,), draw=_damage),
    Kind(
        "seal",
        "seal",
        OPTIONAL,
        (LEADER,),
        LEASE_NS,
        draw=lambda draws, names: {"cluster": draws.one_of(names.clusters)},
    ),
    Kind("cloud outage", "cloud-outage", OPTIONAL, (CLOUD,), draw=_nothing),
    Kind(
        "slow cloud", "cloud-slow", OPTIONAL, (CLOUD,), draw=lambda draws, names: {"delay": draws.one_of(("2s", "15s"))}
    ),
    Kind("new signing keys", "roll-keys", OPTIONAL, (CLOUD,), draw=_nothing),
    *(
        Kind(verb, verb, SUPPRESSOR)
        for verb in ("restart", "resume", "correct", "expose", "heal", "steady", "restore", "unseal", "cloud-recover")
    ),
    Kind("cloud-restore", "cloud-restore", SUPPRESSOR, (CLOUD,)),
    *(
        Kind(name, "ask", REQUEST, (LEADER,))
        for name in ("cas", "wrapping", "lease", "wrong token", "spent token", "deleted metadata", "policy", "rotation")
    ),
)

NOT_DRAWN = frozenset({"stray-write", "crash-site", "restart-site"})
"""Not drawn: a fault that breaks a rule by itself, and a site's loss, which is drawn as that of its cluster."""


def kinds_of(group: str, lacks: Collection[str] = ()) -> tuple[Kind, ...]:
    """Return the kinds of a class that need nothing of what a lab lacks."""
    return tuple([kind for kind in KINDS if kind.group == group and not set(kind.needs) & set(lacks)])
