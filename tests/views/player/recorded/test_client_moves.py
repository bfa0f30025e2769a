"""Client moves: clients turn where their requests say, and are silent about no answer that came."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.plan.blueprint import ClientPlan
from labkit.views.player.recorded.carried_messages import Carried, messages_of
from labkit.views.player.recorded.client_moves import client_moves
from tests.views.player.scripts import random_labs


def messages(lab: Lab) -> list[Carried]:
    return messages_of(RecordedRun(lab.parts.trace, lab.parts.ledger, lab.queries))


def check(lab: Lab, where: str) -> int:
    """Recompute each move from the messages of the first client that made it; return how many there are."""
    every = messages(lab)
    moves = client_moves(every, lab.blueprint.clients)
    for move in moves:
        client = move.clients[0]
        asked = sorted(
            (one for one in every if one.source == client and one.what == "request"), key=lambda one: one.sent_ns
        )
        before = [one for one in asked if one.sent_ns < move.at_ns]
        at = [one for one in asked if one.sent_ns == move.at_ns]
        assert move.target in {one.target for one in at}, where
        assert move.source in {one.target for one in [*before[-1:], *at]}, where
        if move.unanswered >= 0:
            (waited_for,) = (one for one in every if one.row == move.unanswered)
            assert (waited_for.source, waited_for.target) == (client, move.source), where
            assert waited_for.sent_ns + move.timeout_ns <= move.at_ns, where
            came = [
                one
                for one in every
                if (one.source, one.target, one.lost) == (move.source, client, False)
                and waited_for.sent_ns < one.at_ns <= move.at_ns
            ]
            assert came == [], where
            assert f"as {move.source} answers nothing within " in move.words, where
    return len(moves)


def test_clients_of_a_lost_primary_walk_through_its_nodes(drilled_lab: Lab) -> None:
    assert check(drilled_lab, "drill") >= 3
    crash = drilled_lab.trace.select("fault", verb="crash")[0].at_ns
    moves = [move for move in client_moves(messages(drilled_lab), drilled_lab.blueprint.clients) if move.at_ns > crash]
    way = [move.source for move in moves[:3]]

    assert way == ["paris-1", "paris-2", "paris-3"]
    assert moves[2].target == "tokyo-1"
    assert [move.unanswered >= 0 for move in moves[:3]] == [True, True, False], "paris-3 is back by then, and sealed"
    assert moves[2].words.endswith("after an answer of paris-3")
    first = moves[0]
    assert first.words.startswith(f"{first.clients[0]} asks paris-2 next")
    assert first.words.endswith(f"as paris-1 answers nothing within {first.timeout_ns / 1e9:g} s")
    everyone = {name for group in drilled_lab.blueprint.clients for name in group.names}
    assert set(first.clients) <= everyone


def test_who_answers_is_not_said_to_be_silent() -> None:
    ends = [("c-1", "a", "request", 0, 5), ("a", "c-1", "response", 5, 9), ("c-1", "b", "request", 10, 12)]
    said = [
        Carried(sent, at, source, target, what, False, row, at)
        for row, (source, target, what, sent, at) in enumerate(ends)
    ]
    plan = Lab.pair().blueprint.clients
    group = ClientPlan(name="c", site="lisbon", use=("paris",), count=1, timeout_ns=4)
    (move,) = client_moves(said, [*plan, group])
    assert (move.source, move.target, move.unanswered) == ("a", "b", -1)
    assert move.words == "c-1 asks b next, after an answer of a"
    assert client_moves(said, [*plan, ClientPlan(name="c", site="lisbon", use=("paris",), check_ns=10)]) == []


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 50), marks=pytest.mark.slow)])
def test_in_random_labs_too(seeds: range) -> None:
    assert sum(check(lab, f"seed {seed}") for seed, lab in random_labs(seeds)) >= len(seeds) // 3
