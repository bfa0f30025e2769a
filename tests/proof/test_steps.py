"""Steps are computed once, and one that raises is a state of its own."""

from __future__ import annotations

from typing import Any

from labkit.proof.primary import Primary, PrimarySide
from labkit.proof.secondary import STRAY, Secondary, SecondarySide, Stored
from labkit.proof.steps import Numbers, Steps
from labkit.proof.wire import Messages
from labkit.vault.replication.state import State
from labkit.vault.replication.sync import on

BEGUN = Secondary(State(), STRAY, Stored(addresses=("a",)))


def test_a_value_has_one_number() -> None:
    numbers: Numbers[str] = Numbers()

    assert [numbers.of(value) for value in ("x", "y", "x")] == [0, 1, 0]
    assert numbers.values == ["x", "y"]


def test_a_step_is_computed_once() -> None:
    calls = []

    def counting(state: State, event: Any) -> Any:
        calls.append(event)
        return on(state, event)

    steps = Steps(Messages(("a",)), PrimarySide(1), SecondarySide(counting))
    begun = steps.by_itself(steps.secondaries.of(BEGUN), "start")
    primary = steps.primaries.of(Primary())
    primary, (answer,) = steps.asked(primary, begun)
    before = len(calls)
    assert steps.received(begun.secondary, answer) is steps.received(begun.secondary, answer)
    assert len(calls) == before + 1
    assert steps.exchanges(primary, begun.secondary) is steps.exchanges(primary, begun.secondary)
    assert len(steps.exchanges(primary, begun.secondary)) == 1, "while the guard is asked for, heartbeats go aside"


def test_a_step_that_raises_ends_there_with_its_error() -> None:
    def failing(state: State, event: Any) -> Any:
        raise KeyError("x")

    steps = Steps(Messages(("a",)), PrimarySide(1), SecondarySide(failing))
    begun = steps.by_itself(steps.secondaries.of(BEGUN), "start")

    assert steps.secondaries.values[begun.secondary].error == "KeyError: 'x'"
    assert begun.sent == ()
