"""Spanning: what a file wants to be seen in any of its runs: ``sometimes`` and ``covers``, judged over all seeds.

One run gives its *sightings*, as plain values; ``spanned`` makes one verdict of those of a combination's runs.  Where
not all of its seeds are played they are listed and not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from labkit.scenario.measures import BROKEN, NOT_JUDGED, OK, UNKNOWN, VerdictRow

COVERS = "covers"


class Sighting(NamedTuple):
    """Of one run: the key in the file, what reports call it, what is wanted, and whether it was seen.

    None where nothing in the run could judge it.
    """

    key: str
    what: str
    wanted: str
    seen: bool | None


def spanned(runs: Iterable[tuple[Sighting, ...]], *, judged: bool = True) -> tuple[VerdictRow, ...]:
    """Return a row for each thing that is to be seen in any of some runs, which are all of a combination if judged.

    A condition is broken where it was true in none of them, and unknown where none could judge it; a situation that
    none reached is unknown.
    """
    found: dict[str, list[Sighting]] = {}
    for run in runs:
        for sighting in run:
            found.setdefault(sighting.key, []).append(sighting)
    return tuple(_rows(found.values(), judged))


def _rows(found: Iterable[list[Sighting]], judged: bool) -> Iterator[VerdictRow]:
    for many in found:
        key, what, wanted, _ = many[0]
        count = sum(sighting.seen is True for sighting in many)
        if count:
            status = OK
        elif key.startswith(f"{COVERS} ") or all(sighting.seen is None for sighting in many):
            status = UNKNOWN
        else:
            status = BROKEN
        yield VerdictRow(what, wanted, _measured(many, count, status), status if judged else NOT_JUDGED, key)


def _measured(many: list[Sighting], count: int, status: str) -> str:
    is_covered = many[0].key.startswith(f"{COVERS} ")
    seen = "reached" if is_covered else "true"
    if len(many) == 1:
        return seen if count else f"not {seen}" if is_covered or status == BROKEN else "never judged"
    if count:
        return f"{seen} in {count:,} of {len(many):,} runs"
    return f"{seen if is_covered or status == BROKEN else 'judged'} in none of {len(many):,} runs"
