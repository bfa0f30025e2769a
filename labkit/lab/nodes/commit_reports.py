"""Commit reports: what a node's steps committed, kept until the end of the step and then reported in one piece.

1. A commit is reported before its answer is sent.
2. What a read costs its token is not a write of whoever asked.
3. What a step writes that changes the mode belongs to the mode before it.
4. A commit inside which the process ended is reported too, where the store has it; whose request it was is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Protocol

from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire import reports
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.seen_versions import hidden_versions, made_version, written_value
from labkit.service.call_names import named_version, sent_names
from labkit.service.message import Request, Response, Suspended
from labkit.vault.core import Core
from labkit.vault.mounts import MOUNTS
from labkit.vault.replication.applied_position import POSITION
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.replication.tree.journal import WAL_KEY, read_number
from labkit.vault.replication.tree.merkle import OUTSIDE, leaf_digest
from labkit.vault.replication.trust.activation import CREDENTIALS
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import KEYRING
from labkit.vault.storage.interruption import CommitInterruptedError
from labkit.vault.storage.unfenced import UnfencedStorage

READS = ("GET", "HEAD", "LIST")
JOINS = frozenset((MODE_KEY, CREDENTIALS, KEYRING))
"""What only a step writes together that wipes its cluster, to join a replication set."""
SECRETS = "/keys/"
"""What is in the storage key of a secret's record, and of no other part of a secret."""

Changes = tuple[tuple[str, bytes | None], ...]


class ReportedMode(Protocol):
    """A replication link, as far as it is asked here: the mode and state that it reported last."""

    reported: tuple[str, str]


class CommitReports:
    """The commits of one node that are not reported yet; ``link`` is set before the first commit."""

    __slots__ = ("_cluster", "_core", "_name", "_services", "_unfenced", "link", "made")

    link: ReportedMode

    def __init__(self, plan: NodePlan, services: HostServices, core: Core, store: Storage) -> None:
        self._name, self._cluster = plan.name, plan.cluster.name
        self._services, self._core = services, core
        self._unfenced = store if isinstance(store, UnfencedStorage) else None
        self.made: list[tuple[int, Changes]] = []

    def note(self, number: int | None, writes: Mapping[str, bytes | None], wiped: bool) -> None:
        """Keep what a commit left, for the report at the end of its step; a wipe is reported instead."""
        if wiped:
            self.made.clear()
            self._services.emit(reports.Wiped(self._cluster))
            return
        changes = [
            (intern(key), None if stored is None else leaf_digest(key, stored))  # many commits are kept of one key
            for key, stored in writes.items()
            if not key.startswith(OUTSIDE)
        ]
        if changes:
            self.made.append((number or 0, tuple(changes)))
            if self.link.reported[0] == "secondary":  # before this step; the upstream's entries do not come this way
                self._services.emit(
                    reports.OwnEntryMade(self._cluster, number or 0, tuple([key for key, _ in changes]))
                )
            if self._unfenced is not None and self._unfenced.is_overtaken(self._core.leadership.term):
                term = self._core.leadership.term
                self._services.emit(reports.OvertakenWrote(self._cluster, self._name, term, changes[0][0]))

    def end_inside(self, ended: CommitInterruptedError) -> None:
        """Report a commit inside which the node's process ended: what it was to write, and what the store has of it.

        What was kept of the upstream's entries belongs to the upstream's history: they are reported there.
        """
        before, kept = ended.before, ended.kept
        rows = [(key, _digest(key, before[key]), _digest(key, left)) for key, left in ended.writes.items()]
        self._services.emit(reports.CommitEnded(self._cluster, self._name, tuple(rows), bool(kept)))
        if kept and kept.get(POSITION) is None:  # a step of its own, which may delete it
            number = kept.get(WAL_KEY)
            self.note(read_number(number) if number else None, kept, kept.keys() >= JOINS)
        if self.made:
            self.report(ended=True)

    def report(
        self,
        correlation: Correlation | None = None,
        request: Request | None = None,
        outcome: Response | Suspended | None = None,
        *,
        resumed: bool = False,
        ended: bool = False,
        of_system: bool = False,
    ) -> None:
        """Report what a step committed, and whose request it was.

        ``resumed``: one that had waited for a Fetch; ``ended``: the process ended inside the commit; ``of_system``: one
        that the system backend answered.
        """
        commits = tuple(self.made)
        self.made.clear()
        if correlation is None or request is None or request.method in READS:
            part = reports.INTERRUPTED if ended else ""
            self._services.emit(reports.Committed(self._cluster, commits, part=part, ends_lives=_ends_lives(commits)))
        else:
            made, hidden, version, value = None, None, 0, b""
            if isinstance(outcome, Response):
                made = made_version(request, outcome)
                version = made.version if made is not None else named_version(outcome.body) or 0
                value = written_value(request, outcome, made) if commits else b""
                hidden = hidden_versions(request, outcome) if commits and made is None else None
            options = tuple(sorted(sent_names(request.body))) if isinstance(request.body, dict) else ()
            waits = isinstance(outcome, Suspended)
            part = (reports.GONE_ON if resumed else reports.BEGUN) if waits else reports.ENDED if resumed else ""
            named = (request.method, version, options, made, value, part, hidden)
            ends = made is None and _ends_lives(commits)
            self._services.emit(reports.Committed(self._cluster, commits, correlation, *named, ends, of_system))


def _ends_lives(commits: Iterable[tuple[int, Changes]]) -> bool:
    """Whether commits deleted the record of a secret, or moved or made a mount, which no answer names."""
    for _, changes in commits:
        for key, left in changes:
            if (left is None and SECRETS in key) or key.endswith(MOUNTS):
                return True
    return False


def _digest(key: str, stored: bytes | None) -> bytes | None:
    return None if stored is None else leaf_digest(key, stored)
