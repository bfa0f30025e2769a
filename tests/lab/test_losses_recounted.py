"""Losses recounted: stores are watched write by write, and what a survivor lost is counted again from ciphertexts.

The recount shares no code with the ledger: it sees what reaches each cluster's store, which answer went to whom, and
the stored mode; from these it keeps, for each cluster, the list of writes that its contents come from.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.blueprint import ClientPlan, WorkloadPlan, triangle
from labkit.lab.cluster import Silence
from labkit.lab.node import NodeHost
from labkit.lab.reports import AskEnded, OperationEnded
from labkit.lab.runbooks import RunbookError
from labkit.vault.replication.activation import CREDENTIALS
from labkit.vault.replication.merkle import classify
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.storage.memory import MemoryStorage

SECOND_NS = 1_000_000_000
CLUSTERS = ("paris", "tokyo", "lima")
EVERYDAY = 40
ABSENT = b"absent"


@dataclass(eq=False)
class Step:
    """What one step left in a store: ciphertexts by key, and who was answered for it, and when."""

    values: dict[str, bytes]
    acknowledged: tuple[int, str, str] | None = None


@dataclass(eq=False)
class Contents:
    """The writes, in order, that a cluster's contents come from."""

    steps: list[Step] = field(default_factory=list)


@dataclass
class Taken:
    """A promotion: what had been followed, and which of its steps the survivor held."""

    followed: Contents | None
    held: set[int] = field(default_factory=set)

    def lost(self) -> Counter[Any]:
        steps = self.followed.steps if self.followed is not None else []
        return Counter(step.acknowledged for step in steps if step.acknowledged and id(step) not in self.held)


class Recount:
    """Watches a lab from below."""

    def __init__(self) -> None:
        self.lab: Any = None
        self.written: list[tuple[str, dict[str, bytes | None]]] = []
        self.modes = dict.fromkeys(CLUSTERS, ("disabled", "", b""))
        self.replicated: set[str] = set()
        self.own = {name: Contents() for name in CLUSTERS}
        self.followed: dict[str, list[Contents]] = {name: [] for name in CLUSTERS}
        self.answers: dict[tuple[str, int], dict[int, Step]] = {}
        self.promotions: list[Taken] = []

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Stand between the lab and its stores, answers and reports."""
        apply, take, hand_over, dispatch = MemoryStorage.apply, Lab._take, NodeHost._hand_over, Lab._dispatch

        def on_apply(store: Any, writes: Any, *rest: Any) -> None:
            apply(store, writes, *rest)
            if self.lab is not None:
                name = next((name for name, its in self.lab.parts.stores.items() if its is store), "")
                self.written.append((name, dict(writes)))

        def on_answer(node: Any, outcome: Any, source: str, correlation: Any) -> None:
            step = self.settle(node.cluster)
            if step is not None:
                self.answers.setdefault(correlation[:2], {})[correlation.attempt] = step
            hand_over(node, outcome, source, correlation)

        def on_report(lab: Any, report: Any) -> None:
            if isinstance(report, OperationEnded | AskEnded):
                self.ended(report)
            take(lab, report)

        def on_item(lab: Any, item: Any) -> None:
            dispatch(lab, item)
            self.settle("")

        patch.setattr(MemoryStorage, "apply", on_apply)
        patch.setattr(NodeHost, "_hand_over", on_answer)
        patch.setattr(Lab, "_take", on_report)
        patch.setattr(Lab, "_dispatch", on_item)

    def ended(self, report: Any) -> None:
        attempts = self.answers.pop(report.correlation[:2], {})
        if report.outcome == "answered" and attempts and not report.path.startswith("sys/"):
            step = attempts.get(report.correlation.attempt) or attempts[max(attempts)]
            step.acknowledged = (report.at_ns, report.correlation.asker, report.path)

    def settle(self, answering: str) -> Step | None:
        """Take what was written since; return the step that the answering cluster wrote, if any."""
        written, self.written = self.written, []
        answered = None
        for name, writes in written:
            if MODE_KEY in writes:
                self.mode_changed(name)
            values = {key: ABSENT if value is None else value for key, value in writes.items() if classify(key)}
            if values and self.modes[name][0] != "secondary":
                step = Step(values)
                self.own[name].steps.append(step)
                answered = step if name == answering else answered
        return answered

    def mode_changed(self, name: str) -> None:
        node = self.lab.parts.nodes[self.lab.queries.active_node(name)]
        mode, before = node.mode, self.modes[name]
        given = self.lab.parts.stores[name].get(CREDENTIALS) or b""
        self.modes[name] = (mode.mode, mode.cluster_id, given)
        change = (before[0], mode.mode)
        if change == ("disabled", "primary") and name in self.replicated:
            self.own[name] = Contents(list(self.own[name].steps))
        elif change == ("disabled", "secondary"):
            self.own[name], self.followed[name] = Contents(), []
        elif change == ("primary", "secondary"):
            self.followed[name] = []
        elif before[0] == "secondary" and mode.mode != "secondary":
            self.left(name, mode.mode == "primary")
        if mode.mode == "secondary" and mode.upstream_cluster_addrs and given != before[2]:
            host = mode.upstream_cluster_addrs[0].partition("://")[2].partition(":")[0]
            upstream = self.own[self.lab.queries.cluster_of(host)]
            self.followed[name] = [*(one for one in self.followed[name] if one is not upstream), upstream]
        self.replicated.add(name)

    def left(self, name: str, promoted: bool) -> None:
        followed, self.followed[name] = self.followed[name], []
        if not followed:
            if promoted:
                self.promotions.append(Taken(None))
            return
        store = self.lab.parts.stores[name]
        kept: dict[int, Step] = {}
        for source in (self.own[name], *followed):
            reached: dict[str, int] = {}
            for place, step in enumerate(source.steps):
                for key, value in step.values.items():
                    if value == (store.get(key) or ABSENT):
                        reached[key] = place
            kept |= {
                id(step): step
                for place, step in enumerate(source.steps)
                if all(reached.get(key, -1) >= place for key in step.values)
            }
        if promoted:
            self.promotions.append(Taken(followed[-1], set(kept)))
        self.own[name] = Contents(list(kept.values()))


def blueprint(rng: random.Random) -> Any:
    """Three clusters, and clients that put secrets, over and over the same or each time another, and encrypt."""
    every_ns = rng.choice((60, 150, 400)) * 1_000_000
    work = (
        WorkloadPlan(operation="put-secret", every_ns=every_ns, keys=rng.choice((0, 0, 3))),
        WorkloadPlan(operation="encrypt", every_ns=7 * every_ns),
    )
    use = tuple(rng.sample(CLUSTERS, 3))
    return triangle().with_clients(ClientPlan(name="writers", site="lisbon", use=use, count=2, workload=work))


def act(lab: Any, rng: random.Random) -> None:
    """One thing that an operator or chance may do, mostly to a cluster in the mode that it is for."""
    wanted, verb = rng.choice(VERBS)
    fitting = [name for name in CLUSTERS if wanted in ("", lab.queries.mode_of(name))]
    one = rng.choice(fitting or CLUSTERS)
    primaries = [name for name in CLUSTERS if name != one and lab.queries.mode_of(name) == "primary"]
    other = rng.choice(primaries if primaries and rng.random() < 0.8 else [name for name in CLUSTERS if name != one])
    with suppress(RunbookError, Silence, ValueError):  # it may be that it cannot be done now
        verb(lab, one, other, rng)


def write_by_hand(lab: Any, one: str, other: str, rng: random.Random) -> None:
    for path in rng.sample(("secret/data/mine", "transit/keys/mine", "secret/data/yours", "auth/token/create"), 2):
        body: dict[str, Any] = {"data": {"n": rng.randrange(99)}} if path.startswith("secret") else {}
        lab[one].request("POST", path, body, {"X-Vault-Token": lab[one].root_token}, timeout="2s")
    lab[one].request("DELETE", "secret/metadata/mine", None, {"X-Vault-Token": lab[one].root_token}, timeout="2s")


def seal(lab: Any, one: str, other: str, rng: random.Random) -> None:
    lab[one].request("PUT", "sys/seal", {}, {"X-Vault-Token": lab[one].root_token}, timeout="2s")


def recover(lab: Any, one: str, other: str, rng: random.Random) -> None:
    if rng.random() < 0.7:
        lab.heal()
    lab.restart(one)
    lab.run("1s")
    lab.work_through("unseal", cluster=one)


def promote(lab: Any, one: str, other: str, rng: random.Random) -> None:
    lab.work_through("promote", cluster=one, force=rng.random() < 0.8)


def join(lab: Any, one: str, other: str, rng: random.Random) -> None:
    """Follow another cluster, whatever it was before; mostly until it streams, else something else comes between."""
    if lab.queries.mode_of(other) == "disabled":
        lab.work_through("enable-primary", cluster=other)
    if lab.queries.mode_of(one) != "disabled":
        lab.work_through("disable", cluster=one)
    if rng.random() < 0.5:
        begin(lab, "enable-secondary", rng, cluster=one, primary=other)
    else:
        lab.work_through("enable-secondary", cluster=one, primary=other)


def repoint(lab: Any, one: str, other: str, rng: random.Random) -> None:
    if rng.random() < 0.5:
        begin(lab, "repoint", rng, cluster=one, to=other)
    else:
        lab.work_through("repoint", cluster=one, to=other)


def cut(lab: Any, one: str, other: str, rng: random.Random) -> None:
    rng.choice((lab.partition, lab.partition, lab.cut))(one, other)


VERBS = (
    ("", lambda lab, one, other, rng: lab.run(f"{rng.randrange(1, 3000)}ms")),
    ("", lambda lab, one, other, rng: lab.isolate(one)),
    ("", lambda lab, one, other, rng: lab.heal()),
    ("primary", lambda lab, one, other, rng: lab.crash(one)),
    ("primary", seal),
    ("primary", lambda lab, one, other, rng: lab.work_through("demote", cluster=one)),
    ("primary", lambda lab, one, other, rng: lab.work_through("disable", cluster=one)),
    ("disabled", lambda lab, one, other, rng: lab.work_through("enable-primary", cluster=one)),
    ("secondary", lambda lab, one, other, rng: lab.work_through("disable", cluster=one)),
    ("secondary", promote),
    ("secondary", promote),
    ("secondary", promote),
    ("secondary", repoint),
    ("secondary", repoint),
    ("secondary", cut),
    ("secondary", cut),
    ("disabled", join),
    ("disabled", join),
    ("secondary", join),
    ("unknown", recover),
    ("unknown", recover),
    ("primary", write_by_hand),
    ("disabled", write_by_hand),
)


def begin(lab: Any, runbook: str, rng: random.Random, **arguments: Any) -> None:
    """Begin a runbook and do something else while it runs."""
    lab.parts.console.start(runbook, **arguments)
    lab.run(f"{rng.randrange(1, 900)}ms")


def drill(seed: int, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Play one random lab and compare each promotion; return how many promotions and losses there were."""
    rng = random.Random(seed)
    recount = Recount()
    recount.watch(patch)
    lab = recount.lab = Lab(blueprint(rng), seed=seed, trace=False)
    lab.run(f"{rng.randrange(1, 4000)}ms")
    act_on = ("paris", "tokyo") if rng.random() < 0.8 else ("lima", "paris")
    join(lab, act_on[1], act_on[0], rng)
    for _ in range(rng.randrange(8, 22)):
        act(lab, rng)
        if rng.random() < 0.15:
            assert not recount.written
            lab = recount.lab = Lab.restore(lab.snapshot()) if rng.random() < 0.5 else lab.branch("what-if")
    lab.run("3s")
    taken = [
        Counter((write.at_ns, write.client, write.path) for write in lab.ledger.lost(promotion))
        for promotion in lab.ledger.promotions
    ]
    assert taken == [one.lost() for one in recount.promotions], f"seed {seed}"
    assert lab.ledger.waiting <= len(lab.parts.console.asks) + sum(
        len(client.client.pending) for client in lab.clients.values()
    )
    return len(taken), sum(map(sum, (one.values() for one in taken)))


@pytest.mark.parametrize("seed", range(EVERYDAY))
def test_each_promotion_lost_what_a_recount_of_the_stores_says(seed, monkeypatch):
    drill(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(EVERYDAY, 1000, 60))
def test_each_promotion_of_a_thousand_labs_lost_what_a_recount_says(start, monkeypatch):
    for seed in range(start, start + 60):
        with monkeypatch.context() as patch:
            drill(seed, patch)
