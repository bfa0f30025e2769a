"""Clean up: after a split one history goes on, and what the other took by itself is written down."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.front.lab_cluster import LabCluster
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.two_primaries.split import PAIR, modes, pair_with_orders, takers
from labkit.lessons.worlds import KeptStart, mode_said

SETTLING = "20s"

Version = tuple[str, int]


class CleanUpSeen(NamedTuple):
    """What a branch showed after it settled: who takes writes, who follows whom, and how the list compares.

    ``wanted`` are the versions that are given up, ``own`` all that the loser acknowledged since the split: one that
    the winner was given too, with the same contents, may be listed and need not be.
    """

    takers: list[str]
    modes: dict[str, str]
    roots_equal: bool
    streams: bool
    same_set: bool
    listed: Any
    wanted: frozenset[Version]
    own: frozenset[Version]

    @property
    def is_named(self) -> bool:
        """Whether each entry of the list is a path and the number of a version."""
        entries = list(self.listed) if isinstance(self.listed, list | tuple | set) else [self.listed]
        return all(
            isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], int)
            for row in entries
        )

    @property
    def given(self) -> set[Version]:
        """The list, each path without what stands before it in requests."""
        return {(_short(path), number) for path, number in self.listed}

    @property
    def difference(self) -> str:
        """How many versions are missing from the list, and how many are too many."""
        missing, more = self.wanted - self.given, self.given - self.own
        return f"the list lacks {len(missing)} of {len(self.wanted)} versions, and has {len(more)} too many"


@KeptStart
def start() -> Lab:
    """Return a pair that is split, in which both clusters have taken orders."""
    lab = pair_with_orders(seed=62)
    lab.partition("paris", "tokyo")
    lab["tokyo"].promote()
    for cluster, number in (("paris", 4), ("tokyo", 5), ("paris", 2), ("tokyo", 2), ("tokyo", 3)):
        lab[cluster].post(f"secret/data/orders/{number}", {"data": {"item": f"wire of {cluster}"}})
    lab.run("5s")
    return lab


def versions_at(cluster: LabCluster) -> dict[Version, Any]:
    """Return every version of every order that a cluster holds."""
    found = {}
    listed = cluster.list("secret/metadata/orders")
    for name in listed.data["keys"] if listed.ok else ():
        for number in cluster.get(f"secret/metadata/orders/{name}").data["versions"]:
            answer = cluster.get(f"secret/data/orders/{name}?version={number}")
            found[f"orders/{name}", int(number)] = answer.data["data"]
    return found


def taken_alone(lab: Lab, loser: str, winner: str) -> list[Version]:
    """Return the versions that one cluster holds and the other does not."""
    kept = versions_at(lab[winner])
    return [version for version, data in versions_at(lab[loser]).items() if kept.get(version) != data]


def _short(path: str) -> str:
    return path.strip("/").removeprefix("secret/").removeprefix("data/").removeprefix("metadata/")


def winner_of(branch: Lab, begun: Lab, primary: str) -> str:
    """Return whose history went on: all that this cluster had alone at the start is held by the primary now."""
    held = versions_at(branch[primary])
    for name, other in (PAIR, PAIR[::-1]):
        had = versions_at(begun[name])
        if all(held.get(version) == had[version] for version in taken_alone(begun, name, other)):
            return name
    return primary


def acknowledged_by(branch: Lab, begun: Lab, cluster: str) -> dict[Version, bytes]:
    """Return the versions of orders that a cluster acknowledged in its own history since the split, with a digest."""
    split_ns = begun.trace.select("fault", verb="partition")[0].at_ns
    history = next(row.committed.history for row in reversed(begun.ledger.writes) if row.committed.cluster == cluster)
    return {
        (_short(write.path), write.committed.version): write.committed.value_digest
        for write in branch.ledger.writes
        if write.at_ns > split_ns
        and (write.committed.cluster, write.committed.history) == (cluster, history)
        and write.committed.version
        and write.path.startswith("secret/data/orders/")
    }


def look(branch: Lab, listed: Any) -> CleanUpSeen:
    """Let the branch settle, and compare the list with what the loser had alone."""
    branch.run(SETTLING)
    now = modes(branch)
    primary = next((name for name in PAIR if now[name] == "primary"), PAIR[1])
    follower = PAIR[1 - PAIR.index(primary)]
    begun = start()
    is_equal = branch[primary].root == branch[follower].root
    streams = (primary, follower) in branch.queries.streaming_pairs()  # asked before a write is on its way
    winner = winner_of(branch, begun, primary)
    kept = acknowledged_by(branch, begun, winner)
    own = acknowledged_by(branch, begun, PAIR[1 - PAIR.index(winner)])
    return CleanUpSeen(
        takers=takers(branch),
        modes=now,
        roots_equal=is_equal,
        streams=streams,
        same_set=branch.queries.accepts_for(primary) == begun.queries.accepts_for(primary),
        listed=listed,
        wanted=frozenset(version for version, digest in own.items() if kept.get(version) != digest),
        own=frozenset(own),
    )


def keep_tokyo(lab: Lab) -> tuple[Lab, list[Version]]:
    """Write down what paris took alone, then let it follow tokyo."""
    given_up = taken_alone(lab, "paris", "tokyo")
    lab.heal()
    lab["paris"].demote()
    lab.run("1s")
    lab["paris"].repoint("tokyo")
    return lab, given_up


def keep_paris(lab: Lab) -> tuple[Lab, list[Version]]:
    """Write down what tokyo took alone, then let it follow paris."""
    given_up = taken_alone(lab, "tokyo", "paris")
    lab.heal()
    lab["tokyo"].demote()
    lab.run("1s")
    lab["tokyo"].repoint("paris")
    return lab, given_up


def join_again(lab: Lab) -> tuple[Lab, list[Version]]:
    """Write down what paris took alone, then take it out of replication and let it join as if it were new."""
    given_up = taken_alone(lab, "paris", "tokyo")
    lab.heal()
    lab["paris"].disable()
    lab["paris"].enable_secondary("tokyo")
    return lab, given_up


def _list_only(lab: Lab) -> tuple[Lab, Any]:
    return lab, taken_alone(lab, "paris", "tokyo")


def _without_versions(lab: Lab) -> tuple[Lab, Any]:
    _, given_up = keep_tokyo(lab)
    return lab, [path for path, _ in given_up]


def _listed_after(lab: Lab) -> tuple[Lab, Any]:
    keep_tokyo(lab)
    lab.run("10s")
    return lab, []


def _listed_the_winner(lab: Lab) -> tuple[Lab, Any]:
    given_up = taken_alone(lab, "tokyo", "paris")
    keep_tokyo(lab)
    return lab, given_up


def _keys_only(lab: Lab) -> tuple[Lab, Any]:
    _, given_up = keep_tokyo(lab)
    return lab, [(path, number) for path, number in given_up if number == 1]


def _demoted_only(lab: Lab) -> tuple[Lab, Any]:
    given_up = taken_alone(lab, "paris", "tokyo")
    lab.heal()
    lab["paris"].demote()
    return lab, given_up


def _promoted_again(lab: Lab) -> tuple[Lab, Any]:
    _, given_up = keep_tokyo(lab)
    lab.run("10s")
    lab["paris"].promote()
    return lab, given_up


def _new_set(lab: Lab) -> tuple[Lab, Any]:
    given_up = taken_alone(lab, "paris", "tokyo")
    lab.heal()
    lab["tokyo"].disable()
    lab["tokyo"].enable_primary()
    lab["paris"].disable()
    lab["paris"].enable_secondary("tokyo")
    return lab, given_up


CLEAN_UP = Exercise(
    name="clean_up",
    title="Clean up after a split",
    goal="One history goes on and the other cluster follows it; you hand in the list of versions that only the cluster "
    "you gave up had taken, each as a path and a number such as ('orders/9', 1).",
    start=start,
    look=look,
    takes=("the lab", "the list of what was given up"),
    conditions=(
        Condition(
            name="one primary",
            holds=lambda seen: len(seen.takers) == 1,
            says=lambda seen: (
                f"{' and '.join(seen.takers) or 'no cluster'} took a write, {SETTLING} later in a copy of this lab"
            ),
            asks="Exactly one cluster has to take writes.",
            hints=(
                "Look in `lab.map()` at which clusters are primaries.",
                "Healing a line changes no mode: one of the two has to be stopped by you.",
                "`demote()` for the cluster whose history you give up",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="follows",
            holds=lambda seen: seen.streams and seen.roots_equal,
            says=lambda seen: (
                f"{' and '.join(f'{name} is {mode_said(seen.modes[name])}' for name in PAIR)}, and their roots are "
                + ("equal" if seen.roots_equal else "not equal")
            ),
            asks="The other cluster has to follow it, until both hold the same.",
            hints=(
                'Look at `lab["paris"].status()`: which primary does it know?',
                "A cluster that was demoted waits: it does not know whom to follow.",
                "`repoint(...)` gives it a primary, over a line that is healed",
            ),
        ),
        Condition(
            name="same set",
            holds=lambda seen: seen.same_set,
            says=lambda seen: "the primary belongs to another replication set than before the split",
            asks="The history that goes on has to be the one that the clusters shared.",
            hints=(
                "Look at the cluster_id in the status of the winner, before and after.",
                "A cluster that leaves replication and becomes a primary again begins another set.",
                "Leave the winner as it is: no `disable()` there",
            ),
        ),
        Condition(
            name="named",
            holds=lambda seen: seen.is_named,
            says=lambda seen: "the list has entries that are not a path and a number",
            asks="Each entry of the list has to name a path and a version.",
            hints=(
                "Read `secret/metadata/orders/2` at both clusters.",
                "One path can hold both histories under one number, so a path by itself names nothing.",
                '`[("orders/9", 1), …]`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="complete",
            holds=lambda seen: seen.wanted <= seen.given <= seen.own,
            says=lambda seen: seen.difference,
            asks="The list has to hold each version that only the cluster you gave up had taken, and no other.",
            hints=(
                "List `secret/metadata/orders` at both clusters of a new start, and read each version.",
                "One number may stand for two writes: same path, same version, other contents. After the repair both "
                "hold the same, so what was given up can only be read before.",
                'Compare `get("secret/data/orders/N?version=V")` of the two, before `repoint`',
            ),
        ),
    ),
    ways={"keep tokyo": keep_tokyo, "keep paris": keep_paris, "join as a new secondary": join_again},
    traps=(
        Trap(name="list, and leave both", act=_list_only, refused_by="one primary"),
        Trap(name="promote the loser again", act=_promoted_again, refused_by="one primary"),
        Trap(name="demote, and wait", act=_demoted_only, refused_by="follows"),
        Trap(name="the winner out of replication and in again", act=_new_set, refused_by="same set"),
        Trap(name="a list without versions", act=_without_versions, refused_by="named"),
        Trap(name="a list made after the repair", act=_listed_after, refused_by="complete"),
        Trap(name="the wrong cluster", act=_listed_the_winner, refused_by="complete"),
        Trap(name="new paths only", act=_keys_only, refused_by="complete"),
    ),
)
