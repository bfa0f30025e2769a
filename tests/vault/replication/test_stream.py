"""Stream and heartbeat: entries in order, loss noticed, clocks and canary read off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.vault.replication import stream, sync
from labkit.vault.replication.events import (
    LEAVES,
    NODES,
    NOTHING,
    Apply,
    AskUpstream,
    Moment,
    Observe,
    Pushed,
    Reindexed,
    Remember,
    ReplyArrived,
)
from labkit.vault.replication.state import Heartbeat, State, Work, ready_to_promote
from labkit.vault.replication.sync import Stop

SECOND_NS = 1_000_000_000
AT = Moment(20 * SECOND_NS, 1_020 * SECOND_NS)

STREAMING = State(
    "stream-wals", "ready", ("a",), complete=True, position=4, life=2, serial=9, stream=9, secondary_id="s", term=3
)


def push(*numbers: int, serial: int = 9) -> Pushed:
    entries = tuple([(number, (("logical/a", b"%d" % number), ("logical/b", None))) for number in numbers])
    return Pushed({"serial": serial, "entries": entries})


def echo(**said: Any) -> ReplyArrived:
    """The answer of a heartbeat sent four seconds ago, everything pushed and applied."""
    answer = {
        "serial": 2,
        "sent_ns": 16 * SECOND_NS,
        "asked": 9,
        "aside": False,
        "wall_ns": 1_018 * SECOND_NS,
        "api_addr": "http://api",
        "cluster_addr": "a",
        "cluster_addrs": ["a"],
        "term": 3,
        "last_wal": 4,
        "stream": 9,
        "sent": 4,
        "guard": b"same",
        "own_guard": b"same",
        "roots": [],
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
    assert (state.position, state.last_remote_wal) == (6, 6)


def test_a_gap_asks_by_guard_after_what_came_before_it() -> None:
    state, effects = stream.pushed(STREAMING, push(5, 7))

    assert isinstance(effects[0], Apply)
    assert [entry[0] for entry in effects[0].entries] == [5]
    assert effects[1] == Observe("stream_gap", {"expected": 6, "came": 7})
    assert asks(effects) == ["guard_hash"]
    assert (state.state, state.position, state.awaiting) == ("stream-wals", 5, "guard_hash")


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
    state, effects = stream.pushed(STREAMING, Pushed({"serial": 9, "gone": True}))

    assert kinds(effects) == ["generation_gone"]
    assert asks(effects) == ["guard_hash"]
    assert state.awaiting == "guard_hash"


# ---- the heartbeat ----------------------------------------------------------------------------------------


def test_a_heartbeat_tells_what_was_measured_last() -> None:
    beat = Heartbeat(duration_ns=12_345_678, clock_skew_ns=-1_000_000, canary_ns=1_019_500_000_000)
    state = STREAMING._replace(heartbeat=beat, last_remote_wal=4)

    assert stream.heartbeat(state, AT, aside=True) == {
        "serial": 2,
        "secondary_id": "s",
        "sent_ns": 20 * SECOND_NS,
        "asked": 9,
        "aside": True,
        "position": 4,
        "state": "stream-wals",
        "last_remote_wal": 4,
        "last_heartbeat_duration_ms": 12,
        "clock_skew_ms": -1,
        "replication_primary_canary_age_ms": 500,
    }


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
    state, _ = stream.echoed(STREAMING, echo(last_wal=5, aside=True, wall_ns=9, sent_ns=1))
    state, _ = stream.echoed(state, echo(last_wal=5, aside=True, wall_ns=11, sent_ns=2))
    state, _ = stream.echoed(state, echo(last_wal=7, aside=True, wall_ns=22, sent_ns=3))
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
        state, _ = stream.echoed(state, echo(last_wal=5 + number, wall_ns=number, sent_ns=number))

    assert len(state.heartbeat.canaries) == stream.MAX_CANARIES


def test_addresses_are_learned_and_the_one_in_use_stays_first() -> None:
    state = STREAMING._replace(addresses=("b", "x"), primary_cluster_addr="given")
    state, effects = stream.echoed(state, echo(cluster_addrs=["a", "b", "c"]))

    assert state.addresses == ("b", "a", "c", "given")
    assert effects == [Remember(("b", "a", "c", "given"), 3)]
    assert stream.echoed(state, echo(cluster_addrs=["c", "b", "a"]))[1] == []


def test_an_upstream_that_forgot_the_stream_is_asked_again() -> None:
    _, effects = stream.echoed(STREAMING, echo(stream=0, sent=0))

    assert kinds(effects) == ["stream_forgotten"]
    assert asks(effects) == ["guard_hash"]


def test_a_heartbeat_from_before_the_stream_judges_nothing() -> None:
    assert stream.echoed(STREAMING, echo(asked=8, stream=0))[1] == []
    waiting = STREAMING._replace(awaiting="stream_wals")
    assert stream.echoed(waiting, echo(asked=8, stream=0))[1] == []


def test_the_latest_that_was_answered_is_what_clocks_are_read_off() -> None:
    """A mark that waited for minutes shows how long it waited, and nothing of the clocks."""
    state, _ = stream.echoed(STREAMING, echo(aside=True, sent_ns=18 * SECOND_NS, wall_ns=1_019 * SECOND_NS))
    late, _ = stream.echoed(state, echo(sent_ns=1, wall_ns=2, api_addr="http://old"))

    assert late.heartbeat == state.heartbeat


def test_an_answer_to_a_heartbeat_that_is_not_sent_yet_shows_nothing() -> None:
    state, _ = stream.echoed(STREAMING, echo(sent_ns=AT.now_ns + 1))
    assert state.heartbeat == Heartbeat(last_wall_ns=AT.wall_ns)
    assert stream.echoed(state, echo())[0].heartbeat.duration_ns == 4 * SECOND_NS


# ---- marks


def beats(state: State, count: int) -> tuple[State, list[list[bool]]]:
    """Send heartbeats of which no mark is answered; return how each second's went: aside or not."""
    ways: list[list[bool]] = []
    for _ in range(count):
        state, effects = stream.beat(state, AT)
        ways.append([effect.aside for effect in effects if isinstance(effect, AskUpstream)])
    return state, ways


def test_with_no_mark_under_way_the_heartbeat_is_one() -> None:
    state = STREAMING
    for _ in range(5):
        state, ways = beats(state, 1)
        assert ways == [[False]]
        state, _ = stream.echoed(state, echo())


def test_while_a_mark_is_under_way_heartbeats_go_aside_with_marks_ever_less_often() -> None:
    _, ways = beats(STREAMING, 40)

    assert [second for second, sent in enumerate(ways, 1) if False in sent] == [1, 4, 8, 16, 32]
    assert all(True in sent for sent in ways[1:])


def test_an_answer_from_aside_ends_no_mark() -> None:
    state, _ = beats(STREAMING._replace(heartbeat=Heartbeat(sent_ns=15 * SECOND_NS)), 3)
    state, _ = stream.echoed(state, echo(aside=True))
    assert state.unanswered == 3
    assert stream.echoed(state, echo())[0].unanswered == 0


@pytest.mark.parametrize(("seconds", "left"), [(1, 30), (2, 30), (3, 0), (9, 0)])
def test_after_two_heartbeats_without_an_answer_the_next_is_a_mark(seconds: int, left: int) -> None:
    beat = Heartbeat(sent_ns=(20 - seconds) * SECOND_NS)
    state = STREAMING._replace(unanswered=30, heartbeat=beat)
    state, _ = stream.echoed(state, echo(aside=True, sent_ns=20 * SECOND_NS))

    assert state.unanswered == left
    assert beats(state, 1)[1] == ([[False]] if left == 0 else [[True]])


def test_heartbeats_after_the_guard_are_its_marks() -> None:
    asking = STREAMING._replace(awaiting="guard_hash")
    assert beats(asking, 5) == (asking, [[True]] * 5)
    for aside in (True, False):
        _, effects = stream.echoed(asking, echo(aside=aside))
        assert asks(effects) == (["guard_hash"] if aside else [])
        assert kinds(effects) == (["question_lost"] if aside else [])


@pytest.mark.parametrize("rpc", ["conflicting_pages", "sub_page_hashes", "fetch_keys", "stream_wals"])
def test_a_mark_that_is_answered_before_the_question_proves_that_it_was_lost(rpc: str) -> None:
    asking = STREAMING._replace(awaiting=rpc, stream=0)
    _, effects = stream.echoed(asking, echo())
    assert (kinds(effects), asks(effects)) == (["question_lost"], ["guard_hash"])
    for proves_nothing in (echo(aside=True), echo(asked=8)):
        assert stream.echoed(asking, proves_nothing)[1] == []


def test_a_guard_that_is_asked_about_is_asked_again_once_entries_arrived() -> None:
    """The answer would be about contents that are not there any more."""
    asking = STREAMING._replace(awaiting="guard_hash", serial=10)
    state, effects = stream.pushed(asking, push(5))

    assert (state.position, state.serial, asks(effects)) == (5, 11, ["guard_hash"])
    assert stream.pushed(asking, push(6)) == (asking, []), "a gap is what it asks about"


@pytest.mark.parametrize("connection", ["connecting", "transient_failure"])
def test_what_was_pushed_before_the_connection_was_lost_still_counts(connection: str) -> None:
    lost = STREAMING._replace(connection_state=connection, serial=10)
    state, effects = stream.pushed(lost, push(5))
    assert (state.position, state.connection_state, asks(effects)) == (5, connection, [])
    assert stream.pushed(lost, push(7)) == (lost, [])
    assert stream.pushed(lost, Pushed({"serial": 9, "gone": True})) == (lost._replace(stream=0), [])


def test_a_mark_that_names_an_entry_that_is_not_here_proves_that_it_was_lost() -> None:
    state, effects = stream.echoed(STREAMING, echo(sent=6, last_wal=6))

    assert (kinds(effects), asks(effects)) == (["entries_lost"], ["guard_hash"])
    assert state.position == 4


def test_a_mark_that_names_an_earlier_entry_proves_that_what_came_was_never_pushed() -> None:
    _, effects = stream.echoed(STREAMING, echo(sent=3, last_wal=3))

    assert (kinds(effects), asks(effects)) == (["entries_unknown"], ["guard_hash"])
    assert stream.echoed(STREAMING, echo(sent=3, aside=True))[1] == [], "later entries may have passed it by"


def test_what_takes_long_is_no_loss() -> None:
    state = STREAMING
    for second in range(5, 10_000):
        at = Moment(second * SECOND_NS, 0)
        answer = echo(sent=1_000, last_wal=1_000, aside=True, sent_ns=(second - 1) * SECOND_NS)
        state, effects = stream.echoed(state, answer._replace(at=at))
        assert effects == []
    assert state.heard_ns == 9_999 * SECOND_NS


def test_other_contents_at_the_same_position_are_found_ever_less_often() -> None:
    state, found_s = STREAMING, []
    for second in range(60):
        at = Moment(second * SECOND_NS, 0)
        state, effects = stream.echoed(state, echo(own_guard=b"other")._replace(at=at))
        if effects:
            found_s.append(second)
            assert kinds(effects) == ["contents_differ"]
            assert asks(effects) == ["guard_hash"]
        state = state._replace(serial=9, awaiting="")

    assert found_s == [0, 2, 6, 14, 30]
    state, _ = stream.echoed(state, echo())
    assert (state.divergences, state.loops) == (0, 0)


def test_a_difference_that_damage_upstream_explains_is_not_looked_into_again() -> None:
    state = STREAMING._replace(missing="named", damaged=("logical/a",))
    unlike = {"guard": b"\x05\x01", "own_guard": b"\x05\x00"}
    for answer in (echo(**unlike), echo(guard=b"\x07\x01", own_guard=b"\x07\x00"), echo(**unlike)):
        state, effects = stream.echoed(state, answer)
        assert (effects, state.missing, state.divergences) == ([], "0001", 0)

    _, effects = stream.echoed(state, echo(guard=b"\x06\x01", own_guard=b"\x05\x00"))
    assert (kinds(effects), asks(effects)) == (["contents_differ"], ["guard_hash"])
    state, effects = stream.echoed(state, echo())
    assert (state.missing, state.damaged, effects) == ("", (), [])


def test_guards_are_compared_at_the_same_position_alone() -> None:
    assert stream.echoed(STREAMING, echo(sent=3, own_guard=b"other", aside=True))[1] == []
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


# ---- roots


UNLIKE = {"roots": [b"a", b"b", b"c"], "own_roots": [b"x", b"b", b"c"]}
ALIKE = {"roots": [b"a", b"b", b"c"], "own_roots": [b"a", b"b", b"c"]}


def test_unequal_roots_over_equal_guards_start_one_comparison() -> None:
    state, effects = stream.echoed(STREAMING, echo(**UNLIKE))
    (asked,) = [effect for effect in effects if isinstance(effect, AskUpstream)]

    assert kinds(effects) == ["roots_differ"]
    assert (asked.rpc, asked.payload["compare"], state.root_alarm) == ("guard_hash", True, "comparing")
    state, effects = stream.echoed(state, echo(**UNLIKE, asked=state.serial, aside=True))
    assert asks(effects) == ["guard_hash"], "the question was lost: it is the same again"
    assert [effect.payload["compare"] for effect in effects if isinstance(effect, AskUpstream)] == [True]


def test_when_they_differ_after_it_too_that_is_reported_once_until_they_were_equal() -> None:
    state, reported = STREAMING._replace(root_alarm="compared"), []
    nothing: dict[str, list[bytes]] = {"roots": []}
    for roots in (UNLIKE, UNLIKE, UNLIKE, nothing, UNLIKE):
        state, effects = stream.echoed(state, echo(**roots))
        reported += kinds(effects)
        assert asks(effects) == []
    assert reported == ["merkle_loop"]
    state, effects = stream.echoed(state, echo(**ALIKE))
    assert (state.root_alarm, effects) == ("", [])
    assert kinds(stream.echoed(state, echo(**UNLIKE))[1]) == ["roots_differ"]


def test_the_report_says_what_to_do() -> None:
    _, (report,) = stream.echoed(STREAMING._replace(root_alarm="compared"), echo(**UNLIKE))

    assert isinstance(report, Observe)
    assert "merkle-check" in report.fields["advice"]
    assert "reindex" in report.fields["advice"]


LOUD = STREAMING._replace(root_alarm="reported", divergences=3, recheck_ns=99, loops=1, work=Work(4, progress=1))


@pytest.mark.parametrize("differing", [NOTHING, NODES])
def test_a_reindex_that_finds_the_same_leaves_lets_a_stream_go_on_and_damage_be_noticed_again(differing: str) -> None:
    state, effects = stream.reindexed(LOUD, Reindexed(differing, AT))
    assert (state, effects) == (LOUD._replace(root_alarm="", divergences=0, recheck_ns=0, reindexed=True), [])
    assert kinds(stream.echoed(state, echo(**UNLIKE))[1]) == ["roots_differ"]


def test_one_that_finds_other_leaves_asks_by_guard_again() -> None:
    state, effects = stream.reindexed(LOUD, Reindexed(LEAVES, AT))
    assert asks(effects) == ["guard_hash"]
    assert (state.state, state.loops, state.work) == ("merkle-diff", 0, Work())
    assert ready_to_promote(state) == "it is comparing its data with the primary's"
    for connection in ("idle", "connecting", "transient_failure", "shutdown"):
        state, effects = stream.reindexed(LOUD._replace(connection_state=connection), Reindexed(LEAVES, AT))
        assert (state.reindexed, effects) == (True, [])


@pytest.mark.parametrize("where", ["merkle-diff", "merkle-sync"])
def test_a_comparison_goes_on_after_a_reindex_that_finds_all_as_it_was_and_begins_again_after_others(
    where: str,
) -> None:
    fetching = STREAMING._replace(state=where, awaiting="fetch_keys", loops=1, work=Work(4, fetch=("a",)))
    state, effects = stream.reindexed(fetching, Reindexed(NOTHING, AT))
    assert (state, effects) == (fetching._replace(reindexed=True), [])
    for differing in (NODES, LEAVES):
        state, effects = stream.reindexed(fetching, Reindexed(differing, AT))
        assert (state.state, state.work, state.loops, asks(effects)) == ("merkle-diff", Work(), 0, ["guard_hash"])


def test_roots_that_differ_after_a_reindex_of_this_side_are_the_primarys_fault() -> None:
    again = STREAMING._replace(root_alarm="compared", reindexed=True)
    _, (report,) = stream.echoed(again, echo(**UNLIKE))

    assert isinstance(report, Observe)
    assert report.fields["advice"] == "the roots still differ after this side's reindex: reindex the primary"
    state, _ = stream.echoed(STREAMING._replace(reindexed=True), echo(**ALIKE))
    assert not state.reindexed, "equal roots end it"


def test_roots_are_compared_at_the_same_entry_over_equal_guards_only() -> None:
    for other in ({"own_guard": b"other"}, {"sent": 3}, {"asked": 8}):
        assert "roots_differ" not in kinds(stream.echoed(STREAMING, echo(**UNLIKE, **other))[1])


def test_a_heartbeat_says_where_it_stands_only_while_it_streams() -> None:
    assert stream.heartbeat(STREAMING, AT, aside=False)["position"] == 4
    for other in (STREAMING._replace(awaiting="fetch_keys"), STREAMING._replace(position=None)):
        assert stream.heartbeat(other, AT, aside=False)["position"] == -1
