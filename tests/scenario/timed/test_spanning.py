"""What any run of a file is to show is judged over all of them, and only listed where not all are played."""

from __future__ import annotations

import pickle

import pytest

from labkit.scenario.timed.spanning import Sighting, spanned

CONDITION = Sighting("sometimes 1", "far behind", "sometimes lag at least 100", None)
SITUATION = Sighting("covers takeover", "takeover", "reached", False)


def of(sighting: Sighting, *seen: bool | None) -> list[tuple[Sighting, ...]]:
    return [(sighting._replace(seen=one),) for one in seen]


@pytest.mark.parametrize(
    ("sighting", "seen", "measured", "status"),
    [
        (CONDITION, (True,), "true", "ok"),
        (CONDITION, (False,), "not true", "broken"),
        (CONDITION, (None,), "never judged", "unknown"),
        (CONDITION, (False, True, None, True), "true in 2 of 4 runs", "ok"),
        (CONDITION, (False, None), "true in none of 2 runs", "broken"),
        (CONDITION, (None, None), "judged in none of 2 runs", "unknown"),
        (SITUATION, (True,), "reached", "ok"),
        (SITUATION, (False,), "not reached", "unknown"),
        (SITUATION, (False, True), "reached in 1 of 2 runs", "ok"),
        (SITUATION, (False,) * 1200, "reached in none of 1,200 runs", "unknown"),
    ],
)
def test_the_runs_of_a_combination_are_judged_together(
    sighting: Sighting, seen: tuple[bool | None, ...], measured: str, status: str
) -> None:
    (row,) = spanned(pickle.loads(pickle.dumps(of(sighting, *seen))))

    assert (row.key, row.what, row.expected) == (sighting.key, sighting.what, sighting.wanted)
    assert (row.measured, row.status) == (measured, status)


def test_where_not_all_seeds_are_played_they_are_listed_and_not_judged() -> None:
    rows = spanned(of(CONDITION, False, False), judged=False)

    assert [(row.measured, row.status) for row in rows] == [("true in none of 2 runs", "")]


def test_each_thing_has_one_row_in_the_order_of_the_file() -> None:
    runs = [(CONDITION, SITUATION), (CONDITION._replace(seen=True), SITUATION)]

    assert [row.key for row in spanned(runs)] == ["sometimes 1", "covers takeover"]
    assert spanned([]) == ()
