"""Bench: clusters, clients and operators on a simulated network; build, run, step, ask, and the fault verbs.

1. Everything that happens is an item of the clock, dispatched by name to a host (R1); the clock moves only while
   somebody runs the lab or waits for an answer.
2. A lab is its blueprint, its seed and its state: ``snapshot`` is that, ``restore`` goes on from it, ``branch`` goes on
   with other keys and nonces but the same draws on the network, unless it takes other luck (R7).
3. Every verb is a short form of requests, or of a fault of the network, never a back door.
4. It knows nothing of what stands above it: of scenarios only that they run (``ScenarioRun``).  ``Lab`` is a bench that
   reads them from files, is drawn, compared and served.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from labkit.lab import build
from labkit.lab.bookkeeping import Bookkeeping
from labkit.lab.causes.explanation import Explanation
from labkit.lab.causes.why import why
from labkit.lab.checkpoints import MAX_CHECKPOINTS, Checkpoint
from labkit.lab.cluster import Cluster, ClusterDriver
from labkit.lab.differences import Differences, differences
from labkit.lab.fault_verbs import FaultVerbs
from labkit.lab.faults import LabFaults
from labkit.lab.hosts.client_host import ClientHost
from labkit.lab.invariants import STANDING, Invariants
from labkit.lab.lab_arguments import cannot_repeat, judge_checkpoints, judge_instant, judge_lab, judge_scenario
from labkit.lab.measures.tree_record import TreeRecord
from labkit.lab.operations.operator_console import Finished
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import Blueprint, pair, triangle
from labkit.lab.queries import Queries
from labkit.lab.records.lag import Lag
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.scenario_run import ScenarioRun
from labkit.lab.snapshot import MAX_LUCK, Snapshot, branch_of, restore_parts, state_of
from labkit.lab.time_passage import TimePassage
from labkit.lab.watched_conditions import WatchedCondition, WatchedConditions
from labkit.lab.wire.reports import RunbookEnded
from labkit.lab.wire.turns import EachInTurn, Turns
from labkit.service.arguments import duration_ns, kept_text, one_of, text, whole_number, wrong
from labkit.service.durations import format_duration, in_seconds
from labkit.service.message import Response
from labkit.sim.clock import Item
from labkit.sim.network import Network
from labkit.trace import Trace
from labkit.vault.core import never
from labkit.vault.storage.interruption import CommitInterruptedError


class Bench(EachInTurn, FaultVerbs, but="run work_through replicate failover seal unseal"):
    """Clusters under simulated time.

    It has parts, queries and faults, and beside them invariants and cluster handles.  With ``snapshot`` it goes on from
    that instant.  A class made from it may have cluster handles of another class, and go on with scenarios.

    Without ``trace`` nothing is kept of messages and events.  What it keeps grows with the acknowledged writes, about
    1.5 KB each, and with promotions and joins, by which losses are measured.  Of operations, failed requests, readings,
    connections and lag it keeps the newest 10,000 rows, less than 20,000 in any case.
    """

    _handle: ClassVar[type[Cluster]] = Cluster
    _restore_scenario: ClassVar[Callable[..., ScenarioRun] | None] = None
    _make_condition: ClassVar[Callable[..., WatchedCondition] | None] = None
    clusters: Mapping[str, Cluster]

    def __init__(
        self, blueprint: Blueprint, seed: int = 7, *, trace: bool = True, snapshot: Snapshot | None = None
    ) -> None:
        seed = judge_lab(blueprint, seed, trace, snapshot)
        judge_scenario(snapshot, self._restore_scenario)
        kept = snapshot.state if snapshot is not None else {}
        self._bookkeeping = books = Bookkeeping(kept.get("bookkeeping"))
        connections = build.Connections(self._dispatch, books.take)
        if snapshot is None:
            self.parts = build.make_parts(blueprint, seed, connections, trace=trace)
        else:
            self.parts = restore_parts(snapshot, connections)
        self.parts.turns.is_forked = self._watch_forks()
        self.queries = Queries(self.parts, books.upstreams, books.followers, books.progress, books.observations)
        self.invariants = Invariants(self.queries, self.parts.trace, kept.get("invariants"))
        books.connect(self.invariants, self.queries, self._on_runbook_ended)
        self._faults = LabFaults(self.parts, self.queries, books.take)
        self._passage = TimePassage(self.parts, self.invariants)
        self._pictures = self._recorded(kept["pictures"]) if "pictures" in kept else None
        self._watched: dict[str, Callable[[Any], Any]] = {}
        watched = kept.get("conditions", ())
        self._conditions = WatchedConditions(self._make_condition, self.queries, self.invariants, watched)
        self._goes_on = snapshot is not None
        credentials = self.parts.console.credentials
        shared = (self.queries, credentials, self.parts.files, self.parts.turns)
        driver = ClusterDriver(self._ask, self.work_through, lambda: self.cloud, *shared, self._copied)
        self.clusters = {plan.name: self._handle(driver, plan) for plan in blueprint.clusters}
        self.scenario: ScenarioRun | None = None
        if snapshot is None:
            build.start(self.parts)
        elif self._restore_scenario is not None and kept["scenario"] is not None:
            self.scenario = self._restore_scenario(self.parts, self._faults, self.invariants, kept["scenario"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.clusters)}; {in_seconds(self.now)} s)"

    @staticmethod
    def _watch_forks() -> Callable[[], bool]:
        """Return what says that a process was forked from the present one; a bench by itself does not know."""
        return never

    @property
    def _turns(self) -> Turns:
        return self.parts.turns

    def __getitem__(self, name: str) -> Cluster:
        """Return the handle of a cluster."""
        return self.clusters[self.blueprint.cluster(name).name]

    @classmethod
    def pair(cls, seed: int = 7) -> Self:
        """Build clusters paris and tokyo, not yet replicating."""
        return cls(pair(), seed)

    @classmethod
    def triangle(cls, seed: int = 7) -> Self:
        """Build clusters paris, tokyo and lima, not yet replicating."""
        return cls(triangle(), seed)

    @property
    def blueprint(self) -> Blueprint:
        """What the lab was built from."""
        return self.parts.blueprint

    @property
    def seed(self) -> int:
        """The seed of every draw."""
        return self.parts.seed

    @property
    def now(self) -> int:
        """Simulated time since the lab was built, in nanoseconds."""
        return self.parts.clock.now

    @property
    def trace(self) -> Trace:
        """Everything that happened."""
        return self.parts.trace

    @property
    def ledger(self) -> RecoveryLedger:
        """What clients were answered, and what promotions lost."""
        return self.parts.ledger

    @property
    def network(self) -> Network:
        """Hosts at sites, and what passes between them."""
        return self.parts.network

    @property
    def clients(self) -> dict[str, ClientHost]:
        """The clients, by name."""
        return self.parts.clients

    def step(self) -> bool:
        """Let the next thing happen; False when nothing is pending."""
        self._refuse_in_check()
        return self._passage.step()

    def run(
        self, duration: str | float | None = None, *, until: str | float | Callable[[Self], Any] | None = None
    ) -> Self:
        """Let time pass: for a duration, until an instant, or until a condition on the lab holds.

        Durations are text such as ``30s`` or a number of seconds such as 0.5.  With neither, a loaded scenario runs
        to its end.
        A condition that does not hold within an hour of simulated time raises TimeoutError.
        """
        if duration is not None and until is not None:
            raise ValueError("run: expected a duration or until=, got both")
        self._refuse_in_check()
        if callable(until):
            self._passage.run_until(lambda: until(self))
        elif until is not None:
            until_ns = duration_ns("until", until, seconds=True)
            if until_ns < self.now:
                raise wrong("until", f"an instant from now on, that is from {format_duration(self.now)} on", until)
            self._passage.run(until_ns)
        elif duration is not None:
            self._passage.run(self.now + duration_ns("duration", duration, seconds=True))
        elif self.scenario is not None:
            scenario = self.scenario
            self._passage.run(stop=lambda: scenario.ended)
        else:
            raise ValueError("run() alone plays a loaded scenario; give a duration such as lab.run('30s')")
        with self.parts.turns:
            self.invariants.check_at_rest()
        return self

    def work_through(self, runbook: str, **arguments: Any) -> str:
        """Work through a runbook; the clock moves until its end; raise RunbookError when it cannot go on.

        ValueError names the runbooks, or the arguments of one, that are known, when it has another name.
        """
        return self._passage.work_through(runbook, **arguments)

    def replicate(self, primary: str, secondary: str) -> str:
        """Make one cluster the primary of the other, by the API's calls, until it streams and its standbys are open."""
        return self.work_through("replicate", primary=primary, secondary=secondary)

    def failover(self, old: str, new: str) -> str:
        """Move the primary as planned: demote the old, wait until the new is level, promote it, re-point the others."""
        return self.work_through("failover", old=old, new=new)

    def lag(self, primary: str, secondary: str) -> Lag:
        """Return how far a secondary is behind: ``.entries`` not applied, ``.seconds`` that the oldest has waited.

        0 and 0.0 when level; both infinite of a cluster that does not follow the other, or has not yet reached any
        complete state of it.  Known as well while a cluster is cut off, sealed or down.
        """
        names = [plan.name for plan in self.blueprint.clusters]
        one_of("primary", "a cluster", primary, names)
        return self.queries.lag(primary, one_of("secondary", "a cluster", secondary, names))

    def diff(self, first: str, second: str) -> Differences:
        """Return what two clusters hold that is not the same: a row for each name, with its mount and leaf digests.

        The stores are compared as they are, so a cluster may be cut off, sealed or down.
        """
        names = [plan.name for plan in self.blueprint.clusters]
        one_of("first", "a cluster", first, names)
        if first == one_of("second", "a cluster", second, names):
            raise ValueError(f"diff: expected two different clusters, got {first} twice")
        return differences(self.queries, first, second)

    def why(self, event: Any) -> Explanation:
        """Return what led to an event, link by link, back to its root: a fault, or what somebody asked for.

        ``event`` is a row number or an event of ``trace``, a Violation, a lost write, a promotion, ``rpo()`` or
        ``rto()`` of ``ledger``, or text that picks the last: a broken rule's name; ``in doubt``, ``refused``, ``lost``,
        ``promotion``, ``recovery``; or a cluster, node or client with what became of it: ``tokyo: merkle-diff``.
        """
        return why(self.queries, self.invariants, event)

    def snapshot(self) -> Snapshot:
        """Return everything that the lab is made of at this instant."""
        self._refuse_in_check()
        state = {
            **state_of(self.parts),
            "bookkeeping": self._bookkeeping.state(),
            "invariants": self.invariants.state(),
            "conditions": self._conditions.state(),
            "scenario": self.scenario.state() if self.scenario is not None else None,
            **({} if self._pictures is None else {"pictures": self._pictures.state()}),
        }
        return Snapshot(blueprint=self.blueprint, seed=self.seed, at_ns=self.now, state=state)

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Self:
        """Build a lab that goes on exactly where a snapshot was taken."""
        if not isinstance(snapshot, Snapshot):
            raise wrong("snapshot", "what lab.snapshot() gave", snapshot)
        return cls(snapshot.blueprint, snapshot.seed, snapshot=snapshot)

    def branch(self, name: str, luck: int | None = None) -> Self:
        """Build a lab that goes on from here with other keys and nonces; branches share none, whatever their names.

        With ``luck``, a whole number from 0 up, the network's draws are others too: what depends on chance may end
        otherwise.  Branches with the same number have the same draws there.
        """
        name = text("name", "a name for the branch", name)
        if luck is not None:
            whole_number("luck", "a whole number from 0 up, of at most 18 digits", luck, 0, MAX_LUCK)
        return self.restore(branch_of(self.parts, self.snapshot(), name, luck))

    def keep_checkpoints(self, every: str | float = "1s", limit: int = MAX_CHECKPOINTS) -> None:
        """Keep a snapshot now, each interval while time passes, and after what is done by hand, so that ``at`` works.

        At most ``limit`` are kept: of the older ones every other, then the oldest go.
        """
        self._refuse_in_check()
        self._passage.keep_checkpoints(self._checkpoint, *judge_checkpoints(every, limit))

    def at(self, instant: str | float) -> Self:
        """Return the lab as it was at an instant such as ``12.5s``, after all that happened then; this one stays.

        It is restored from the last checkpoint before, and run on; one that was only run is run again from its
        beginning.  It goes on as this one did, with the same draws, unless something else is done in it.
        """
        self._refuse_in_check()
        at_ns, kept = judge_instant(instant, self.now), self._passage.checkpoints
        found = kept.before(at_ns) if kept is not None else None
        if at_ns == self.now:
            found = self._checkpoint(False)
        lab = self._again(instant) if found is None else self.restore(found.snapshot)
        for name, check in self._watched.items() if found is None else found.watched:
            lab.watch(name, check)
        lab._passage.run(at_ns)
        if not self.trace.is_the_same_until(at_ns, lab.trace):
            raise ValueError(cannot_repeat(instant, kept))
        if kept is not None:
            lab._passage.keep_checkpoints(lab._checkpoint, kept.every_ns, kept.limit, kept.kept)
        return lab

    def keep_pictures(self) -> None:
        """Record from now on what becomes of the clusters' trees, and the path of each request, for ``play`` to show.

        The trace stays as it is without.  A snapshot or a branch keeps what was recorded, and goes on.
        """
        self._refuse_in_check()
        if self._pictures is None:
            with self.parts.turns:
                self._pictures = self._recorded()
                self._pictures.begin(self._bookkeeping.modes)

    def _recorded(self, state: dict[str, Any] | None = None) -> TreeRecord:
        self.invariants.follow(record := TreeRecord(self.queries, state))
        self.parts.network.watcher = record.requests.take
        return record

    def seal(self, cluster: str) -> str:
        """Seal the active node of a cluster."""
        return self.work_through("seal", cluster=cluster)

    def unseal(self, cluster: str, node: str = "") -> str:
        """Give the sealed nodes of a cluster, or the one that is named, their key shares."""
        return self.work_through("unseal", cluster=cluster, node=node)

    def watch(self, name: str, check: Callable[[Self], Any] | Mapping[str, Any]) -> None:
        """Add an invariant of one's own: ``check(lab)`` returns something false, or text, when it is broken.

        A condition of scenario files does as well, such as ``{"lag": {"at most": 200}}``; it goes on in what a snapshot
        or a branch becomes.
        """
        name = kept_text("name", "a name for the rule", name)
        if not callable(check) and not isinstance(check, Mapping):
            raise wrong("check", "a function of the lab, or a condition such as {'lag': {'at most': 200}}", check)
        if name in STANDING:
            raise ValueError(f"name: expected another name than that of a rule of each lab, got {name!r}")
        self._refuse_in_check()
        if isinstance(check, Mapping):
            with self.parts.turns:
                self._conditions.watch(name, check)
            self._watched.pop(name, None)
            self.invariants.watched.pop(name, None)
            return
        self._conditions.drop(name)
        self._watched[name] = check
        self.invariants.watch(name, lambda: check(self))

    def _refuse_in_check(self) -> None:
        """Raise RuntimeError while a watched rule is checked: that may be in the middle of what happens."""
        self._passage.refuse_in_check()

    def _copied(self, name: str) -> Self:
        """Build a branch of the lab as it is, which does not count it among its own."""
        return self.restore(self.snapshot()).branch(name)

    def _ask(self, ask: Ask, timeout: str | float = "30s", headers: dict[str, str] | None = None) -> Response:
        """Ask a cluster from its operator's host; the clock moves until the answer; raise Silence without one."""
        return self._passage.ask(ask, timeout, headers)

    def _checkpoint(self, after_act: bool) -> Checkpoint:
        return Checkpoint(self.snapshot(), tuple(self._watched.items()), after_act)

    def _again(self, instant: str | float) -> Self:
        """Build the lab that this one was at its beginning."""
        if self._goes_on or not self.trace.enabled:
            raise ValueError(cannot_repeat(instant, self._passage.checkpoints))
        lab = type(self)(self.blueprint, self.seed)
        if self.scenario is not None:
            lab.scenario = self.scenario.begun_again(lab.parts, lab._faults, lab.invariants)
        for name, (condition, _) in self._conditions.state():
            lab._conditions.watch(name, (condition, None))
        if self._pictures is not None:
            lab.keep_pictures()
        return lab

    def _dispatch(self, item: Item) -> None:
        """Hand an item of the clock that fell due to whom it is for."""
        verb, host, payload = item
        try:
            if verb == build.DELIVER:
                if self.parts.network.arrive(payload):
                    self.parts.hosts[host].receive(payload.source, payload.payload)
            elif verb == build.TIMER:
                self.parts.hosts[host].on_timer(payload)
            elif verb == build.CONSOLE:
                self.parts.console.on_timer(payload)
            elif verb == build.CONDITION:
                self._conditions.on_timer(payload)
            elif verb == build.FAULT:
                self._faults.flapping_lines.on_timer(payload)
            else:
                assert self.scenario is not None
                self.scenario.on_timer(payload)
        except CommitInterruptedError as killed:
            self._faults.end_inside_commit(killed)

    def _on_runbook_ended(self, report: RunbookEnded) -> None:
        """A scenario may wait for the end of a runbook."""
        if self.scenario is not None:
            self.scenario.on_runbook(report.number, Finished(report.ok, report.text))
