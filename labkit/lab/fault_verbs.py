"""Fault verbs: what goes wrong in a lab and what puts it right, as short forms over its faults."""

from __future__ import annotations

from labkit.cloud.cloud_service import CloudService
from labkit.lab.faults import LabFaults
from labkit.vault.storage.interruption import BETWEEN


class FaultVerbs:
    """Gives a lab a method for each of its faults."""

    _faults: LabFaults

    @property
    def faults(self) -> LabFaults:
        """What goes wrong, in pairs with what puts it right."""
        self._refuse_in_check()
        return self._faults

    def _refuse_in_check(self) -> None:
        """Raise RuntimeError where nothing may be changed; a lab says when."""

    @property
    def cloud(self) -> CloudService:
        """The cloud, with its faults; it comes to the site of the first cluster where no blueprint names one."""
        return self.faults.cloud

    def cloud_outage(self, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, answer nothing: discovery, keys, token, compute and others."""
        self.faults.cloud_outage(endpoint)

    def cloud_recover(self, endpoint: str | None = None) -> None:
        """End an outage of the cloud, at one endpoint or at all of them."""
        self.faults.cloud_recover(endpoint)

    def cloud_slow(self, delay: str, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, take so long (a duration) for each answer."""
        self.faults.cloud_slow(delay, endpoint)

    def cloud_restore(self, endpoint: str | None = None) -> None:
        """Let an endpoint of the cloud, or all of them, answer at once again."""
        self.faults.cloud_restore(endpoint)

    def roll_keys(self) -> None:
        """Let the cloud sign with its next key, which is published already."""
        self.faults.roll_keys()

    def crash(self, target: str) -> None:
        """Take a node, or all nodes of a cluster, down; what they held in memory is gone."""
        self.faults.crash(target)

    def crash_in_commit(self, target: str, moment: str = BETWEEN) -> None:
        """Let the active node of a cluster go down inside its next commit: before, between or after its keys."""
        self.faults.crash_in_commit(target, moment)

    def restart(self, target: str) -> None:
        """Start a node, or all nodes of a cluster, again; they come up sealed."""
        self.faults.restart(target)

    def pause(self, target: str) -> None:
        """Stop the process of a node, or of all nodes of a cluster, where it stands: timers and messages wait."""
        self.faults.pause(target)

    def resume(self, target: str) -> None:
        """Let paused processes go on: each takes what waits for it, acting on what it believed until then."""
        self.faults.resume(target)

    def skew(self, target: str, by: str | None = None, drift: float = 0) -> None:
        """Make the wall clock of a node or cluster wrong: ahead or behind (``-90s``), drifting by so many percent."""
        self.faults.skew(target, by, drift)

    def correct(self, target: str) -> None:
        """Set the wall clock of a node, or of all nodes of a cluster, right again."""
        self.faults.correct(target)

    def impersonate(self, target: str) -> None:
        """Put an impostor in the place of a node, or of all nodes of a cluster, for every other site."""
        self.faults.impersonate(target)

    def expose(self, target: str) -> None:
        """Take the impostor of a node, or of all nodes of a cluster, out of the middle."""
        self.faults.expose(target)

    def partition(self, a: str, b: str) -> None:
        """Cut both ways between two sites or clusters."""
        self.faults.partition(a, b)

    def cut(self, source: str, target: str) -> None:
        """Cut one way, from a site or cluster to another."""
        self.faults.cut(source, target)

    def isolate(self, target: str) -> None:
        """Cut a site or cluster off from every other site."""
        self.faults.isolate(target)

    def heal(self, a: str | None = None, b: str | None = None) -> None:
        """Undo cuts: between two, around one, or all."""
        self.faults.heal(a, b)

    def slow(
        self, a: str, b: str, *, latency: str | None = None, factor: int | None = None, one_way: bool = False
    ) -> None:
        """Give the line between two another latency (a duration), or make it so many times as slow.

        ``one_way`` means only messages from the first to the second.
        """
        self.faults.slow(a, b, latency=latency, factor=factor, one_way=one_way)

    def lose(self, a: str, b: str, percent: float) -> None:
        """Lose a share of the messages between two; each lost one is sent again, later, unless it is a datagram."""
        self.faults.lose(a, b, percent)

    def duplicate(self, a: str, b: str, percent: float) -> None:
        """Deliver a share of the datagrams between two twice: heartbeats that go aside, and announcements."""
        self.faults.duplicate(a, b, percent)

    def restore_links(self, a: str | None = None, b: str | None = None) -> None:
        """Undo ``slow``, ``lose`` and ``duplicate``: between two, around one, or everywhere."""
        self.faults.restore_links(a, b)

    def flap(self, a: str, b: str, down: str, up: str) -> None:
        """Let the line between two go down for a while, come up for a while, and so on, until it is made steady."""
        self.faults.flap(a, b, down, up)

    def steady(self, a: str | None = None, b: str | None = None) -> None:
        """End ``flap``, with the line up: between two, around one, or everywhere."""
        self.faults.steady(a, b)

    def stray_write(self, cluster: str) -> None:
        """Let a cluster's active node store something that nobody asked for, as a faulty service would."""
        self.faults.stray_write(cluster)

    def corrupt(self, cluster: str, layer: str = "subpage", key: str | None = None) -> None:
        """Alter one kept node of the Merkle index of a cluster's active node, or a stored value (``storage``)."""
        self.faults.corrupt(cluster, layer, key)
