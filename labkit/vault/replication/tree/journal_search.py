"""Journal search: where in its primary's journal a secondary stands, found by the guard of the state that it is in.

The search goes from the newest state backwards: the changes of one entry after another are taken out of the guard.
Each guard so found is kept (R16).
"""

from __future__ import annotations

from collections.abc import Mapping

from labkit.vault.replication.tree.generation import Entry, EntryRow, earlier, to_number
from labkit.vault.replication.tree.merkle import leaf_digest


def newest_with(
    guard: bytes, newest: bytes, numbers: range, backlog: Mapping[int, EntryRow], guards: dict[int, int]
) -> int | None:
    """Return the newest entry after which a state had a guard; None where none of these had.

    ``numbers`` go from the newest entry, after which the guard is ``newest``, to the one before the oldest of the
    backlog; ``guards`` are those that are kept.
    """
    wanted, number = int.from_bytes(guard, "big"), int.from_bytes(newest, "big")
    for entry in numbers:
        number = guards.setdefault(entry, number)
        if number == wanted:
            return entry
        if entry > numbers[-1] and entry - 1 not in guards:
            number ^= _difference(Entry(*backlog[entry]))
    return None


def _difference(entry: Entry) -> int:
    """Return what an entry changed the guard by."""
    difference = 0
    for key, _, after in entry.changes:
        if after is not None:
            difference ^= int.from_bytes(leaf_digest(key, after), "big")
    for _, _, leaf in earlier(entry):
        difference ^= to_number(leaf)
    return difference
