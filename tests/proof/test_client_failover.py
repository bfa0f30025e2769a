"""The model of a client: its counts, what silence means, and each property."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.hosts.client import Client
from labkit.proof.client_failover import ClientBounds, ClientFailover, Doing, Shopping, described
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
