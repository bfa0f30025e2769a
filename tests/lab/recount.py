"""Losses and outages recounted: what a survivor lost, since when, and for how long nobody could write (decision D14).

The recount shares no code with the ledger.  It sees what reaches each cluster's store, which answer went to whom, and
the stored mode: from these it keeps, for each cluster, the list of writes that its contents come from.  After each
event it looks which nodes serve, and by a map of its own which sites are cut: from these it knows since when a cluster
is out of service.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.bookkeeping import Bookkeeping
from labkit.lab.faults import LabFaults
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.wire.reports import AskEnded, OperationEnded
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.merkle import classify
from labkit.vault.replication.trust.activation import CREDENTIALS, SECONDARIES
from labkit.vault.storage.memory import MemoryStorage

SECOND_NS = 1_000_000_000
CLUSTERS = ("paris", "tokyo", "lima")
CLIENTS = "lisbon"
SITES = (*CLUSTERS, CLIENTS)
ABSENT = b"absent"


@dataclass(eq=False)
class Step:
    """What one step left in a store: ciphertexts by key, and who was answered for it, and when."""

    values: dict[str, bytes]
    cluster: str
    number: int
    acknowledged: tuple[int, str, str] | None = None
    says: Any = None
    """Of a written secret its path and data."""
    since: int = 0
    """The number of the step that the earliest attempt of the same operation made."""


@dataclass(eq=False)
class Contents:
    """The writes, in order, that a cluster's contents come from."""

    cluster: str
    steps: list[Step] = field(default_factory=list)


@dataclass
class Taken:
    """A promotion: what had been followed, which of its steps the survivor held, and since when it was out."""

    survivor: str
    after: int
    fault_ns: int
    followed: Contents | None = None
    held: set[int] = field(default_factory=set)
    own: Contents | None = None

    def lost(self) -> Counter[Any]:
        steps = self.followed.steps if self.followed is not None else []
        own = self.own.steps if self.own is not None else []
        newest: dict[str, int] = {}
        for its in own:
            newest[repr(its.says)] = max(its.number, newest.get(repr(its.says), -1))
        gone = [step for step in steps if step.acknowledged and id(step) not in self.held]
        return Counter(
            step.acknowledged for step in gone if step.says is None or newest.get(repr(step.says), -1) < step.since
        )

    def point(self) -> tuple[int, float, int, float]:
        """How many writes, how far the oldest was before the fault, how many came after it, and how far the last."""
        times = [at_ns for at_ns, _, _ in self.lost().elements()]
        before = [self.fault_ns - at_ns for at_ns in times if at_ns <= self.fault_ns]
        after = [at_ns - self.fault_ns for at_ns in times if at_ns > self.fault_ns]
        return len(times), max(before, default=0) / SECOND_NS, len(after), max(after, default=0) / SECOND_NS

    def seconds_out(self, acknowledged: list[Step]) -> float | None:
        """From the fault to the first acknowledgement of a write that the survivor made as such."""
        times = [
            step.acknowledged[0]
            for step in acknowledged
            if step.acknowledged and step.cluster == self.survivor and step.number >= self.after
        ]
        return (min(times) - self.fault_ns) / SECOND_NS if times else None


class Watch:
    """Since when each cluster has no active node, no client that reaches it, a cut line, or not the lead of a set, and
    since when it has sent a secondary off by revoking its id.
    """

    def __init__(self) -> None:
        self.cut: set[tuple[str, str]] = set()
        self.since: dict[tuple[str, ...], int] = {}
        self.led: set[tuple[str, str]] = set()
        self.leads: dict[str, str] = {}
        self.sent_off: set[tuple[str, str]] = set()

    def after_fault(self, verb: str, places: tuple[Any, ...]) -> None:
        """Keep the map of what is cut: by what the verbs mean, not by what the network made of them."""
        a, b = (*places, None, None)[:2]
        ways = {
            "partition": {(a, b), (b, a)},
            "cut": {(a, b)},
            "isolate": {way for site in SITES if site != a for way in ((a, site), (site, a))},
        }
        self.cut |= ways.get(verb, set())
        if verb == "heal":
            self.cut = {way for way in self.cut if not {a, b} - {None} <= set(way)}

    def look(self, lab: Any) -> None:
        """Note what is so now that was not, and what is not any more."""
        serving = {
            node.cluster for node in lab.parts.nodes.values() if not node.vault.sealed and node.leadership.active
        }
        now: list[tuple[str, ...]] = [("no service", name) for name in CLUSTERS if name not in serving]
        whole = {frozenset(way) for way in self.cut}
        now += [("no client", name) for name in CLUSTERS if {name, CLIENTS} in whole]
        now += [("no line", a, b) for a in CLUSTERS for b in CLUSTERS if {a, b} in whole]
        now += [("sent off", *both) for both in self.sent_off]
        now += [("not led", name, its) for name, its in self.led if self.leads.get(name) != its]
        self.since = {what: self.since.get(what, lab.now) for what in now}

    def fault_ns(self, primary: str, survivor: str, set_id: str, promoted_ns: int) -> int:
        """When the earliest began of what keeps a primary from serving, or a survivor from following."""
        what = [("no service", primary), ("no client", primary), ("no line", primary, survivor)]
        what.append(("sent off", primary, survivor))
        return min(self.since.get(one, promoted_ns) for one in (*what, ("not led", primary, set_id)))


class Recount:
    """Watches a lab from below."""

    def __init__(self) -> None:
        self.lab: Any = None
        self.written: list[tuple[str, dict[str, bytes | None]]] = []
        self.modes = dict.fromkeys(CLUSTERS, ("disabled", "", b""))
        self.replicated: set[str] = set()
        self.own = {name: Contents(name) for name in CLUSTERS}
        self.followed: dict[str, list[Contents]] = {name: [] for name in CLUSTERS}
        self.under: dict[str, tuple[str, str]] = {}
        self.answers: dict[tuple[str, int], dict[int, Step]] = {}
        self.promotions: list[Taken] = []
        self.acknowledged: list[Step] = []
        self.number = 0
        self.overwritten = 0
        self.damaged: dict[tuple[str, bytes], bytes] = {}
        self.seen = Watch()

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Stand between the lab and its stores, answers and reports."""
        apply, take, hand_over, dispatch = MemoryStorage.apply, Bookkeeping.take, NodeHost._hand_over, Lab._dispatch
        find, corrupt = Journal.find, LabFaults.corrupt

        def on_apply(store: Any, writes: Any, *rest: Any) -> None:
            apply(store, writes, *rest)
            if self.lab is not None:
                name = next((name for name, its in self.lab.parts.stores.items() if its is store), "")
                self.written.append((name, dict(writes)))

        def on_answer(node: Any, request: Any, outcome: Any, asker: Any, **how: Any) -> None:
            step = self.settle(node.cluster)
            if step is not None:
                self.answers.setdefault(asker.correlation[:2], {})[asker.correlation.attempt] = step
                path = request.path.partition("?")[0].removeprefix("/v1/")
                if path.startswith("secret/data/") and request.method == "POST":
                    step.says = (path, request.body["data"])
            hand_over(node, request, outcome, asker, **how)

        def on_report(books: Any, report: Any) -> None:
            if isinstance(report, OperationEnded | AskEnded):
                self.ended(report)
            take(books, report)

        def on_item(lab: Any, item: Any) -> None:
            dispatch(lab, item)
            self.settle("")
            self.seen.look(lab)

        def on_find(journal: Any, guard: bytes) -> int | None:
            """Count who held something that was no generation in reach, since the backlog had been written over."""
            found = find(journal, guard)
            self.overwritten += found is None and any(guard) and len(journal._backlog) >= journal.limit_entries
            return found

        def on_damage(faults: Any, *where: Any) -> None:
            """What damage does to a store is no step of its cluster."""
            written = list(self.written)
            stored: dict[str, bytes] = dict(self.lab.parts.stores[where[0]].state()["items"])
            corrupt(faults, *where)
            self.written = written
            for key, value in stored.items():
                now = self.lab.parts.stores[where[0]].get(key) or ABSENT
                if len(where) > 1 and where[1] == "storage" and classify(key) and now != value:
                    self.damaged[key, now] = self.damaged.get((key, value), value)
                    self.damaged = {both: was for both, was in self.damaged.items() if both[1] != was}

        def on_fault(verb: str, fault: Any) -> Any:
            def faulty(faults: Any, *places: Any) -> None:
                fault(faults, *places)
                self.seen.after_fault(verb, places)
                self.seen.look(self.lab)

            return faulty

        patch.setattr(MemoryStorage, "apply", on_apply)
        patch.setattr(NodeHost, "_hand_over", on_answer)
        patch.setattr(Bookkeeping, "take", on_report)
        patch.setattr(Lab, "_dispatch", on_item)
        patch.setattr(Journal, "find", on_find)
        patch.setattr(LabFaults, "corrupt", on_damage)
        for verb in ("crash", "restart", "partition", "cut", "isolate", "heal"):
            patch.setattr(LabFaults, verb, on_fault(verb, getattr(LabFaults, verb)))

    def ended(self, report: Any) -> None:
        attempts = self.answers.pop(report.correlation[:2], {})
        if report.outcome == "answered" and attempts and not report.path.startswith("sys/"):
            there = [number for number, its in attempts.items() if its.cluster == report.cluster]
            if report.correlation.attempt not in attempts and report.cluster in CLUSTERS and not there:
                return  # the cluster that answered wrote nothing: what an earlier attempt left elsewhere is not its
            step = attempts.get(report.correlation.attempt) or attempts[max(there or attempts)]
            step.since = min(its.number for its in attempts.values())
            step.acknowledged = (report.at_ns, report.correlation.asker, report.path)
            self.acknowledged.append(step)

    def settle(self, answering: str) -> Step | None:
        """Take what was written since; return the step that the answering cluster wrote, if any."""
        written, self.written = self.written, []
        answered = None
        for name, writes in written:
            if MODE_KEY in writes:
                self.mode_changed(name)
            else:
                gone = [key for key, value in writes.items() if value is None and key.startswith(SECONDARIES)]
                ids = [(name, bytes.fromhex(key.removeprefix(SECONDARIES)).decode()) for key in gone]
                self.seen.sent_off |= {(name, other) for other, under in self.under.items() if under in ids}
            values = {key: ABSENT if value is None else value for key, value in writes.items() if classify(key)}
            if values and self.modes[name][0] != "secondary":
                self.number += 1
                step = Step(values, name, self.number)
                self.own[name].steps.append(step)
                answered = step if name == answering else answered
        return answered

    def mode_changed(self, name: str) -> None:
        node = self.lab.parts.nodes[self.lab.queries.active_node(name)]
        mode, before = node.mode, self.modes[name]
        given = self.lab.parts.stores[name].get(CREDENTIALS) or b""
        self.modes[name] = (mode.mode, mode.cluster_id, given)
        self.under.pop(name, None)
        change = (before[0], mode.mode)
        self.seen.leads.pop(name, None)
        if mode.mode == "primary":
            self.seen.leads[name] = mode.cluster_id
            self.seen.led.add((name, mode.cluster_id))
        if change == ("disabled", "primary") and name in self.replicated:
            self.own[name] = Contents(name, list(self.own[name].steps))
        elif change == ("disabled", "secondary"):
            self.own[name], self.followed[name] = Contents(name), []
        elif change == ("primary", "secondary"):
            self.followed[name] = []
        elif before[0] == "secondary" and mode.mode != "secondary":
            self.left(name, mode.mode == "primary")
        if mode.mode == "secondary" and mode.upstream_cluster_addrs and given != before[2]:
            host = mode.upstream_cluster_addrs[0].partition("://")[2].partition(":")[0]
            upstream = self.own[self.lab.queries.cluster_of(host)]
            self.followed[name] = [*(one for one in self.followed[name] if one is not upstream), upstream]
            self.seen.sent_off.discard((upstream.cluster, name))
        if mode.mode == "secondary" and mode.upstream_cluster_addrs:
            host = mode.upstream_cluster_addrs[0].partition("://")[2].partition(":")[0]
            self.under[name] = (self.lab.queries.cluster_of(host), mode.secondary_id)
        self.replicated.add(name)

    def left(self, name: str, promoted: bool) -> None:
        followed, self.followed[name] = self.followed[name], []
        old = followed[-1].cluster if followed else name
        fault_ns = self.seen.fault_ns(old, name, self.modes[name][1], self.lab.now)
        taken = Taken(name, self.number + 1, fault_ns)
        if promoted:
            self.promotions.append(taken)
        if not followed:
            return
        store = self.lab.parts.stores[name]
        kept: dict[int, Step] = {}
        for source in (self.own[name], *followed):
            reached: dict[str, int] = {}
            for place, step in enumerate(source.steps):
                for key, value in step.values.items():
                    stored = store.get(key) or ABSENT
                    if value == self.damaged.get((key, stored), stored):
                        reached[key] = place
            kept |= {
                id(step): step
                for place, step in enumerate(source.steps)
                if all(reached.get(key, -1) >= place for key in step.values)
            }
        taken.followed, taken.held = followed[-1], set(kept)
        self.own[name] = taken.own = Contents(name, list(kept.values()))
