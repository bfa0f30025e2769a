"""The planted bugs: each is found, the control stays quiet, and the shipped code has nothing to find."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.election import Election, ElectionBounds
from labkit.proof.parcels import LIFE, NOW, OLD
from labkit.proof.planted_bugs import ELECTION, PLANTED_BUGS, SOUND
from labkit.proof.primary import SHARED
from labkit.proof.replication import Replication
from labkit.proof.search import search
from labkit.proof.secondary import AT
from labkit.vault.replication.events import Apply, Pushed, TimerFired
from labkit.vault.replication.state import State
from labkit.vault.replication.sync import on

FOUND = {
    "gap-ignored": ("it streams at entry 2, and its contents are not those of that entry", 10),
    "stream-from-newest": ("it streams at entry 1, and its contents are not those of that entry", 8),
    "fetch-newest": ("it streams at entry 0, and its contents are not those of that entry", 6),
    "complete-between": ("it is complete, and its contents are those of no entry", 6),
    "deletions-forgotten": ("it streams at entry 0, and its contents are not those of that entry", 5),
    "stale-answer": ("it streams at entry 0, and its contents are not those of that entry", 11),
    "stale-stream": ("it streams at entry 3, and its contents are not those of that entry", 15),
    "guards-never-compared": ("the primary begins a comparison, though its backlog has the secondary's guard", 6),
    "dead-connection-unnoticed": (
        "no heartbeat was answered for too long, and the secondary does not give the connection up",
        2,
    ),
    "lease-taken-early": ("node two takes the lease that node one holds for 1 s more", 5),
    "lease-renewed-for-another": ("node one renews the lease that node two holds under term 2", 6),
}
"""{bug: (the property that it breaks, how many events it takes)}."""

SLOW = {"stale-stream"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FOUND])
def test_it_is_found_by_the_shortest_way(name: str) -> None:
    bug = PLANTED_BUGS[name]
    model: Any = Election(ElectionBounds(), bug) if bug.machine == ELECTION else Replication(bug.bounds, bug)
    found, _ = search(model)

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


SEARCHED = {
    "gap-ignored": (Bounds(2, 1, network="losing"), False),
    "stream-from-newest": (Bounds(2, 1), False),
    "fetch-newest": (Bounds(2, 1), False),
    "complete-between": (Bounds(2, 1), False),
    "deletions-forgotten": (Bounds(2, 1), False),
    "stale-answer": (Bounds(1, 1, network="duplicating"), True),
    "stale-stream": (Bounds(3, 1, network="late"), True),
    "stale-push": (Bounds(1, 1, network="duplicating"), True),
    "guards-never-compared": (Bounds(2, 1), False),
    "dead-connection-unnoticed": (Bounds(2, 1), False),
    "lease-taken-early": (Bounds(), False),
    "lease-renewed-for-another": (Bounds(), False),
}
"""{bug: (the bounds that suffice to find it, whether messages about what is over stay in the search)}."""


def test_each_is_looked_for_within_bounds_that_suffice() -> None:
    assert {name: (bug.bounds, bug.keeps_old) for name, bug in PLANTED_BUGS.items()} == SEARCHED
    assert (SOUND.bounds, SOUND.keeps_old, SOUND.on) == (Bounds(), False, on)


CONNECTED = State(state="stream-wals", connection_state="ready", addresses=("a",))
STREAMING = CONNECTED._replace(complete=True, position=0, serial=NOW, stream=NOW, life=LIFE)
ENTRIES = ((1, ((SHARED, b"1"),)),)


@pytest.mark.parametrize("name", ["stale-stream", "stale-push"])
def test_a_push_of_an_earlier_stream_is_accepted_with_the_bug_only(name: str) -> None:
    bug = PLANTED_BUGS[name].on
    late = Pushed({"serial": OLD, "entries": ENTRIES})
    after, effects = bug(STREAMING, late)

    assert (after.stream, after.position, effects) == (NOW, 1, [Apply(ENTRIES)])
    assert on(STREAMING, late) == (STREAMING, [])


@pytest.mark.parametrize("name", FOUND)
def test_with_a_bug_everything_else_is_as_it_was(name: str) -> None:
    bug = PLANTED_BUGS[name].on
    own = Pushed({"serial": NOW, "entries": ENTRIES})

    for event in (own, TimerFired("heartbeat", LIFE, AT)):
        assert bug(STREAMING, event) == on(STREAMING, event) != (STREAMING, [])


def test_a_stream_that_is_over_does_not_begin_again() -> None:
    gone = Pushed({"serial": OLD, "gone": True})
    after, effects = PLANTED_BUGS["stale-stream"].on(STREAMING._replace(awaiting="guard_hash"), gone)

    assert (after.stream, effects) == (0, [])
