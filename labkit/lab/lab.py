"""Lab: clusters, clients and operators on a simulated network; build, run, step, ask, and the fault verbs.

1. Everything that happens is an item of the clock, dispatched by name to a host (R1); the clock moves only while
   somebody runs the lab or waits for an answer.
2. A lab is its blueprint, its seed and its state: ``snapshot`` is that, ``restore`` goes on from it, ``branch`` goes on
   with other keys and nonces but the same luck on the network (R7).
3. Every verb is a short form of requests, or of a fault of the network; there is no back door.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.lab import wiring
from labkit.lab.blueprint import Blueprint, pair, triangle
from labkit.lab.cluster import Cluster, Silence
from labkit.lab.ledger import Promotion
from labkit.lab.runbooks import Ask, RunbookError
from labkit.lab.snapshot import Snapshot
from labkit.lab.verbs import Verbs
from labkit.service.durations import parse_duration
from labkit.service.message import Response

if TYPE_CHECKING:
    from os import PathLike

    from labkit.lab.desk import Finished, PendingAsk
    from labkit.lab.host import NodeHost
    from labkit.scenario.running import Run
    from labkit.views.dashboard import Dashboard
    from labkit.views.picture import Picture

RUNBOOK_PATIENCE = "10m"
LONGEST_WAIT = "1h"


class Lab(Verbs):
    """A bench of clusters under simulated time."""

    def __init__(self, blueprint: Blueprint, seed: int = 7, *, trace: bool = True) -> None:
        self.blueprint, self.seed, self.branch_label = blueprint, seed, ""
        self.scenario: Run | None = None
        wiring.build(self, trace=trace)

    def __repr__(self) -> str:
        return f"Lab({', '.join(self.clusters)}; {self.now / 1e9:.3f} s)"

    def __getitem__(self, name: str) -> Cluster:
        """Return the handle of a cluster."""
        return self.clusters[self.blueprint.cluster(name).name]

    @classmethod
    def pair(cls, seed: int = 7) -> Lab:
        """Build clusters paris and tokyo, not yet replicating."""
        return cls(pair(), seed)

    @classmethod
    def triangle(cls, seed: int = 7) -> Lab:
        """Build clusters paris, tokyo and lima, not yet replicating."""
        return cls(triangle(), seed)

    @classmethod
    def load(cls, path: str | PathLike[str], seed: int | None = None) -> Lab:
        """Build the lab of a scenario file; ``run()`` then plays it to its end."""
        from labkit.scenario.loading import load
        from labkit.scenario.running import Run

        scenario = load(path)
        lab = cls(scenario.blueprint, scenario.seed if seed is None else seed)
        lab.scenario = Run(lab, lab, scenario)
        return lab

    def step(self) -> bool:
        """Let the next thing happen; False when nothing is pending."""
        return self.clock.step()

    def run(self, duration: str | int | None = None, *, until: str | int | Callable[[Lab], Any] | None = None) -> Lab:
        """Let time pass: for a duration, until an instant, or until a condition on the lab holds.

        Durations are text such as ``30s`` or a number of seconds.  With neither, a loaded scenario runs to its end.
        A condition that does not hold within an hour of simulated time raises TimeoutError.
        """
        if callable(until):
            condition = until
            if not self.clock.run(until_ns=self.now + parse_duration(LONGEST_WAIT), stop=lambda: condition(self)):
                raise TimeoutError(f"the condition did not hold within {LONGEST_WAIT} of simulated time")
        elif until is not None:
            self.clock.run(until_ns=parse_duration(until))
        elif duration is not None:
            self.clock.run(until_ns=self.now + parse_duration(duration))
        elif self.scenario is not None:
            scenario = self.scenario
            self.clock.run(stop=lambda: scenario.ended)
        else:
            raise ValueError("run() alone plays a loaded scenario; give a duration such as lab.run('30s')")
        self.invariants.on_rest()
        return self

    def ask(self, ask: Ask, timeout: str | int = "30s", headers: dict[str, str] | None = None) -> Response:
        """Ask a cluster from its operator's host; the clock moves until the answer; raise Silence without one."""
        deadline_ns = self.now + parse_duration(timeout)
        number = self.desk.ask(ask, deadline_ns - self.now, headers=headers)
        self.clock.run(until_ns=deadline_ns, stop=lambda: number in self.desk.answers)
        answer = self.desk.answers.pop(number)
        if answer.status == 0:
            self.clock.run(until_ns=deadline_ns)  # all that falls due up to then has happened
            raise Silence(f"{ask.method} {ask.path} on {ask.cluster}: no answer within {timeout} of simulated time")
        return answer

    def work_through(self, runbook: str, **arguments: Any) -> str:
        """Work through a runbook; the clock moves until its end; raise RunbookError when it cannot go on."""
        number = self.desk.start(runbook, **arguments)
        limit = self.now + parse_duration(RUNBOOK_PATIENCE)
        self.clock.run(stop=lambda: number in self.desk.finished or self.now > limit)
        finished = self.desk.finished.pop(number, None)
        if finished is None or not finished.ok:
            raise RunbookError(finished.text if finished else f"{runbook} did not end within {RUNBOOK_PATIENCE}")
        return finished.text

    def replicate(self, primary: str, secondary: str) -> str:
        """Make one cluster the primary of the other, by the API's calls, until it streams and its standbys are open."""
        return self.work_through("replicate", primary=primary, secondary=secondary)

    def snapshot(self) -> Snapshot:
        """Return everything that the lab is made of at this instant."""
        return Snapshot(blueprint=self.blueprint, seed=self.seed, at_ns=self.now, state=wiring.state(self))

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Lab:
        """Build a lab that goes on exactly where a snapshot was taken."""
        return cls._from(snapshot, snapshot.state["branch_label"])

    def branch(self, name: str) -> Lab:
        """Build a lab that goes on from here with other keys and nonces, so that two branches share no nonce."""
        return self._from(self.snapshot(), f"{self.branch_label}/{name}")

    @classmethod
    def _from(cls, snapshot: Snapshot, label: str) -> Lab:
        lab = cls.__new__(cls)
        lab.blueprint, lab.seed, lab.branch_label = snapshot.blueprint, snapshot.seed, label
        lab.scenario = None
        wiring.restore(lab, snapshot.state)
        if snapshot.state["scenario"] is not None:
            from labkit.scenario.running import Run

            lab.scenario = Run.from_state(lab, lab, snapshot.state["scenario"])
        return lab

    def dispatch(self, item: tuple[str, str, Any]) -> None:
        """Hand an item of the clock that fell due to whom it belongs to."""
        verb, host, payload = item
        if verb == "deliver":
            if self.network.arrive(payload):
                self.hosts[host].receive(payload.source, payload.what, payload.payload)
        elif verb == "timer":
            self.hosts[host].on_timer(payload)
        elif verb == "desk":
            self.desk.on_timer(payload)
        else:
            assert self.scenario is not None
            self.scenario.on_timer(payload)

    def send_request(self, source: str, target: str, correlation: str, request: Any) -> None:
        """Send a request from an operator's host."""
        self.network.send(source, target, "request", ("ask", correlation, request), wiring.request_size(request))

    def note_commit(self, correlation: str, cluster: str, index: int) -> None:
        """A request wrote to a cluster's store, as this journal entry."""
        self.ledger.commit(correlation, cluster, self.reigns.get(cluster, 0), index)

    def note_asked(self, pending: PendingAsk, response: Response, correlation: str) -> None:
        """An operator's request ended."""
        path = pending.request.path.removeprefix("/v1/")
        if response.ok:
            self.ledger.acknowledge(self.now, f"{pending.cluster}-operator", path, correlation)
        elif response.status:
            self.ledger.note_refused()
        elif pending.asked or not pending.runbook:
            self.ledger.note_unknown()

    def note_leader(self, node: NodeHost, term: int) -> None:
        """A node took its cluster's lease."""
        self.trace.record(("leader", self.now, node.plan.name, node.name, term))
        self.invariants.on_change()

    def note_mode(self, node: NodeHost, mode: str, state: str) -> None:
        """A cluster's replication mode or state changed, as its active node knows it."""
        cluster = node.plan.name
        before = self.modes.get(cluster, ("disabled", ""))
        self.modes[cluster] = (mode, state)
        if before != (mode, state):
            self.trace.record(("mode", self.now, cluster, mode, state))
        if before[0] != mode:
            self.invariants.on_change()

    def note_following(self, node: NodeHost, upstream: str, demoted: bool) -> None:
        """A secondary follows a cluster from now on; with none to follow it still holds the history of the last.

        A demoted primary holds its own.
        """
        cluster = node.plan.name
        if upstream or demoted:
            if upstream != self.followed.get(cluster):
                self.held.pop(cluster, None)
            self.followed[cluster] = upstream

    def note_stopping(self, node: NodeHost, mode: str) -> None:
        """A secondary is about to give its upstream up; when it becomes primary, that is a promotion."""
        survivor, sync = node.plan.name, node.vault.core.replica.sync
        if sync.position is not None:
            self.held[survivor] = sync.position
        if mode != "primary":
            return
        upstream = self.followed.get(survivor, "")
        applied = self.held.get(survivor, 0) if sync.complete else 0
        reign = self.reigns.get(upstream, 0)
        planned = self.modes.get(upstream, ("", ""))[0] == "secondary"
        self.ledger.promoted(Promotion(self.now, survivor, upstream, reign, applied, self.now, planned))
        self.reigns[survivor] = self.reigns.get(survivor, 0) + 1
        lag = max(0, self.last_entry(upstream) - applied) if upstream else 0
        self.invariants.on_promotion(self.ledger.promotions[-1], lag)

    def runbook_ended(self, number: int, finished: Finished) -> None:
        """A runbook ended; a scenario may wait for it."""
        if self.scenario is not None:
            self.scenario.on_runbook(number, finished)

    def map(self) -> Picture:
        """Draw sites, links, clusters and nodes as they are now."""
        from labkit.views import map as maps

        return maps.draw(maps.layout(self))

    def timeline(self) -> Picture:
        """Draw what became of each cluster, and what clients were told, up to now."""
        from labkit.views import timeline

        return timeline.of(self.trace, self.ledger, self.now, tuple(self.clusters))

    def dashboard(self) -> Dashboard:
        """Show buttons for time and faults, and beside them map, timeline and the last of the trace."""
        from labkit.views import dashboard

        controls = dashboard.Controls(
            sites=self.blueprint.sites,
            clusters={plan.name: plan.node_names for plan in self.blueprint.clusters},
            step=self.step,
            run=self.run,
            faults=self,
            unseal=lambda name: self[name].unseal(),
            promote=lambda name: self[name].promote(),
            demote=lambda name: self[name].demote(),
            now_ns=lambda: self.now,
            trace=self.trace,
            pictures=lambda: (self.map(), self.timeline()),
        )
        return dashboard.dashboard(controls)

    def watch(self, name: str, check: Callable[[Lab], Any]) -> None:
        """Add an invariant of one's own: ``check(lab)`` returns something false, or text, when it is broken."""
        self.invariants.watch(name, check)
