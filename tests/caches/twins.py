"""Twins: two equal clusters that get the same requests, of which one forgets before each whatever is no state.

1. What a node keeps in memory beside its state must not show: after every request answers, observations, audit files,
   state and stored values of both are equal.  A difference is a memo that was used and did not hold any more, or one
   that changed something.
2. A cluster is two nodes on one store, so that the store is also written by another node than the one that is asked.
   Both clusters have one clock, which the test moves, and entropy from one seed.
3. The forgetful one drops its caches (``caches``), or is built again from state, store and files (``state``): then
   nothing is left, wherever it is kept.
4. ``copy`` gives twins that go on from the same point, both without memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from labkit import Vault
from labkit.front.keystore import KeyStore
from labkit.front.outside_lab import KeyStoreLink, ResetPoint, ShiftedClock, no_outside
from labkit.seeded import SeededEntropy
from labkit.service.message import Body, Fetch, Request, Response, Suspended, copied
from labkit.vault import password_hashing
from labkit.vault.core import Environment, Leadership, Settings
from labkit.vault.files import Files
from labkit.vault.sealing.initialise import DEV_MOUNTS, set_up
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage

START_NS = 1_893_456_000 * 1_000_000_000
CACHES, STATE = "caches", "state"
NODES = 2

Store = MemoryStorage | SqliteStorage
ANY_TERM = 1 << 62
RECENT = 12
MAX_SHOWN = 1_000


class Clock:
    """The clock of both clusters."""

    def __init__(self, now_ns: int = START_NS) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        return self.now_ns


class Cluster:
    """Nodes on one store, and what they reported."""

    def __init__(self, clock: Clock, seed: int, settings: Settings, store: Store) -> None:
        self.seen: list[Any] = []
        self.store, self.keystore = store, KeyStore.dev(seed=seed)
        self.nodes = [self._node(number, clock, seed, settings) for number in range(NODES)]

    def _node(self, number: int, clock: Clock, seed: int, settings: Settings) -> Vault:
        entropy = SeededEntropy(seed, "node", number)

        def observe(kind: str, **fields: Any) -> None:
            self.seen.append((number, kind, fields))

        node = Vault(
            self.store,
            Environment(ShiftedClock(clock), entropy, observe, no_outside),
            settings._replace(node=f"node-{number + 1}", api_address=f"http://n{number + 1}:8200"),
        )
        node._keystore = KeyStoreLink(lambda: self.keystore)
        return node

    def begin(self) -> None:
        """Set the cluster up: the first node leads, the second is an unsealed standby."""
        first, *others = self.nodes
        token, shares = set_up(first.core, mounts=DEV_MOUNTS)
        for node in self.nodes:
            node.root_token, node.unseal_keys = token, shares
            self.rebuild(node, node.state(), node.files)
        for node in others:
            node.unseal_with(shares[:3])
            node.set_leadership(Leadership(False, 0, 0, "http://n1:8200"))
        self._be_born()

    def _be_born(self) -> None:
        """Let ``reset`` lead back to this point."""
        self._born = [node.state() for node in self.nodes]
        if isinstance(self.store, MemoryStorage):
            self.nodes[0]._born = ResetPoint(self.store, self.nodes[0].environment, self._born[0])

    def reset(self) -> None:
        """Let the first node go back to where the cluster began, and the others with it."""
        first, *others = self.nodes
        first.reset()
        store = first.core.storage
        assert isinstance(store, MemoryStorage)
        self.store = store
        for node, state in zip(others, self._born[1:], strict=True):
            self.rebuild(node, state, Files())

    def look_again(self) -> None:
        """Let nodes find again what falls due, leases and accessors: of these they follow their own writes."""
        for node in self.nodes:
            node.core.apply_mode()

    def reopen(self) -> None:
        """Close the store's file and open it again; each node goes on with what it was."""
        if isinstance(self.store, SqliteStorage):
            self.store.close()
            self.store = SqliteStorage(self.store._path)
            for node in self.nodes:
                self.rebuild(node, node.state(), node.files)

    def rebuild(self, node: Vault, state: dict[str, Any] | None, files: Files) -> None:
        """Build a node again, of a state or as after a crash: sealed."""
        known = node.root_token, node.unseal_keys, node.calls
        node._build(self.store, node.core.settings, state, files)
        node.root_token, node.unseal_keys, node.calls = known
        node.core.on_step_down = lambda: node.set_leadership(Leadership(active=False))

    def save(self) -> dict[str, Any]:
        """All of it, as plain values."""
        assert isinstance(self.store, MemoryStorage)
        entropies: list[Any] = [node.environment.entropy for node in self.nodes]
        return {
            "store": self.store.state(),
            "keystore": self.keystore.state(),
            "nodes": [node.state() for node in self.nodes],
            "files": [node.files.state() for node in self.nodes],
            "drawn": [entropy.drawn() for entropy in entropies],
            "shifts": [node.now() for node in self.nodes],
            "born": (self.nodes[0]._born, self._born),
            "known": [(node.root_token, node.unseal_keys) for node in self.nodes],
        }

    def load(self, saved: Mapping[str, Any], now_ns: int) -> None:
        """Be what another cluster was when it was saved."""
        self.keystore = KeyStore(self.keystore._entropy, saved["keystore"])
        self.store = MemoryStorage.from_state(saved["store"])
        for number, node in enumerate(self.nodes):
            entropy: Any = node.environment.entropy
            entropy.rewind(*saved["drawn"][number])
            clock: Any = node.environment.now
            clock.shift_ns = saved["shifts"][number] - now_ns
            node.root_token, node.unseal_keys = saved["known"][number]
            self.rebuild(node, saved["nodes"][number], Files(saved["files"][number]))
        self.nodes[0]._born, self._born = saved["born"]


class Point(NamedTuple):
    """Where twins may go on from."""

    saved: dict[str, Any]
    now_ns: int
    facts: dict[str, Any]


class Twins:
    """Two equal clusters, the second one forgetful."""

    def __init__(
        self,
        seed: int = 7,
        forgets: str = STATE,
        settings: Settings | None = None,
        stores: Callable[[], Store] = MemoryStorage,
    ) -> None:
        self._made = (seed, forgets, settings or Settings(), stores)
        self.forgets = forgets
        self.clock = Clock()
        self.pair = [Cluster(self.clock, seed, self._made[2], stores()) for _ in range(2)]
        self.facts: dict[str, Any] = {}  # what the test knows of them: tokens by name, and whatever else it keeps
        self.requests = 0
        self.asked = 0  # the node that is asked
        self.held: list[tuple[int, Suspended]] = []  # requests that wait, and the nodes in which they do
        self.recent: deque[str] = deque(maxlen=RECENT)

    def begin(self) -> Twins:
        """Set both up."""
        self.both(Cluster.begin)
        self.facts["tokens"] = {"root": self.pair[0].nodes[0].root_token}
        return self

    def save(self) -> Point:
        """Where ``at`` may go on from."""
        facts = {name: copied(fact) if isinstance(fact, dict) else fact for name, fact in self.facts.items()}
        return Point(self.pair[0].save(), self.clock.now_ns, facts)

    def at(self, point: Point) -> Twins:
        """Return other twins that go on from a point, without any memory."""
        other = Twins(*self._made)
        other.clock.now_ns = point.now_ns
        for cluster in other.pair:
            cluster.load(point.saved, point.now_ns)
        other.facts = {name: copied(fact) if isinstance(fact, dict) else fact for name, fact in point.facts.items()}
        return other

    @property
    def node(self) -> Vault:
        """The node that is asked, of the twin that remembers: for looking at it only."""
        return self.pair[0].nodes[self.asked]

    @property
    def tokens(self) -> dict[str, str]:
        """The texts of tokens by name."""
        known: dict[str, str] = self.facts["tokens"]
        return known

    def send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **how: Any,
    ) -> Response:
        """Send a request to both, and return the answer that both gave; the root token's unless another is named.

        ``ticks=False``: without doing before what is due, as a node of a lab is asked; ``address``: the client's.
        """
        sent = dict(headers or {})
        text = self.tokens.get("root" if token is None else token, token)
        if text:
            sent.setdefault("X-Vault-Token", text)
        return self.ask(Request(method, path, sent, body, how.get("address", "127.0.0.1")), how.get("ticks", True))

    def ask(self, request: Request, ticks: bool = True) -> Response:
        """Send a request to both, and return the answer that both gave."""
        self.requests += 1
        shown = {name: self._name(text) for name, text in request.headers.items()}
        self.recent.append(f"{request.method} {request.path} {request.body} {shown} at {self.clock.now_ns - START_NS}")
        answers: list[Response] = []
        for number, cluster in enumerate(self.pair):
            node = self._next(number, cluster)
            answers.append(answered(node, fresh(request), ticks))
        self._compare("answers", *answers)
        self.compare()
        return answers[0]

    def begin_request(self, request: Request) -> None:
        """Send a request to both; where it waits for an answer from outside, it is held until ``go_on``."""
        outcome = self.each(lambda node: node.handle(fresh(request)), f"begin {request.method} {request.path}")
        if isinstance(outcome, Suspended):
            self.held.append((self.asked, outcome))

    def go_on(self) -> None:
        """Give the requests that are held their answers from outside, until all have ended."""
        while self.held:
            asked, outcome = self.held.pop(0)
            while isinstance(outcome, Suspended):
                waiting = outcome

                def resume(cluster: Cluster, waiting: Suspended = waiting, asked: int = asked) -> Any:
                    node = cluster.nodes[asked]
                    return node.resume(waiting, fetched(node, waiting.fetch))

                outcome = self.both(resume, f"go on with {waiting.request.method} {waiting.request.path}")

    def both(self, act: Callable[[Cluster], Any], named: str = "") -> Any:
        """Do something to both; what it returns must be equal, and is returned."""
        self.recent.append(named or getattr(act, "__name__", "?"))
        results = []
        for number, cluster in enumerate(self.pair):
            self._next(number, cluster)
            results.append(act(cluster))
        self._compare("results", *results)
        self.compare()
        return results[0]

    def each(self, act: Callable[[Vault], Any], named: str = "") -> Any:
        """Do something to the node that is asked, of both."""
        return self.both(lambda cluster: act(cluster.nodes[self.asked]), named or getattr(act, "__name__", "?"))

    def compare(self) -> None:
        """Compare all that may be seen of both."""
        one, two = self.pair
        if one.seen or two.seen:
            self._compare("observations", one.seen, two.seen)
            one.seen.clear()
            two.seen.clear()
        for first, second in zip(one.nodes, two.nodes, strict=True):
            self._compare("state", state_of(first), state_of(second))
            self._compare("files", first.files.lines, second.files.lines)
        self._compare("stored values", stored(one.store), stored(two.store))

    def compare_calls(self) -> None:
        """Compare what both kept of the requests that they answered."""
        for first, second in zip(*[cluster.nodes for cluster in self.pair], strict=True):
            self._compare("calls", list(first.calls), list(second.calls))

    def close(self) -> None:
        """Compare what both kept of their requests, and close their stores."""
        self.compare_calls()
        for cluster in self.pair:
            if isinstance(cluster.store, SqliteStorage):
                cluster.store.close()

    def _next(self, number: int, cluster: Cluster) -> Vault:
        """Return the node that is asked, after the forgetful twin's nodes forgot."""
        if number:
            for node in cluster.nodes:
                forget(node, self.forgets)
        return cluster.nodes[self.asked]

    def _name(self, text: str) -> str:
        return next((name for name, known in self.tokens.items() if known == text), text) if self.facts else text

    def _compare(self, what: str, one: Any, two: Any) -> None:
        if one != two:
            raise AssertionError(
                f"request {self.requests}: the {what} differ after:\n  "
                + "\n  ".join(self.recent)
                + f"\nwith memory:    {different(one, two)}\nwithout memory: {different(two, one)}"
            )


def fresh(request: Request) -> Request:
    """The same request, of which nothing is shared."""
    return request._replace(headers=dict(request.headers), body=copied(request.body))


def answered(node: Vault, request: Request, ticks: bool) -> Response:
    """Return a node's answer; what it fetches is answered at once."""
    if ticks:
        method, path, headers, body, address = request
        return node.request(method, path, body, headers, remote_address=address)
    outcome = node.handle(request)
    while isinstance(outcome, Suspended):
        outcome = node.resume(outcome, fetched(node, outcome.fetch))
    return outcome


def fetched(node: Vault, fetch: Fetch) -> Response:
    """Return what a node's fetch is answered; a password is hashed here."""
    return password_hashing.answer(fetch) if fetch.channel == password_hashing.CHANNEL else node._fetch(fetch)


def forget(node: Vault, what: str) -> None:
    """Let a node forget its caches, or all that is not in its state."""
    if what == CACHES:
        node.core.caches.clear()
        return
    core, known = node.core, (node.root_token, node.unseal_keys, node.calls)
    node._build(core.storage, core.settings, node.state(), node.files)
    node.root_token, node.unseal_keys, node.calls = known
    node.core.keeps_shares, node.core.on_step_down = core.keeps_shares, core.on_step_down


def state_of(node: Vault) -> dict[str, Any]:
    """A node's state; when a deleted record would have fallen due is left out, as it is dropped when it is met."""
    state, store = node.state(), node.core.storage
    if state["due_times"]:
        state["due_times"] = {key: due for key, due in state["due_times"].items() if store.get(key) is not None}
    return state


def stored(store: Any) -> Any:
    """Everything in a store; what can be had at once is not copied."""
    if isinstance(store, MemoryStorage):
        return store.values, store.leaves(), store._term
    return {key: store.get(key) for key in store.keys()}, store.leaves()  # noqa: SIM118  # a store is no dict


def different(one: Any, two: Any) -> str:
    """What of a value another does not have: of a mapping the members, of a sequence what follows the equal parts."""
    if isinstance(one, dict) and isinstance(two, dict):
        parts = {name: different(part, two.get(name)) for name, part in one.items() if two.get(name) != part}
        return str(parts)[:MAX_SHOWN]
    if isinstance(one, (tuple, list)) and isinstance(two, (tuple, list)):
        same = next((place for place, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), len(two))
        return str([different(a, b) for a, b in zip_longest(one[same:], two[same : len(one)])])[:MAX_SHOWN]
    return str(one)[:MAX_SHOWN]
