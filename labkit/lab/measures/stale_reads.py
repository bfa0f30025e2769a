"""Stale reads: readings that showed an older version of a secret than one that had been acknowledged before.

1. A reading is stale when it showed a version that was committed before another one of the same path whose write was
   acknowledged, by any cluster of the replication set, when the reading was sent.  That one may be lost meanwhile.
2. Older is meant by the order of commits, not by number: after a promotion that lost version 8 another version 8 may
   follow.  Where nothing was there, that is older than everything that was not deleted with its metadata, or that may
   have been deleted with its mount or namespace, or by a commit inside which the process ended.
   A version that is shown with its data though its deletion had been acknowledged is older than that, unless a later
   commit brought it back.
3. Only readings of a secret's newest version that were answered with one, or with 404 and no error, are judged.
4. What belongs together are the commits of histories that continue one another: clusters that never replicated share
   none, nor does a cluster with what it held before it joined.
5. A reading that names X-Vault-Index is refused where it would be stale, so it is never one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from labkit.lab.records.histories import History
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.records.read_log import ANY_SECRET, AnsweredRead

Name = tuple[str, int, str]
ANY = ANY_SECRET.path


class StaleRead(NamedTuple):
    """A reading that was stale: what it showed, and what had been acknowledged before it was sent.

    ``behind_ns`` is for how long a newer version had been acknowledged by then; version 0 stands for nothing.
    """

    started_ns: int
    at_ns: int
    client: str
    cluster: str
    path: str
    version: int
    newest_version: int
    behind_ns: int


class JudgedReads(NamedTuple):
    """When the readings that could be judged were answered, and those among them that were stale."""

    times_ns: tuple[int, ...]
    stale: tuple[StaleRead, ...]


class Acknowledged:
    """The acknowledged versions of one path within one replication set, by when they were acknowledged."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self.newest: list[int] = []  # the newest commit that was acknowledged up to then

    def add(self, at_ns: int, commit: int) -> None:
        """Note a write that was acknowledged after all those before."""
        self.times_ns.append(at_ns)
        self.newest.append(max(commit, self.newest[-1]) if self.newest else commit)


class HiddenVersionsOf:
    """Which versions were hidden or shown again by which commits, by the commits that made them."""

    def __init__(self, ledger: RecoveryLedger, families: list[int], commits: dict[Name, int]) -> None:
        self._changes: dict[int, list[tuple[int, bool]]] = {}  # {commit of a version: (commit, hidden)}
        self._acknowledged_ns: dict[int, int] = {}
        if not len(ledger.read_log.hidden):
            return
        history_of = [commit.history for commit in ledger.histories.commits]
        made: dict[tuple[str, int], list[tuple[int, int]]] = {}  # {(path, family): (commit, version)}
        for (path, version, _), commit in commits.items():
            made.setdefault((path, families[history_of[commit]]), []).append((commit, version))
        for commit, path, numbers, hidden in ledger.read_log.hidden:
            before = [row for row in made.get((path, families[history_of[commit]]), ()) if row[0] < commit]
            own = [row for row in before if history_of[row[0]] == history_of[commit]] or before
            for number in numbers or tuple([version for _, version in own[-1:]]):
                found = [made_by for made_by, version in own if version == number]
                if found:
                    self._changes.setdefault(found[-1], []).append((commit, hidden))
        changing = {commit for rows in self._changes.values() for commit, _ in rows}
        for write in ledger.writes:
            if write.committed.commit in changing:
                self._acknowledged_ns[write.committed.commit] = write.at_ns

    def judge(self, read: AnsweredRead, shown: int) -> StaleRead | None:
        """Return a reading as a stale one when it showed the data of a version whose deletion was acknowledged."""
        rows = [row for row in self._changes.get(shown, ()) if row[0] < read.next_commit]
        if not read.with_data or not rows:
            return None
        back = max([commit for commit, hidden in rows if not hidden], default=-1)
        ended = [commit for commit, hidden in rows if hidden and commit > back]
        times_ns = [self._acknowledged_ns[commit] for commit in ended if commit in self._acknowledged_ns]
        since_ns = min(times_ns, default=read.started_ns + 1)
        if since_ns > read.started_ns:
            return None
        ends = (read.started_ns, read.at_ns, read.client, read.cluster, read.path)
        return StaleRead(*ends, read.version, read.version, read.started_ns - since_ns)


def stale_reads(ledger: RecoveryLedger) -> JudgedReads:
    """Judge every reading of a lab."""
    history_of = [commit.history for commit in ledger.histories.commits]
    families = _families(ledger.histories.histories)
    commits: dict[Name, int] = {}
    numbers: dict[int, int] = {}
    paths: dict[int, str] = {}
    ends: dict[tuple[str, int], list[int]] = {}
    for commit, path, version, created in ledger.read_log.versions:
        numbers[commit], paths[commit] = version, path
        commits[path, version, created] = commit
        if not version:
            ends.setdefault((path, families[history_of[commit]]), []).append(commit)
    known: dict[tuple[str, int], Acknowledged] = {}
    for write in ledger.writes:
        made = write.committed.commit
        if made in paths:
            family = families[history_of[made]]
            known.setdefault((paths[made], family), Acknowledged()).add(write.at_ns, made)
    hidden = HiddenVersionsOf(ledger, families, commits)
    times: list[int] = []
    stale: list[StaleRead] = []
    for read in ledger.read_log.reads:
        if read.version:
            shown = commits.get((read.path, read.version, read.created))
            family = -1 if shown is None else families[history_of[shown]]
        else:
            family = families[read.history] if read.history >= 0 else -1
            shown = max(_last_before(ends.get((path, family), []), read.next_commit) for path in (read.path, ANY))
        if shown is None or family < 0:
            continue
        times.append(read.at_ns)
        found = _judge(read, shown, known.get((read.path, family)), numbers) or hidden.judge(read, shown)
        stale += [found] if found is not None else []
    return JudgedReads(tuple(times), tuple(stale))


def _judge(
    read: AnsweredRead, shown: int, acknowledged: Acknowledged | None, numbers: dict[int, int]
) -> StaleRead | None:
    """Return a reading as a stale one when something newer than what it showed had been acknowledged before it."""
    if acknowledged is None:
        return None
    before = bisect_right(acknowledged.times_ns, read.started_ns)
    if not before or acknowledged.newest[before - 1] <= shown:
        return None
    first = bisect_right(acknowledged.newest, shown)
    newest, behind_ns = acknowledged.newest[before - 1], read.started_ns - acknowledged.times_ns[first]
    ends = (read.started_ns, read.at_ns, read.client, read.cluster, read.path)
    return StaleRead(*ends, read.version, numbers[newest], behind_ns)


def _last_before(commits: list[int], limit: int) -> int:
    """Return the last of some commits below a number; -1 for none."""
    place = bisect_left(commits, limit)
    return commits[place - 1] if place else -1


def _families(histories: list[History]) -> list[int]:
    """Return for each history the first of those that it belongs together with, through what histories contain."""
    family = list(range(len(histories)))
    for number, history in enumerate(histories):
        for inherited in history.inherited:
            one, other = sorted((family[number], family[inherited.history]))
            family = [one if each == other else each for each in family]
    return family
