"""The planted bugs: each is found, the control stays quiet, and the shipped code has nothing to find."""

from __future__ import annotations

import pytest

from labkit.proof.planted_bugs import PLANTED_BUGS, SOUND
from labkit.proof.replication import Replication
from labkit.proof.search import search

FOUND = {
    "gap-ignored": ("it streams at entry 2, and its contents are not those of that entry", 10),
    "stream-from-newest": ("it streams at entry 1, and its contents are not those of that entry", 8),
    "fetch-newest": ("it streams at entry 0, and its contents are not those of that entry", 6),
    "complete-between": ("it is complete, and its contents are those of no entry", 6),
    "deletions-forgotten": ("it streams at entry 0, and its contents are not those of that entry", 5),
    "stale-answer": ("it streams at entry 0, and its contents are not those of that entry", 11),
    "stale-stream": ("it streams at entry 3, and its contents are not those of that entry", 15),
}
"""{bug: (the property that it breaks, how many events it takes)}."""

SLOW = {"stale-stream"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FOUND])
def test_it_is_found_by_the_shortest_way(name: str) -> None:
    bug = PLANTED_BUGS[name]
    found, _ = search(Replication(bug.bounds, bug))

    assert (found.broken, len(found.way)) == FOUND[name]


@pytest.mark.parametrize("name", [name for name, bug in PLANTED_BUGS.items() if bug.harmless])
def test_what_is_harmless_is_quiet(name: str) -> None:
    bug = PLANTED_BUGS[name]
    found, _ = search(Replication(bug.bounds, bug))

    assert (found.exhausted, found.broken) == (True, "")


def test_every_bug_is_pinned() -> None:
    assert set(FOUND) == {name for name, bug in PLANTED_BUGS.items() if not bug.harmless}
    assert set(FOUND) > SLOW


@pytest.mark.parametrize("keeps_old", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_shipped_code_is_quiet_where_a_bug_is_looked_for(keeps_old: bool) -> None:
    found, _ = search(Replication(PLANTED_BUGS["stale-push"].bounds, SOUND._replace(keeps_old=keeps_old)))

    assert (found.exhausted, found.broken) == (True, "")


def test_what_is_not_ignored_is_noticed_where_it_is_dropped() -> None:
    bug = PLANTED_BUGS["stale-push"]._replace(keeps_old=False)
    model = Replication(bug.bounds, bug)
    search(model)

    assert model.steps.not_ignored() is not None
