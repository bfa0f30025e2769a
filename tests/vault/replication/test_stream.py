"""Stream and heartbeat: entries in order, loss noticed, clocks and canary read off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.vault.replication import stream, sync
from labkit.vault.replication.events import Apply, AskUpstream, Moment, Observe, Pushed, Remember, ReplyArrived
from labkit.vault.replication.state import Heartbeat, State
from labkit.vault.replication.sync import Stop

SECOND_NS = 1_000_000_000
AT = Moment(20 * SECOND_NS, 1_020 * SECOND_NS)

STREAMING = State(
    "stream-wals", "ready", ("a",), complete=True, position=4, life=2, serial=9, stream=9, secondary_id="s"
)


def push(*numbers: int, serial: int = 9) -> Pushed:
    entries = [[number, [["logical/a", b"%d" % number], ["logical/b", None]]] for number in numbers]
    return Pushed({"serial": serial, "entries": entries}, AT)


def echo(**said: Any) -> ReplyArrived:
    """The answer of a heartbeat sent four seconds ago, everything pushed and applied."""
    answer = {
        "serial": 2,
        "sent_ns": 16 * SECOND_NS,
        "asked": 9,
        "wall_ns": 1_018 * SECOND_NS,
        "api_addr": "http://api",
        "cluster_addr": "a",
        "cluster_addrs": ["a"],
        "last_wal": 4,
        "stream": 9,
        "sent": 4,
        "guard": b"same",
        "own_guard": b"same",
    }
    return ReplyArrived("echo", {**answer, **said}, AT)


def asks(effects: list[Any]) -> list[str]:
    return [effect.rpc for effect in effects if isinstance(effect, AskUpstream)]


def kinds(effects: list[Any]) -> list[str]:
    return [effect.kind for effect in effects if isinstance(effect, Observe)]


# ---- the stream -------------------------------------------------------------------------------------------


def test_entries_are_applied_one_by_one_and_move_the_position() -> None:
    state, effects = stream.pushed(STREAMING, push(5, 6))

    assert effects == [
        Apply(
            (
                (5, (("logical/a", b"5"), ("logical/b", None))),
                (6, (("logical/a", b"6"), ("logical/b", None))),
            )
        )
    ]
    assert (state.position, state.last_remote_wal, state.heard_ns) == (6, 6, AT.now_ns)


def test_a_gap_asks_by_guard_after_what_came_before_it() -> None:
    state, effects = stream.pushed(STREAMING, push(5, 7))

    assert isinstance(effects[0], Apply)
    assert [entry[0] for entry in effects[0].entries] == [5]
    assert effects[1] == Observe("stream_gap", {"expected": 6, "came": 7})
    assert asks(effects) == ["guard_hash"]
    assert (state.state, state.position, state.stream) == ("stream-wals", 5, 0)


def test_what_is_known_already_is_passed_over() -> None:
    state, effects = stream.pushed(STREAMING, push(3, 4))
    assert (state.position, effects) == (4, [])
    state, effects = stream.pushed(STREAMING, push(3, 4, 5))
    assert state.position == 5
    assert asks(effects) == []


def test_a_push_agrees_to_the_stream_when_the_answer_is_late() -> None:
    state, _ = stream.pushed(STREAMING._replace(awaiting="stream_wals"), push(5))

    assert (state.awaiting, state.position) == ("", 5)


def test_a_push_of_another_stream_is_ignored() -> None:
    assert stream.pushed(STREAMING, push(5, serial=8)) == (STREAMING, [])


def test_a_stream_that_lost_its_place_starts_again() -> None:
    state, effects = stream.pushed(STREAMING, Pushed({"serial": 9, "gone": True}, AT))

    assert kinds(effects) == ["generation_gone"]
    assert asks(effects) == ["guard_hash"]
    assert state.stream == 0


# ---- the heartbeat ----------------------------------------------------------------------------------------


def test_a_heartbeat_tells_what_was_measured_last() -> None:
    beat = Heartbeat(duration_ns=12_345_678, clock_skew_ns=-1_000_000, canary_ns=1_019_500_000_000)
    state = STREAMING._replace(heartbeat=beat, last_remote_wal=4)

    assert stream.heartbeat(state, AT) == {
        "serial": 2,
        "secondary_id": "s",
        "sent_ns": 20 * SECOND_NS,
        "stream": 9,
        "state": "stream-wals",
        "last_remote_wal": 4,
        "last_heartbeat_duration_ms": 12,
        "clock_skew_ms": -1,
        "replication_primary_canary_age_ms": 500,
    }
    assert stream.heartbeat(state._replace(awaiting="stream_wals"), AT)["stream"] == 0


def test_the_answer_gives_duration_skew_and_canary() -> None:
    """Sent at 1016 s by the own clock, answered at 1018 s by the other, back at 1020 s: no skew."""
    state, effects = stream.echoed(STREAMING, echo())

    assert effects == []
    beat = state.heartbeat
    assert (beat.duration_ns, beat.clock_skew_ns, beat.last_wall_ns) == (4 * SECOND_NS, 0, AT.wall_ns)
    assert sync.canary_age_ms(state, AT.wall_ns) == 2_000
    assert (beat.api_addr, beat.cluster_addr) == ("http://api", "a")


@pytest.mark.parametrize("ahead_s", [90, -1])
def test_skew_is_how_far_this_clock_is_ahead(ahead_s: int) -> None:
    state, _ = stream.echoed(STREAMING, echo(wall_ns=(1_018 - ahead_s) * SECOND_NS))

    assert state.heartbeat.clock_skew_ns == ahead_s * SECOND_NS


def test_the_canary_is_seen_once_all_before_it_was_applied() -> None:
    state, _ = stream.echoed(STREAMING, echo(last_wal=5, sent=5, wall_ns=11))
    state, _ = stream.echoed(state, echo(last_wal=7, sent=7, wall_ns=22))
    assert state.heartbeat.canary_ns is None
    state, _ = stream.pushed(state, push(5))
    assert state.heartbeat.canary_ns == 11
    state, _ = stream.pushed(state, push(6))
    assert state.heartbeat.canary_ns == 11
    state, _ = stream.pushed(state, push(7))
    assert (state.heartbeat.canary_ns, state.heartbeat.canaries) == (22, ())


def test_canaries_on_their_way_are_bounded() -> None:
    state = STREAMING
    for number in range(200):
        state, _ = stream.echoed(state, echo(last_wal=5 + number, wall_ns=number))

    assert len(state.heartbeat.canaries) == stream.MAX_CANARIES


def test_addresses_are_learned_and_the_one_in_use_stays_first() -> None:
    state = STREAMING._replace(addresses=("b", "x"), primary_cluster_addr="given")
    state, effects = stream.echoed(state, echo(cluster_addrs=["a", "b", "c"]))

    assert state.addresses == ("b", "a", "c", "given")
    assert effects == [Remember(("b", "a", "c", "given"))]
    assert stream.echoed(state, echo(cluster_addrs=["c", "b", "a"]))[1] == []


def test_an_upstream_that_forgot_the_stream_is_asked_again() -> None:
    _, effects = stream.echoed(STREAMING, echo(stream=0, sent=0))

    assert kinds(effects) == ["stream_forgotten"]
    assert asks(effects) == ["guard_hash"]


def test_a_heartbeat_from_before_the_stream_judges_nothing() -> None:
    assert stream.echoed(STREAMING, echo(asked=0, stream=0))[1] == []
    waiting = STREAMING._replace(awaiting="stream_wals")
    assert stream.echoed(waiting, echo(stream=0))[1] == []


def test_what_never_comes_is_loss_and_patience_doubles() -> None:
    state, patience_s = STREAMING, []
    for _ in range(3):
        for second in range(100):
            at = Moment(second * SECOND_NS, 0)
            state, effects = stream.echoed(state, echo(sent=6, last_wal=6)._replace(at=at))
            if effects:
                break
        patience_s.append(second)
        assert kinds(effects) == ["stream_stalled"]
        state = state._replace(stream=9, awaiting="", owed=None)

    assert patience_s == [2, 4, 8]
    assert stream.pushed(state, push(5))[0].losses == 0


def test_progress_is_no_loss() -> None:
    state = STREAMING
    for number in range(5, 60):
        at = Moment(number * SECOND_NS, 0)
        state, effects = stream.echoed(state, echo(sent=1_000, last_wal=1_000)._replace(at=at))
        assert effects == []
        state, _ = stream.pushed(state, push(number))


def test_other_contents_at_the_same_position_are_found_ever_less_often() -> None:
    state, found_s = STREAMING, []
    for second in range(60):
        at = Moment(second * SECOND_NS, 0)
        state, effects = stream.echoed(state, echo(own_guard=b"other")._replace(at=at))
        if effects:
            found_s.append(second)
            assert kinds(effects) == ["contents_differ"]
            assert asks(effects) == ["guard_hash"]
        state = state._replace(stream=9, awaiting="")

    assert found_s == [0, 2, 6, 14, 30]
    state, _ = stream.echoed(state, echo())
    assert (state.divergences, state.loops) == (0, 0)


def test_guards_are_compared_at_the_same_position_alone() -> None:
    assert stream.echoed(STREAMING, echo(sent=3, own_guard=b"other"))[1] == []
    assert stream.echoed(STREAMING, echo(guard=b"", own_guard=b"other"))[1] == []


def test_a_skewed_clock_shows_in_the_whole(make_world: Callable[..., Any]) -> None:
    world = make_world(wall_skew_ns=90 * SECOND_NS)
    world.write({"logical/a": b"1"})
    world.start()
    world.settle()
    world.run(lambda: world.state.heartbeat.last_wall_ns is not None)

    assert world.state.heartbeat.clock_skew_ns == 90 * SECOND_NS
    assert sync.canary_age_ms(world.state, world.at().wall_ns) == 90_000
    world.happen(Stop("sealed", world.at(), shut=True))
    assert world.state.heartbeat == Heartbeat()


def test_a_canary_more_than_fits_is_not_noted() -> None:
    full = tuple((5 + number, number) for number in range(stream.MAX_CANARIES - 1))
    state = STREAMING._replace(heartbeat=Heartbeat(canaries=full))
    state, _ = stream.echoed(state, echo(last_wal=900, wall_ns=1))
    assert state.heartbeat.canaries[-1] == (900, 1)
    state, _ = stream.echoed(state, echo(last_wal=901, wall_ns=2))
    assert state.heartbeat.canaries == (*full, (900, 1))
    state, _ = stream.echoed(STREAMING._replace(position=None), echo(last_wal=900))
    assert state.heartbeat.canaries == ()


@pytest.mark.parametrize(("connection", "heard_ns"), [("ready", 20 * SECOND_NS), ("connecting", 0)])
def test_an_answer_is_heard_on_a_connection_that_is_ready(connection: str, heard_ns: int) -> None:
    state, _ = stream.echoed(STREAMING._replace(connection_state=connection), echo())

    assert state.heard_ns == heard_ns
