"""The model of an election: the nodes of a cluster, the lease in their store, and the store's fencing.

Nodes look at the lease whenever they come to it, as nodes that are paused do; each leading one may commit at any
moment under the term that it believes in.  Time passes in seconds, and only as far as the lease is concerned.

What must hold in every state:

1. A term is taken by one node only, and each is higher than all before.
2. Once a term is taken, no commit under an earlier one is accepted.
3. No step raises, whatever is stored in place of the lease.
4. A node takes no lease that another holds whose time is not over, and renews none but its own, under its own term.

What must be possible in every state, without any further fault: a node holds the lease, leads, and may commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from labkit.lab.nodes.election import KEY, RENEWED, TAKEN, Lease, read_lease, resign
from labkit.proof.planted_bugs import SOUND, PlantedBug
from labkit.service.durations import SECOND_NS
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.records import encode_record
from labkit.vault.storage.unfenced import UnfencedStorage

NODES = ("one", "two", "three", "four")
DAMAGED = b"\x00"
WRITE = "core/written"

STANDS, ABSTAINS, COMMITS, PASSES = "stands", "abstains", "commits", "passes"
RESIGNS, RESTARTS, DAMAGES = "resigns", "restarts", "damages"
FAULTS = frozenset({RESIGNS, RESTARTS, DAMAGES})


class ElectionBounds(NamedTuple):
    """How many nodes, how many terms are taken, and how often a node resigns or restarts, or the lease is damaged."""

    nodes: int = 3
    terms: int = 3
    resignations: int = 1
    restarts: int = 1
    damages: int = 1
    fenced: bool = True

    def __str__(self) -> str:
        counts = f"{self.nodes} nodes, {self.terms} terms, {self.resignations} resignations, {self.restarts} restarts"
        return f"{counts}, {self.damages} times a damaged lease; {'fenced' if self.fenced else 'without fencing'}"


class Candidates(NamedTuple):
    """One state: the lease (None: never held; text: damaged), for how many seconds it is, the newest term claimed.

    ``beliefs``: the term under which each node leads, 0 when it does not.  ``takers``: who took which term.
    """

    lease: tuple[str, int, int] | str | None = None
    newest: int = 0
    beliefs: tuple[int, ...] = ()
    takers: tuple[tuple[int, str], ...] = ()
    left: tuple[int, int, int] = (0, 0, 0)
    broken: str = ""


class Happening(NamedTuple):
    """One event: what happens, and to which node."""

    kind: str
    node: str = ""


class Election:
    """The model, within bounds."""

    def __init__(self, bounds: ElectionBounds, bug: PlantedBug = SOUND) -> None:
        self.bounds, self._stand = bounds, bug.stand
        self.nodes = NODES[: bounds.nodes]
        self._storage = MemoryStorage if bounds.fenced else UnfencedStorage

    def start(self) -> Candidates:
        """Return the state in which no node ever led."""
        bounds = self.bounds
        left = bounds.resignations, bounds.restarts, bounds.damages
        return Candidates(beliefs=(0,) * bounds.nodes, left=left)

    def successors(self, cluster: Candidates) -> list[tuple[Happening, Candidates]]:
        """Return everything that can happen next."""
        if cluster.broken:
            return []
        found = [self._tried(cluster, event) for event in self._events(cluster)]
        return [(event, following) for event, following in found if following != cluster]

    def broken(self, cluster: Candidates) -> str:
        """Return which property a state breaks."""
        return cluster.broken

    def is_fault(self, event: Happening) -> bool:
        """Whether an event counts against the bounds."""
        return event.kind in FAULTS

    def is_goal(self, cluster: Candidates) -> bool:
        """Whether a node leads and may commit; or all terms of the bounds are taken."""
        lease = cluster.lease
        if len(cluster.takers) >= self.bounds.terms:
            return True
        if not isinstance(lease, tuple):
            return False
        holder, term, seconds = lease
        held = seconds > 0 and holder in self.nodes
        return held and cluster.beliefs[self.nodes.index(holder)] == cluster.newest == term

    def _events(self, cluster: Candidates) -> Iterator[Happening]:
        for node, belief in zip(self.nodes, cluster.beliefs, strict=True):
            if len(cluster.takers) < self.bounds.terms:
                yield Happening(STANDS, node)
            yield Happening(ABSTAINS, node)
            if belief:
                yield Happening(COMMITS, node)
                if cluster.left[0]:
                    yield Happening(RESIGNS, node)
                if cluster.left[1]:
                    yield Happening(RESTARTS, node)
        if cluster.left[2]:
            yield Happening(DAMAGES)
        yield Happening(PASSES)

    def _tried(self, cluster: Candidates, event: Happening) -> tuple[Happening, Candidates]:
        try:
            return event, self._after(cluster, event)
        except Exception as error:
            return event, cluster._replace(broken=f"a step raised {type(error).__name__}: {error}")

    def _after(self, cluster: Candidates, event: Happening) -> Candidates:
        store = self._store(cluster)
        if event.kind == PASSES:
            return _later(cluster)
        if event.kind == DAMAGES:
            return cluster._replace(lease="damaged", left=_spent(cluster.left, 2))
        place = self.nodes.index(event.node)
        belief = cluster.beliefs[place]
        if event.kind == COMMITS:
            return self._committed(cluster, store, place)
        if event.kind == RESTARTS:
            return _believing(cluster, place, 0)._replace(left=_spent(cluster.left, 1))
        if event.kind == RESIGNS:
            resign(store, event.node, belief, 0)
            left = _spent(cluster.left, 0)
            return _believing(self._read(cluster, store), place, 0)._replace(left=left)
        result, lease = self._stand(store, event.node, belief, 0, event.kind == STANDS)
        after = self._read(cluster, store)
        why = _against_the_lease(cluster.lease, Happening(result, event.node), belief)
        if why:
            return after._replace(broken=why)
        if result == TAKEN:
            return _taken(after, lease, place)
        leads = (lease.holder, lease.term) == (event.node, belief)
        return _believing(after, place, belief if leads else 0)

    def _committed(self, cluster: Candidates, store: MemoryStorage, place: int) -> Candidates:
        """Return the state after a commit: accepted under the newest term only, else the node steps down."""
        belief = cluster.beliefs[place]
        try:
            store.apply({WRITE: b"x"}, belief)
        except StaleTerm:
            return _believing(cluster, place, 0)
        newest = max(term for term, _ in cluster.takers)
        if belief < newest:
            why = f"a commit of node {self.nodes[place]} under term {belief} is accepted, and term {newest} is taken"
            return cluster._replace(broken=why)
        return cluster

    def _store(self, cluster: Candidates) -> MemoryStorage:
        lease = cluster.lease
        if lease is None:
            return self._storage({}, cluster.newest)
        if isinstance(lease, str):
            return self._storage({KEY: DAMAGED}, cluster.newest)
        holder, term, seconds = lease
        return self._storage({KEY: encode_record([holder, term, seconds * SECOND_NS])}, cluster.newest)

    def _read(self, cluster: Candidates, store: MemoryStorage) -> Candidates:
        newest: int = store.state()["term"]
        try:
            lease = read_lease(store)
        except ValueError:
            return cluster._replace(newest=newest)
        found = None if lease is None else (lease.holder, lease.term, lease.until_ns // SECOND_NS)
        return cluster._replace(lease=found, newest=newest)


def _against_the_lease(lease: tuple[str, int, int] | str | None, done: Happening, belief: int) -> str:
    """Return what is wrong with taking or renewing the lease that is stored; empty where it may be done."""
    if not isinstance(lease, tuple):
        return ""
    holder, term, seconds = lease
    if done.kind == TAKEN and holder and seconds > 0 and (holder, term) != (done.node, belief):
        return f"node {done.node} takes the lease that node {holder} holds for {seconds} s more"
    if done.kind == RENEWED and (holder, term) != (done.node, belief):
        return f"node {done.node} renews the lease that node {holder or 'nobody'} holds under term {term}"
    return ""


def _later(cluster: Candidates) -> Candidates:
    if not isinstance(cluster.lease, tuple):
        return cluster
    holder, term, seconds = cluster.lease
    return cluster._replace(lease=(holder, term, max(0, seconds - 1)))


def _taken(cluster: Candidates, lease: Lease, place: int) -> Candidates:
    """Return the state after a term was taken."""
    after = _believing(cluster, place, lease.term)
    highest = max((term for term, _ in cluster.takers), default=0)
    if lease.term <= highest:
        why = f"node {lease.holder} takes term {lease.term}, and term {highest} was taken before"
        return after._replace(broken=why)
    return after._replace(takers=(*cluster.takers, (lease.term, lease.holder)))


def _believing(cluster: Candidates, place: int, term: int) -> Candidates:
    beliefs = cluster.beliefs
    return cluster._replace(beliefs=(*beliefs[:place], term, *beliefs[place + 1 :]))


def _spent(left: tuple[int, int, int], place: int) -> tuple[int, int, int]:
    resignations, restarts, damages = (count - (number == place) for number, count in enumerate(left))
    return resignations, restarts, damages


def described(event: Happening) -> str:
    """Return an event in a sentence."""
    return {
        STANDS: f"Node {event.node} looks at the lease.",
        ABSTAINS: f"Node {event.node} looks at the lease, and would not take it.",
        COMMITS: f"Node {event.node} commits under the term in which it believes to lead.",
        PASSES: "A second passes.",
        RESIGNS: f"Node {event.node} gives its lease up.",
        RESTARTS: f"Node {event.node} restarts.",
        DAMAGES: "What is stored of the lease is damaged.",
    }[event.kind]
