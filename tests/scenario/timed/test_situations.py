"""Every situation is known from reports, is reached by a file that comes with labkit, and travels in a saved run."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.wire.reports import (
    REFUSED,
    UNKNOWN,
    AskEnded,
    LeaderTaken,
    ModeChanged,
    Observed,
    UpstreamFollowed,
)
from labkit.reference import entries
from labkit.scenario.expect_keys import OBSERVABLE
from labkit.scenario.loading import load
from labkit.scenario.measures import Seen
from labkit.scenario.timed.situations import BY_OBSERVATION, SITUATIONS, ReachedSituations, changes
from labkit.vault.replication.mode import TRANSITIONS as MODES
from labkit.vault.replication.state import TRANSITIONS as SYNC_STATES


@pytest.fixture
def reached() -> ReachedSituations:
    """All situations are wanted of a pair that does not replicate."""
    lab = Lab.pair()
    return ReachedSituations(SITUATIONS, Seen(lab.queries, lab.ledger, lab.invariants))


def take(reached: ReachedSituations, *found: Any) -> list[str]:
    for report in found:
        for judge in reached.judgements.get(type(report), ()):
            judge(report)
    return list(reached.names)


def test_every_change_of_mode_and_of_state_is_a_situation() -> None:
    tables = {(before, after) for table in (MODES, SYNC_STATES) for before in table for after in table[before].values()}
    missing = [pair for pair in sorted(tables) if pair[0] != pair[1] and " to ".join(pair) not in SITUATIONS]

    assert missing == []
    assert changes(SYNC_STATES)["idle to stream-wals"] == ["resume", "guard found"]
    assert SITUATIONS["disabled to primary"].about == "a cluster's mode changes: enable primary"


def test_every_situation_is_covered_by_a_file_that_comes_with_labkit(checkout: Path) -> None:
    """Each of these files is unknown where it does not reach what it covers; a test runs them all."""
    covered = {name for path in (checkout / "scenarios").rglob("*.lab.yaml") for name in load(path).covers}

    assert covered == set(SITUATIONS)


def test_the_page_has_every_situation() -> None:
    assert list(entries("situations")) == list(SITUATIONS)
    assert "a standby takes the lead" in entries("situations")["takeover"]


def test_modes_states_and_who_leads_are_seen_in_reports(reached: ReachedSituations) -> None:
    state = (("after", "merkle-sync"), ("because", "conflicts"), ("before", "merkle-diff"))
    found = take(
        reached,
        ModeChanged(1, "tokyo", "secondary", "idle"),
        ModeChanged(2, "tokyo", "secondary", "merkle-diff"),
        Observed(3, "tokyo-1", "sync_state", state),
        LeaderTaken(4, "paris", "paris-1", 2),
        ModeChanged(5, "tokyo", "primary", "running"),
    )

    assert found == ["disabled to secondary", "merkle-diff to merkle-sync", "secondary to primary"]
    assert "takeover" in take(reached, LeaderTaken(6, "paris", "paris-2", 3))


def test_a_secondary_is_repointed_by_another_activation_only(reached: ReachedSituations) -> None:
    first = UpstreamFollowed("tokyo", "paris", False, "a1", "tokyo")
    joined = take(reached, first, ModeChanged(1, "tokyo", "secondary", "idle"), first)

    assert "secondary to secondary" not in joined
    assert "secondary to secondary" in take(reached, first._replace(upstream="lima", activation="a2"))


def test_what_nodes_observe_and_operators_are_answered_is_seen(reached: ReachedSituations) -> None:
    rows = [Observed(1, "tokyo-1", kind, ()) for kind, _ in BY_OBSERVATION.values()]
    asks = [AskEnded(1, "paris-operator", "x", outcome, None) for outcome in (UNKNOWN, REFUSED)]  # type: ignore[arg-type]  # it has no answer to look at

    assert set(take(reached, *rows, *asks)) == {*BY_OBSERVATION, "in doubt", "refusal"}
    assert {kind for kind, _ in BY_OBSERVATION.values()} <= set(OBSERVABLE)


def test_only_what_a_file_wants_is_followed_and_only_as_long_as_it_runs() -> None:
    lab = Lab.pair()
    seen = Seen(lab.queries, lab.ledger, lab.invariants)
    nothing, one = ReachedSituations((), seen), ReachedSituations(("takeover",), seen)

    assert list(lab.invariants.followers) == [one]
    lab.crash("paris-1")
    lab.run("10s")
    assert list(one.sightings()) == [("takeover", True)]
    assert list(nothing.sightings()) == []
    again = ReachedSituations(("takeover",), seen, pickle.loads(pickle.dumps(one.state())))
    assert (again.state(), again.over) == (one.state(), False)
    again.close()
    one.close()
    assert list(lab.invariants.followers) == []
    assert ReachedSituations(("takeover",), seen, one.state()).over
    assert list(lab.invariants.followers) == []
