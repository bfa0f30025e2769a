"""The secondary of the model: states with one canonical form have one set of successor forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.parcels import ANSWER, LIFE, NOW, OLD, OLD_LIFE, REFUSAL, STREAM, Parcel
from labkit.proof.secondary import AT, MARK, Secondary, SecondarySide, Stored, canonical
from labkit.vault.replication.events import (
    Apply,
    AskUpstream,
    Moment,
    Pushed,
    Remember,
    Replace,
    StartTimer,
    TimerFired,
)
from labkit.vault.replication.state import DEAD_NS, Heartbeat, State

FEW, MANY = 400, 4_000


def begun(model: Any) -> list[Secondary]:
    """The secondary's states since it began to connect."""
    return [secondary for secondary in model.steps.secondaries.values if secondary.state.life]


def disguised(state: State, dice: Random) -> tuple[State, dict[int, int], int]:
    """A state with the same canonical form; what its serials are, and its clock."""
    serial, now_ns = dice.randrange(1_000, 2_000), dice.randrange(1, 10**12)
    serials = {NOW: serial, STREAM: serial - dice.randrange(1, 9), OLD: serial - 100, LIFE: 500, OLD_LIFE: 499}
    heartbeat = Heartbeat(
        dice.randrange(9), dice.randrange(9), 3, dice.randrange(9), ((9, 1),), dice.randrange(-1, now_ns), "x", "y"
    )
    raw = state._replace(
        serial=serial,
        life=serials[LIFE],
        stream=serials[state.stream] if state.stream else 0,
        heard_ns=now_ns,
        recheck_ns=dice.randrange(now_ns),
        divergences=dice.randrange(3),
        unanswered=dice.randrange(99),
        failures=dice.choice([n for n in range(5) if canonical(state._replace(failures=n)) == state]),
        loops=dice.randrange(4),
        heartbeat=heartbeat,
        last_start_ns=dice.randrange(9),
        last_remote_wal=dice.randrange(9),
        last_error=dice.choice(["", "lost"]),
    )
    return raw, serials, now_ns


def with_serials(given: Parcel, serials: dict[int, int]) -> Parcel:
    """A message with serials in place of their roles."""
    content = dict(given.content)
    for name in {"serial", "asked", "stream"} & set(content):
        in_life = name == "serial" and given.rpc == "echo" and given.kind != REFUSAL
        lives = {LIFE: serials[LIFE], OLD_LIFE: serials[OLD_LIFE]}
        content[name] = (lives if in_life else {0: 0, **serials})[content[name]]
    return given._replace(content=tuple(content.items()))


@pytest.mark.parametrize("pairs", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bounds", [Bounds(1, 1, 1, network="late"), Bounds(1, 0, 0, 1, "duplicating")], ids=str)
def test_states_with_one_form_have_one_set_of_successor_forms(
    searched: Callable[[Bounds], Any], bounds: Bounds, pairs: int
) -> None:
    model, _, _ = searched(bounds)
    steps, dice = model.steps, Random(7)
    secondaries = begun(model)
    parcels = [parcel for parcel in steps.messages.parcels if not parcel.goes_up]
    changed, plain, side = 0, SecondarySide(), Shifted()
    for _ in range(pairs):
        secondary, parcel = dice.choice(secondaries), dice.choice(parcels)
        raw, serials, now_ns = disguised(secondary.state, dice)
        side.now_ns = now_ns
        assert canonical(raw) == secondary.state
        expected = plain.receive(secondary, parcel)
        assert side.receive(secondary._replace(state=raw), with_serials(parcel, serials)) == expected
        changed += expected.secondary != secondary
        lost = TimerFired("heartbeat", serials[LIFE], Moment(now_ns + DEAD_NS, 0))
        assert side.step(secondary._replace(state=raw), lost) == plain.give_up(secondary)
        again = TimerFired("backoff", raw.serial, Moment(now_ns, 0))
        tried = side.step(secondary._replace(state=raw, backoff=False), again)
        assert tried == plain.try_again(secondary)
    assert changed > pairs // 50


class Shifted(SecondarySide):
    """The same side at another time."""

    now_ns = 0

    def step(self, secondary: Secondary, event: Any) -> Any:
        if isinstance(event, Pushed):  # nothing asks when it came
            return super().step(secondary, event)
        at = event.at if event.at != AT else Moment(self.now_ns, 5)
        return super().step(secondary, event._replace(at=at))


def test_a_start_forgets_what_is_not_stored(searched: Callable[[Bounds], Any]) -> None:
    model, _, _ = searched(Bounds(1, 1, 1, network="late"))
    starts: dict[Any, set[Any]] = {}
    for secondary in begun(model):
        start = SecondarySide().start(secondary)
        starts.setdefault((secondary.contents, secondary.stored), set()).add(start)

    assert len(starts) > 3
    assert all(len(same) == 1 for same in starts.values())


def test_timers_of_what_is_over_change_nothing(searched: Callable[[Bounds], Any]) -> None:
    model, _, _ = searched(Bounds(1, 1, 1, network="late"))
    for secondary in begun(model):
        for timer in (TimerFired("backoff", OLD, AT), TimerFired("heartbeat", OLD_LIFE, AT)):
            done = SecondarySide().step(secondary, timer)
            assert (done.secondary, done.sent) == (secondary, ())


def test_a_heartbeat_changes_nothing_but_what_is_unanswered(searched: Callable[[Bounds], Any]) -> None:
    model, _, _ = searched(Bounds(1, 1, 1, network="late"))
    beaten = 0
    for secondary in begun(model):
        if secondary.state.connection_state in ("connecting", "ready"):
            done = SecondarySide().beat(secondary, MARK)
            assert done.secondary == secondary
            assert [sent.rpc for sent in done.sent] == ["echo"]
            beaten += 1
    assert beaten > 10


def test_effects_are_carried_out() -> None:
    secondary = Secondary(State(), (("token/y", b"stray"),), Stored(addresses=("a",)))
    start = SecondarySide().start(secondary)

    assert start.secondary.state.connection_state == "connecting"
    assert start.secondary.state.serial == NOW
    (asked,) = start.sent
    assert (asked.rpc, asked.aside, asked.message()["serial"]) == ("guard_hash", True, NOW)
    lost = SecondarySide().give_up(start.secondary)
    assert lost.secondary.backoff
    assert not SecondarySide().try_again(lost.secondary).secondary.backoff
    assert asked.kind != ANSWER


@pytest.mark.parametrize("kept", [State(life=LIFE, serial=NOW), State(life=LIFE, serial=NOW, stream=STREAM)])
def test_a_canonical_form_is_that_of_a_new_state_but_for_what_a_step_depends_on(kept: State) -> None:
    raw, _, _ = disguised(kept._replace(complete=True, position=3), Random(7))

    assert canonical(raw) == kept._replace(complete=True, position=3)
    assert canonical(State()) == State(serial=NOW, life=OLD_LIFE)


def test_a_question_for_keys_asks_for_one() -> None:
    asks = AskUpstream("fetch_keys", "a", {"serial": 7, "keys": ["x", "y"], "limit_bytes": 9, "generation": 1}, False)
    (asked,) = SecondarySide(lambda state, event: (state._replace(serial=7), [asks])).try_again(BEGUN).sent

    assert asked.message() == {"serial": NOW, "keys": ["x", "y"], "limit_bytes": 0, "generation": 1}


@pytest.mark.parametrize(
    ("waits", "serial", "timer", "after"),
    [
        (True, NOW, None, True),
        (True, NOW + 1, None, False),
        (False, NOW, None, False),
        (False, NOW, ("backoff", NOW), True),
        (False, NOW, ("backoff", OLD), False),
        (False, NOW, ("heartbeat", NOW), False),
        (True, NOW, ("heartbeat", OLD), True),
    ],
)
def test_a_backoff_waits_until_another_question_is_open(
    waits: bool, serial: int, timer: tuple[str, int] | None, after: bool
) -> None:
    effects = [] if timer is None else [StartTimer(timer[0], timer[1], 1)]
    side = SecondarySide(lambda state, event: (state._replace(serial=serial), list(effects)))
    waiting = BEGUN._replace(backoff=waits)

    assert side.step(waiting, TimerFired("heartbeat", LIFE, AT)).secondary.backoff == after


BEGUN = Secondary(State(life=LIFE, serial=NOW, addresses=("a",)), (("token/y", b"stray"),), Stored(addresses=("a",)))


def taking(effect: Any, state: State, event: Any) -> tuple[State, list[Any]]:
    """A step that has one effect."""
    return state, [effect]


def test_what_is_applied_replaced_and_remembered_is_there_after_the_step() -> None:
    entries = ((1, (("logical/x", b"1"),)), (2, (("token/y", None), ("logical/x", b"2"))))
    effects = {
        "applied": (Apply(entries), (("logical/x", b"2"),), Stored(True, 2, ("a",), 0)),
        "replaced": (
            *(Replace((("token/y", b"7"), ("logical/x", b"1")), False, 4),),
            *((("logical/x", b"1"), ("token/y", b"7")), Stored(False, 4, ("a",), 0)),
        ),
        "remembered": (Remember(("b", "a"), 3), BEGUN.contents, Stored(False, None, ("b", "a"), 3)),
    }
    for what, (effect, contents, stored) in effects.items():
        done = SecondarySide(partial(taking, effect)).step(BEGUN, TimerFired("heartbeat", LIFE, AT))
        assert (done.secondary.contents, done.secondary.stored) == (contents, stored), what
        assert done.sent == ()
