"""Mistakes of nodes and of replication: what crashes, stands by, elects, ships and stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.lab import build
from labkit.lab.invariants import rules
from labkit.lab.nodes import admission, candidacy, replication_link
from labkit.lab.nodes.forwarding import Forwarding
from labkit.lab.nodes.node_host import OF_REPLICATION, NodeHost
from labkit.lab.nodes.process import Process
from labkit.lab.nodes.secondaries import Secondaries
from labkit.lab.wire.messages import ApiRequest, ForwardedRequest, size_of
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.seeded import SeededEntropy
from labkit.service.message import Request
from labkit.vault.replication.serving_secondaries import QUESTIONS
from labkit.vault.replication.sync import on
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.rebuild import Rebuild
from labkit.vault.replication.trust import activation
from labkit.vault.storage import interruption as interrupting
from labkit.vault.storage import memory
from labkit.vault.storage.interruption import CommitInterruptedError
from labkit.vault.storage.memory import MemoryStorage
from tests.zoo.planting import EXPLORE, FILE, PROVE, Mistake

Step = Callable[..., Any]
MAX_NODES = 9
"""As many as a drawn lab has at most."""


def _gives_up(state: Any, event: Any) -> Any:
    after, effects = on(state, event)
    return after, [effect for effect in effects if not (type(effect).__name__ == "StartTimer" and after.failures)]


def _drops_a_key(apply: Step) -> Step:
    def applied(self: Journal, changes: Any, *rest: Any) -> Any:
        changes = list(changes)
        return apply(self, changes[:-1] if len(changes) > 1 and not self.last % 7 else changes, *rest)

    return applied


def _forwarded_twice(forward: Step) -> Step:
    def forwarded(self: Forwarding, source: str, message: ApiRequest) -> bool:
        done: bool = forward(self, source, message)
        if done:
            call = self.calls[self.serial]
            request = message.request._replace(remote_address=source)
            again = ForwardedRequest(self.serial, message.correlation, request)
            self._services.send(self._plan.name, call.node, "forwarded_request", again, size_of(message.request.body))
        return done

    return forwarded


def _half_kept(store: Any, interruption: Any, writes: Any, term: int, leaves: Any) -> None:
    if term != interruption.term or len(writes) < 2:
        store.apply(writes, term, leaves)
        store.interrupt(interruption)
        return
    had = {key: store.get(key) for key in writes}
    half = dict(list(writes.items())[: interruption.keys_written(len(writes))])
    store.apply(half, term, leaves)
    raise CommitInterruptedError(interruption.node, half, writes, had)


def _same_entropy(crash: Step) -> Step:
    def crashed(self: NodeHost) -> None:
        services = self.services
        self.services = services._replace(entropy=lambda incarnation, counter: services.entropy(0, counter))
        crash(self)
        self.services = services

    return crashed


def _suspended_kept(crash: Step) -> Step:
    def crashed(self: NodeHost) -> None:
        waiting, suspended, fetches = self.waiting, self.suspended, self.fetches
        crash(self)
        self.waiting, self.suspended, self.fetches = waiting, suspended, fetches

    return crashed


def _forgets_touched(self: Rebuild, changed: Any) -> None:
    """What is written meanwhile is not looked at again."""


def _reverts_last(apply: Step) -> tuple[Step, Step]:
    last: dict[int, tuple[MemoryStorage, dict[str, Any], dict[str, Any]]] = {}  # a store that is held keeps its id
    crash = NodeHost.crash

    def applied(self: MemoryStorage, writes: Any, term: int, leaves: Any = None) -> None:
        if len(writes) > 1:
            keys = leaves or {}
            last.pop(id(self), None)
            last[id(self)] = self, {key: self.get(key) for key in writes}, {key: self.leaf(key) for key in keys}
            if len(last) > MAX_NODES:
                del last[next(iter(last))]
        apply(self, writes, term, leaves)

    def crashed(self: NodeHost) -> None:
        led = self.leadership.active
        crash(self)
        before = last.pop(id(self.store), None)
        if led and before is not None and isinstance(self.store, MemoryStorage):
            apply(self.store, before[1], 1 << 62, before[2])

    return applied, crashed


def _observed(handle: Step) -> Step:
    def handled(self: NodeHost, request: Request, asker: Any) -> None:
        if OF_REPLICATION in request.path:
            self.core.observe("asked", token=request.headers.get("X-Vault-Token", ""))
        handle(self, request, asker)

    return handled


def _shared_stream(seed: int, *label: Any, **more: Any) -> SeededEntropy:
    whose = (*label[:2], *label[3:]) if len(label) == 4 else label  # without the node
    return SeededEntropy(seed, *whose, **more)


def _of_proof(name: str, finder: str = PROVE, rule: str = "") -> Mistake:
    bug = PLANTED_BUGS[name]
    answers: Mapping[str, Any] = bug.answers
    asked = [(QUESTIONS, kind, answer) for kind, answer in answers.items()]
    replaced = ((replication_link, "on", bug.on), *asked, (candidacy, "stand", bug.stand))
    return Mistake(bug.about, replaced, finder, rule, bug.harmless)


_APPLY_LAST, _CRASH_LAST = _reverts_last(MemoryStorage.apply)

OF_PROVE: dict[str, Mistake] = {
    name: _of_proof(name)
    for name in (
        "fetch-newest",
        "complete-between",
        "stale-answer",
        "stale-stream",
        "guards-never-compared",
        "dead-connection-unnoticed",
        "lease-taken-early",
        "lease-renewed-for-another",
    )
}

OF_NODES: dict[str, Mistake] = {
    **{
        name: _of_proof(name, EXPLORE, rules.WHOLE_COMMITS)
        for name in ("gap-ignored", "stream-from-newest", "deletions-forgotten")
    },
    "gives-up": Mistake(
        "a secondary that failed once sets no timer to try again",
        ((replication_link, "on", _gives_up),),
        EXPLORE,
        rules.CATCHING_UP,
    ),
    "drops-a-key": Mistake(
        "every seventh entry lacks the last key of its changes",
        ((Journal, "apply", _drops_a_key(Journal.apply)),),
        EXPLORE,
        rules.WHOLE_COMMITS,
    ),
    "forwarded-twice": Mistake(
        "a standby sends each request on twice",
        ((Forwarding, "forward", _forwarded_twice(Forwarding.forward)),),
        EXPLORE,
        rules.CARRIED_ONCE,
    ),
    "half-commit-kept": Mistake(
        "of a commit in which a process ends the store keeps what came first",
        ((interrupting, "apply_interrupted", _half_kept),),
        EXPLORE,
        rules.WHOLE_COMMIT,
    ),
    "same-entropy-again": Mistake(
        "a node that was restarted draws what it drew before",
        ((NodeHost, "crash", _same_entropy(NodeHost.crash)),),
        EXPLORE,
        rules.NO_NONCE_TWICE,
    ),
    "streams-shared": Mistake(
        "the nodes of a cluster draw from one stream",
        ((build, "SeededEntropy", _shared_stream),),
        EXPLORE,
        rules.NO_NONCE_TWICE,
    ),
    "held-over-a-crash": Mistake(
        "what waits for a paused process is still there after a crash",
        ((Process, "crash", lambda self: None),),
        FILE,
        rules.CRASH_FORGETS,
    ),
    "waits-over-a-crash": Mistake(
        "a request that waits for a reindex is still there after a crash",
        ((NodeHost, "crash", _suspended_kept(NodeHost.crash)),),
        FILE,
        rules.CRASH_FORGETS,
    ),
    "writes-in-a-reindex": Mistake(
        "writes do not wait while a reindex commits",
        ((NodeHost, "_is_locked", property(lambda self: False)),),
        EXPLORE,
        rules.REINDEX_WRITES,
    ),
    "touched-forgotten": Mistake(
        "a reindex does not look again at what is written meanwhile",
        ((Rebuild, "touch", _forgets_touched),),
        EXPLORE,
        rules.REINDEX_WRITES,
    ),
    "standby-redirects": Mistake(
        "a standby sends clients to the active node and forwards nothing",
        ((Forwarding, "forward", lambda self, source, message: False),),
        EXPLORE,
        rules.STANDBY_FORWARDS,
    ),
    "no-fencing": Mistake(
        "a store takes commits under any term",
        ((memory, "check_term", lambda term, newest: None),),
        FILE,
        rules.ROOTS,
    ),
    "last-commit-lost": Mistake(
        "a crash of the active node takes the last commit out of the store",
        ((MemoryStorage, "apply", _APPLY_LAST), (NodeHost, "crash", _CRASH_LAST)),
        EXPLORE,
        rules.VERSION_ORDER,
    ),
    "revoked-is-served": Mistake(
        "a primary serves whoever asks, though the id was revoked",
        (
            (admission.Admission, "judge", lambda self, source, question: ""),
            (activation, "unknown_ids", lambda core, secondary_ids: []),
            (Secondaries, "serve", lambda self, mode: None),
        ),
        FILE,
        rules.LIVE_CERTIFICATES,
    ),
    "tokens-observed": Mistake(
        "a node observes the tokens of calls of replication",
        ((NodeHost, "_handle", _observed(NodeHost._handle)),),
        EXPLORE,
        rules.CLEAR_TEXT,
    ),
}
