"""Lab: a bench as users hold it; it plays scenario files, is drawn, compared with others, and served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

from labkit import real
from labkit.front.lab_cluster import LabCluster
from labkit.front.shown_names import shown
from labkit.lab.bench import Bench
from labkit.lab.faults import LabFaults
from labkit.lab.invariants import Invariants
from labkit.lab.parts import Parts
from labkit.missing_library import missing_library
from labkit.service.arguments import wrong

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from labkit.doors.served_lab import ServedLab
    from labkit.doors.server_thread import DoorSettings
    from labkit.lab.queries import Queries
    from labkit.scenario.running import Run
    from labkit.scenario.scenario import Scenario
    from labkit.scenario.watched import Watched
    from labkit.views.cause_chain import CauseChain
    from labkit.views.charts.clusters_apart import ClustersApart
    from labkit.views.charts.measures import Measures
    from labkit.views.dashboard import Controls, Dashboard
    from labkit.views.picture import Picture
    from labkit.views.player.player import Player
    from labkit.views.runs_apart import RunsApart


class Lab(Bench, but="dashboard serve"):
    """A bench of clusters under simulated time, with its scenario, its pictures and its doors."""

    _handle = LabCluster
    _watch_forks = staticmethod(real.fork_watch)
    clusters: Mapping[str, LabCluster]
    scenario: Run | None

    def __dir__(self) -> list[str]:
        return shown("Lab", super().__dir__())

    def __getitem__(self, name: str) -> LabCluster:
        """Return the handle of a cluster."""
        return self.clusters[self.blueprint.cluster(name).name]

    @staticmethod
    def _restore_scenario(parts: Parts, faults: LabFaults, invariants: Invariants, state: dict[str, Any]) -> Run:
        from labkit.scenario.running import Run

        return Run.from_state(parts, faults, invariants, state)

    @staticmethod
    def _make_condition(
        name: str, says: Any, queries: Queries, invariants: Invariants, schedule: Callable[[int, Any], None]
    ) -> Watched:
        from labkit.scenario.watched import Watched

        return Watched(name, says, queries, invariants, schedule)

    @classmethod
    def load(cls, path: str | Path, seed: int | None = None) -> Self:
        """Build the lab of a scenario file; ``run()`` then plays it to its end.

        Of a file with a matrix it is the first combination; ``lab_of`` builds the lab of any of them.
        """
        if not isinstance(path, str) and not hasattr(path, "__fspath__"):
            raise wrong("path", "the path of a scenario file", path)
        from labkit.scenario.loading import load

        return cls._of(load(path), seed)

    def save(self, path: str | Path) -> None:
        """Write the lab as it is now to a file, which ``Lab.open`` opens on any machine; it needs ``cbor2``.

        The file holds keys, tokens and secrets of the lab.  Rules that are functions (``watch``) are left out, and
        checkpoints; the file names those rules.
        """
        _disk().write_file(path, self.snapshot(), tuple(self._watched))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Build the lab of a file that ``save`` wrote; it goes on from that instant as the saved one would have.

        ``LabFileError``, a ValueError, says why a file is not opened.  A warning names the rules that were left out.
        """
        lab: Self
        lab, found = _disk().open_file(path, cls.restore)
        if found.left_out:
            names = ", ".join(map(repr, found.left_out))
            warn(f"{path}: rules that are functions are not in it: {names}; add them with lab.watch", stacklevel=2)
        return lab

    @classmethod
    def _of(cls, scenario: Scenario, seed: int | None) -> Self:
        from labkit.scenario.running import Run

        lab = cls(scenario.blueprint, scenario.seed if seed is None else seed)
        lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
        return lab

    def compare(self, other: Lab) -> RunsApart:
        """Return the first event in which this run and another differ, such as a branch's, and what they had before.

        A notebook shows what follows in both as space-time diagrams on one axis; ``to_frame()``, ``save("x.svg")``.
        """
        if not isinstance(other, Lab):
            raise wrong("other", "another lab, such as a branch of this one", other)
        from labkit.views import runs_apart

        return runs_apart.of(self.trace, other.trace)

    def diff(self, first: str, second: str) -> ClustersApart:
        """Return what two clusters hold that is not the same: a row for each name, with its mount and leaf digests.

        The stores are compared as they are, so a cluster may be cut off, sealed or down; shown by mounts.
        """
        from labkit.views.charts import clusters_apart

        return clusters_apart.of(super().diff(first, second), first, second)

    def why(self, event: Any) -> CauseChain:
        """Return what led to an event, link by link, back to its root: a fault, or what somebody asked for.

        ``event`` is a row number or an event of ``trace``, a Violation, a lost write, a promotion, ``rpo()`` or
        ``rto()`` of ``ledger``, or text that picks the last: a broken rule's name; ``in doubt``, ``refused``, ``lost``,
        ``promotion``, ``recovery``; or a cluster, node or client with what became of it: ``tokyo: merkle-diff``.
        A notebook shows a graph of events at their instants, and the sentences; ``to_frame()``, ``save("why.svg")``.
        """
        from labkit.views import cause_chain

        return cause_chain.of(super().why(event))

    @property
    def measures(self) -> Measures:
        """Bytes on the wire, lag, stale reads, surviving tokens, time in states: as data frames and pictures."""
        from labkit.views.charts.measures import Measures

        return Measures(self.queries)

    def map(self) -> Picture:
        """Draw sites, links, clusters and nodes as they are now."""
        from labkit.views import map as maps

        return maps.of(self.queries)

    def timeline(self, start: str | float | None = None, end: str | float | None = None) -> Picture:
        """Draw what became of each cluster and node, and what clients were answered, up to now or between two instants.

        ``start`` and ``end`` are durations since the lab was built, such as ``30s`` or a number of seconds.
        """
        from labkit.views import timeline

        return timeline.of_lab(self.queries, start, end)

    def play(self, *, only: str | None = None, beside: Lab | None = None) -> Player:
        """Return the run up to now as a page that plays it: map with messages, timeline, what clients got, and why.

        It is slowed down for messages of interest: ``only`` is ``replication`` or ``clients``; by default those that a
        fault, a promotion or a lost write touches.  ``save("run.html")`` writes it to a file that needs nothing else.
        Which pages of the clusters' trees differ is shown from the instant on at which ``keep_pictures`` was called.
        Another lab, such as a branch, is shown ``beside`` it: at the same instant, with the first difference marked.
        """
        from labkit.views.player import player

        title = self.scenario.title if self.scenario is not None else "A run of a lab"
        played = player.of_lab(self.queries, self.invariants, title, only, self._pictures)
        if beside is None:
            return played
        if not isinstance(beside, Lab) or beside is self:
            raise wrong("beside", "another lab, such as a branch of this one", beside)
        return played.with_beside(beside.play(only=only), self.compare(beside))

    def serve(
        self, port: int = 0, *, speed: float = 0, control: bool = False, settings: DoorSettings | None = None
    ) -> ServedLab:
        """Return a door for a ``with`` that gives the URL of each cluster by its name: real servers on loopback ports.

        They stand on ``port`` and the ports after it, or on free ones.  Each request lets the time pass that its answer
        takes; ``speed`` says how many simulated seconds pass by themselves in a second.  With ``control`` there is
        the control interface too, for whoever has its key.  ``settings`` say how the ports are reached otherwise.
        """
        from labkit.doors.served_lab import ServedLab
        from labkit.doors.server_thread import DoorSettings

        settings = settings or DoorSettings(control=control)
        door = ServedLab(self, self._passage, port, speed=speed, settings=settings)
        door.play, door.door_to = self.play, lambda lab: lab.serve(speed=speed, settings=settings)
        return door

    def dashboard(self) -> Dashboard:
        """Show buttons for time and faults, and below them map, timeline and the last of the trace.

        Checkpoints are kept from here on, so that earlier instants can be shown and gone back to.
        """
        from labkit.views import dashboard

        if self._passage.checkpoints is None:
            self.keep_checkpoints()
        return dashboard.dashboard(self._controls())

    def _controls(self) -> Controls:
        from labkit.views.acts_now import acts_now
        from labkit.views.dashboard import Controls

        return Controls(
            lab=self,
            at=lambda instant: self.at(instant)._controls(),
            acts_now=lambda: acts_now(self.queries),
            sites=self.blueprint.sites,
            clusters={plan.name: plan.node_names for plan in self.blueprint.clusters},
            cluster=self.__getitem__,
            step=self.step,
            run=self.run,
            work_through=self.work_through,
            faults=self.faults,
            broken=lambda: self.invariants.broken.values(),
            now_ns=lambda: self.now,
            trace=self.trace,
            pictures=lambda: (self.map(), self.timeline()) if self.trace.enabled else (self.map(),),
        )


def lab_of(scenario: Scenario, seed: int | None = None) -> Lab:
    """Build the lab of a scenario that was read, such as each of ``labkit.scenario.loading.load_all``."""
    return Lab._of(scenario, seed)


def _disk() -> ModuleType:
    """Return what writes and reads lab files; ModuleNotFoundError says what brings the library that it needs."""
    try:
        from labkit.front.lab_file import disk
    except ModuleNotFoundError as error:
        raise missing_library("a lab file", error) or error from None
    return disk
