"""Replaced entries: what became of the entries that a survivor never had, once their cluster follows another again.

1. They are those that the promotion missed, and those that the old primary made of the same history after it.
2. It is judged by what the old primary holds at the first instant at which it streams again, as a tree record has it:
   under each key that such an entry changed what the last of them left there, something else, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labkit.lab.measures.tree_record import LEAVES, MODE, REACH, TreeRecord
from labkit.lab.queries import STREAMING
from labkit.lab.records.histories import Commit, Digest
from labkit.lab.records.loss_and_outage import Promotion


class ReplacedEntries(NamedTuple):
    """A cluster streams again: from whom, when, how many entries the survivor never had, and what became of their keys.

    ``kept`` counts the keys that hold what those entries left, ``overwritten`` and ``deleted`` the others.
    """

    cluster: str
    upstream: str
    at_ns: int
    entries: int
    overwritten: int
    deleted: int
    kept: int


def replaced_entries(
    record: TreeRecord, promotions: Iterable[Promotion], commits: Sequence[Commit]
) -> list[ReplacedEntries]:
    """Return what became of the entries that each survivor never had, as far as their cluster streams again."""
    found = (_replaced(record, taken, commits) for taken in promotions if taken.old_primary)
    return [one for one in found if one is not None]


def _replaced(record: TreeRecord, taken: Promotion, commits: Sequence[Commit]) -> ReplacedEntries | None:
    numbers = [
        number
        for number, commit in enumerate(commits)
        if number in taken.missing or (commit.history == taken.old_history and number >= taken.next_commit)
    ]
    left: dict[str, Digest] = {key: leaf for number in numbers for key, leaf in commits[number].changes}
    mode, upstream = ("", ""), taken.survivor
    for kind, at_ns, cluster, *values in record.rows:
        if cluster != taken.old_primary or at_ns < taken.at_ns:
            continue
        if kind == MODE:
            mode = (values[0], values[1])
        elif kind == REACH:
            upstream = values[0]
        elif kind == LEAVES and mode == ("secondary", STREAMING) and left:
            held = dict(values[0])
            kept = sum(held.get(key) == leaf for key, leaf in left.items())
            deleted = sum(key not in held for key, leaf in left.items() if leaf is not None)
            gone = len(left) - kept - deleted
            return ReplacedEntries(cluster, upstream, at_ns, len(numbers), gone, deleted, kept)
    return None
