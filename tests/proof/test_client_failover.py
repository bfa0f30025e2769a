"""The model of a client: its counts, what silence means, and each property."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.hosts.client import Client
from labkit.proof.client_failover import REACTIONS, ClientBounds, ClientFailover, Doing, Shopping, described
from labkit.proof.search import search, stuck


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        (ClientBounds(1, 1), (563, 1927, 9)),
        pytest.param(ClientBounds(1, 2), (5004, 25056, 12), marks=pytest.mark.slow),
        pytest.param(ClientBounds(2, 1), (4148, 15350, 13), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_an_operation_is_searched_to_the_end(bounds: ClientBounds, counts: tuple[int, int, int]) -> None:
    model = ClientFailover(bounds)
    found, reached = search(model)

    assert (found.exhausted, found.broken) == (True, "")
    assert found[:3] == counts
    assert stuck(model, reached) is None
    assert {state.outcome for state in reached.states} == {"", "answered", "refused", "unknown"}


def test_silence_that_is_forgotten_ends_as_refused_what_was_done() -> None:
    found, _ = search(ClientFailover(ClientBounds(1, 1, forgets_silence=True)))

    assert found.broken == "the operation ends as refused, and it had an effect"
    assert len(found.way) == 5
    assert described(found.way[0]) == "A node is asked: paris-1 carries it out."
    assert described(Doing("tried again")) == "The client tries again."


def test_an_operation_that_ends_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    end = Client._end

    def keeping(client: Client, operation: Any, kind: str, correlation: Any, response: Any = None) -> Any:
        effects = end(client, operation, kind, correlation, response)
        client.pending[operation.number] = operation
        return effects

    monkeypatch.setattr(Client, "_end", keeping)
    found, _ = search(ClientFailover(ClientBounds(1, 0)))

    assert "had ended as" in found.broken


def test_an_answer_that_shows_no_effect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(client: Client, correlation: Any, response: Any, now_ns: int) -> Any:
        operation = client.pending.get(correlation.number)
        return [] if operation is None else client._end(operation, "answered", correlation)

    monkeypatch.setattr(Client, "on_answer", answered)
    found, _ = search(ClientFailover(ClientBounds(1, 0)))

    assert found.broken == "the operation ends as answered, and that answer was none of its effect"


def test_attempts_without_end_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fail = Client._fail

    def tireless(client: Client, operation: Any, onward: int | None = None) -> Any:
        number = operation.attempts
        effects = fail(client, operation._replace(attempts=0), onward)
        client.pending[1] = client.pending[1]._replace(attempts=number)
        return effects

    monkeypatch.setattr(Client, "_fail", tireless)
    found, _ = search(ClientFailover(ClientBounds(1, 0)), 50_000)

    assert found.broken == "the operation is attempted 4 times"


def test_a_client_waits_for_an_answer_only_while_a_node_is_asked() -> None:
    model = ClientFailover(ClientBounds(1, 1))
    states = [state for state in search(model)[1].states if not state.outcome]
    waits = {bool(model._client(state).deadlines) for state in states if len(state.client) > 1 and state.client[3]}
    pauses = {bool(model._client(state).deadlines) for state in states if len(state.client) > 1 and not state.client[3]}

    assert (waits, pauses) == ({True}, {False})
    assert model._client(Shopping((2,))).deadlines == {}
    assert model._client(Shopping((2,))).position == 2


def test_what_happens_and_the_bounds_are_written_out() -> None:
    assert described(Doing("asked", "paris-1 refuses it")) == "A node is asked: paris-1 refuses it."
    assert described(Doing("arrived", "to attempt 1: refuses it")) == "An answer arrives to attempt 1: refuses it."
    assert described(Doing("timed out", "paris-1")) == "The time for an answer of paris-1 is over."
    assert str(ClientBounds()) == "2 clusters of 2 nodes, 2 further attempts"


def test_a_node_reacts_as_nodes_do_and_may_name_every_other_one() -> None:
    assert {reaction.status for reaction in REACTIONS} == {200, 307, 400, 503}
    assert [reaction.about for reaction in REACTIONS if reaction.effect] == [
        *("carries it out", "forwards it, and loses that after it is carried out")
    ]
    model = ClientFailover(ClientBounds(2, 0))
    asked = [(doing, shopping) for doing, shopping in model.successors(model.start()) if doing.kind == "asked"]
    named = [shopping.answers[0].leader for _, shopping in asked if shopping.answers[0].leader]
    assert named == ["paris-2", "tokyo-1", "tokyo-2"]
    assert len(asked) == len(REACTIONS) + 2
    assert all(shopping.asked == () for _, shopping in asked)
    assert model.successors(model.start()._replace(broken="x")) == []


def test_an_effect_after_the_end_breaks_what_was_refused_and_nothing_else() -> None:
    model = ClientFailover(ClientBounds(1, 0))
    for outcome, broken in (("refused", True), ("answered", False), ("unknown", False)):
        over = Shopping((0,), asked=((1, "paris-1"),), outcome=outcome)
        found = {doing.about: shopping.broken for doing, shopping in model.successors(over)}
        assert bool(found["paris-1 carries it out"]) == broken
        assert found["paris-1 refuses it"] == ""
