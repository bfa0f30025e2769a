"""The secondary's state machine: the way through its table, and what holds whatever the network does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.replication import serving_secondaries, sync
from labkit.vault.replication.state import TRANSITIONS, Work
from labkit.vault.replication.sync import (
    AskUpstream,
    Moment,
    Observe,
    Refused,
    Replace,
    Start,
    StartTimer,
    State,
    Stop,
)
from labkit.vault.replication.tree.merkle import DIGEST_BYTES, FAN_OUT
from tests.bench.bench_comparison import COMPARING, compare, journal
from tests.bench.bench_merkle import stored_items
from tests.examples import examples

SECOND_NS = 1_000_000_000
AT = Moment(5, 7)

KEYS = [f"logical/u/{n}" for n in range(9)] + ["core/a", "token/t", "token/u", "lease/l", "local/m"]


@pytest.fixture
def world(make_world: Callable[..., Any]) -> Any:
    """A primary with some data, and a secondary that has none."""
    world = make_world()
    for n in range(30):
        world.write({f"logical/u/{n}": b"v%d" % n, f"token/{n}": b"t%d" % n})
    return world


# ---- the way ----------------------------------------------------------------------------------------------


def test_an_empty_secondary_compares_fetches_and_streams(world: Any) -> None:
    world.take_over_primary()
    world.start()
    assert world.state.connection_state == "connecting"
    world.settle()

    assert world.states() == ["merkle-diff", "merkle-sync", "stream-wals"]
    assert world.state.connection_state == "ready"
    assert world.state.last_remote_wal == 0, "a comparison does not advance it"
    world.write({"logical/u/1": b"new"})
    world.settle()
    assert world.state.last_remote_wal == world.primary.last == 31


def test_with_the_guard_in_the_backlog_nothing_is_compared(world: Any) -> None:
    world.start()
    world.settle()

    assert world.observed("guard_found") == [{"index": 0, "scanned_entries": 30}]
    assert world.states() == ["stream-wals"]
    assert world.secondary.last == 30, "entry by entry"


def test_damaged_nodes_of_the_primary_do_not_hinder_the_guard(world: Any) -> None:
    for layer in ("subpage", "page", "subtree", "root"):
        world.primary.tree.corrupt(layer, "logical/u/1")
    world.start()
    world.settle()

    assert world.states() == ["stream-wals"]
    assert world.secondary.tree.root() != world.primary.tree.root()


def test_damaged_nodes_of_the_primary_make_an_empty_comparison_when_the_guard_is_missed(world: Any) -> None:
    world.start()
    world.settle()
    world.primary.tree.corrupt("subpage", "logical/u/1")
    world.primary.tree.corrupt("page", "logical/u/1")
    world.primary.tree.corrupt("subtree", "logical/u/1")
    state, effects = sync.on(
        world.state._replace(awaiting="guard_hash"),
        sync.ReplyArrived(
            "guard_hash",
            {
                "serial": world.state.serial,
                "found": False,
                "generation": 30,
                "roots": [world.primary.tree.subtree_root(tree) for tree in (1, 2)],
                "cluster_addrs": ["a", "b"],
                "term": 1,
            },
            world.at(),
        ),
    )
    world.state, world.seen = state, []
    for effect in effects:
        world.carry_out(effect)
    world.settle()

    assert world.observed("merkle_diff") == [{"generation": 30, "pages": 1}]
    assert world.observed("merkle_diff_empty") == [{"generation": 30}]
    assert world.states()[-1] == "stream-wals"


def test_one_changed_key_takes_two_round_trips_and_less_than_twelve_kilobytes(world: Any) -> None:
    world.start()
    world.settle()
    world.cut()
    world.stream = None
    world.write({"logical/u/1": b"other"}, pump=False)
    world.take_over_primary()
    world.wire.clear()
    world.happen(Refused("", 0, "cut", world.at()))
    asked: list[Any] = []
    while "fetch_keys" not in [name for name, _ in asked]:
        if not world.deliver_one():
            world.fire_next()
        waiting = world.flights["aside questions"] + world.flights["questions"]
        asked += [flight for flight in waiting if flight not in asked and flight[0] != "echo"]
    compared = [message for message in world.wire if "generation" in message or "done" in message or "pages" in message]

    assert [name for name, _ in asked] == ["guard_hash", "conflicting_pages", "sub_page_hashes", "fetch_keys"]
    assert sum(map(serving_secondaries.size_bytes, compared)) < 12_000
    world.settle()
    assert world.observed("merkle_sync")[-1] == {
        "generation": 31,
        "fetch": 1,
        "delete": 0,
        "num_conflict_keys": 1,
    }


def test_one_key_of_a_million_is_found_in_two_round_trips_and_less_than_twelve_kilobytes() -> None:
    """With 10,000 keys all pages are in use; what a million adds are leaves, twice as many as a subpage has mostly."""
    items = dict(stored_items(10_000))
    names = list(items)
    trips, fetched = compare(journal(dict(items)), journal({**items, names[77]: b"other"}))
    sent = sum(trip.question_bytes + trip.answer_bytes for trip in trips if trip.rpc in COMPARING)
    leaf_bytes = serving_secondaries.size_bytes([max(names, key=len), bytes(DIGEST_BYTES)])

    assert fetched == [names[77]]
    assert [trip.rpc for trip in trips] == ["guard_hash", *COMPARING]
    assert sent + 2 * (1_000_000 // (FAN_OUT * FAN_OUT)) * leaf_bytes < 12_000


def test_what_the_primary_lacks_is_deleted_and_what_differs_is_overwritten(world: Any) -> None:
    world.secondary.commit({"logical/stray": b"x", "logical/u/3": b"mine", "token/stray": b"y"}, 0)
    world.start()
    world.settle()

    assert world.contents(world.secondary) == world.contents(world.primary)
    assert world.secondary.tree.root() == world.primary.tree.root()
    assert world.observed("merkle_sync")[0]["delete"] == 2


def test_what_is_damaged_upstream_is_not_taken_and_what_is_here_stays(world: Any) -> None:
    world.start()
    world.settle()
    mine = world.contents(world.secondary)["logical/u/1"]
    world.cut()
    world.write({"logical/u/1": b"newer", "logical/u/2": b"newer", "logical/new": b"n"}, pump=False)
    world.primary.flush(0)
    world.primary.storage.apply({"logical/u/1": b"rotten", "logical/new": None}, 0)
    world.take_over_primary()
    world.run(lambda: world.state.position == world.primary.last)
    held = world.contents(world.secondary)

    assert (held["logical/u/1"], held["logical/u/2"], "logical/new" in held) == (mine, b"newer", False)
    assert world.observed("merkle_loop")[0] == {"comparisons": 1, "damaged": ["logical/new", "logical/u/1"]}


def test_what_is_damaged_upstream_is_compared_and_reported_once_until_it_is_written_again(world: Any) -> None:
    def after(seconds: int) -> tuple[int, int]:
        end_ns = world.now_ns + seconds * SECOND_NS
        world.run(lambda: world.now_ns >= end_ns, 1_000)
        named = [fields for fields in world.observed("merkle_loop") if "damaged" in fields]
        return len(world.observed("merkle_diff")), len(named)

    def rot(key: str) -> None:
        world.cut()
        world.write({key: b"newer"}, pump=False)
        world.primary.flush(0)
        world.primary.storage.apply({key: b"rotten"}, 0)
        world.take_over_primary()
        world.run(lambda: not world.level)

    world.start()
    world.settle()
    compared = len(world.observed("merkle_diff"))
    rot("logical/u/1")
    assert after(600) == (compared + 1, 1)
    world.save_and_restore()
    world.write({"logical/u/5": b"x"})
    assert after(600) == (compared + 1, 1), "another entry changes nothing of how the guards differ"

    world.happen(Refused("", 0, "cut", world.at()))
    assert after(600) == (compared + 2, 1), "each connection begins with the guard; what is known is not reported again"
    rot("logical/u/2")
    assert after(600) == (compared + 3, 2)
    assert ["logical/u/2"] in [fields.get("damaged") for fields in world.observed("merkle_loop")]

    world.write({"logical/u/1": b"whole"})
    assert after(600) == (compared + 4, 2), "one of two is whole again: the guards differ otherwise"
    world.write({"logical/u/2": b"whole"})
    world.settle()
    assert (world.state.damaged, world.state.missing) == ((), "")
    assert world.contents(world.primary) == world.contents(world.secondary)


def test_several_batches_show_as_incomplete_in_between(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "FETCH_KEYS", 7)
    world.take_over_primary()
    world.start()
    world.run(lambda: 0 < world.state.work.progress < len(world.state.work.fetch))

    assert not world.state.complete
    assert world.state.position is None
    assert sync.ready_to_promote(world.state) == "it has fetched 7 of 60 keys that differ"
    world.take_over_secondary()
    assert (world.state.state, world.state.complete) == ("idle", False)
    world.settle()
    assert world.state.complete
    assert world.observed("merkle_sync")[-1]["fetch"] == 53, "it goes on from where it stopped"


def test_long_answers_come_in_parts(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_secondaries, "DIFF_BYTES", 100)
    monkeypatch.setattr(sync, "DIFF_PAGES", 11)
    monkeypatch.setattr(sync, "FETCH_BYTES", 30)
    world.take_over_primary()
    world.start()
    world.settle()

    asked = [message for message in world.wire if "subpages" in message]
    assert len(asked) > 10
    assert all(len(message["subpages"]) <= 11 for message in asked)
    world.run(lambda: world.state.heartbeat.last_wall_ns is not None)
    assert world.observed("contents_differ") == []


def test_a_comparison_speaks_of_one_generation_though_the_primary_goes_on(world: Any) -> None:
    world.take_over_primary()
    world.start()
    while world.state.state != "stream-wals":
        world.write({"logical/u/3": b"%d" % world.primary.last, "logical/late": b"%d" % world.primary.last})
        assert world.deliver_one()

    assert world.state.position == 30 + 1
    assert world.contents(world.secondary) == world.history[31]
    world.settle()


def test_after_a_generation_dropped_from_the_backlog_the_sync_starts_again(make_world: Any) -> None:
    world = make_world(limit_entries=3)
    for n in range(20):
        world.write({f"logical/u/{n}": b"v"})
    world.start()
    world.run(lambda: world.state.state == "merkle-sync")
    for n in range(5):
        world.write({"logical/late": b"%d" % n})
    world.settle()

    assert world.observed("generation_gone") == [{"rpc": "fetch_keys"}]
    assert world.observed("merkle_loop") == [{"comparisons": 2}]


def test_a_takeover_resumes_by_guard(world: Any) -> None:
    world.start()
    world.settle()
    world.seen.clear()
    world.take_over_secondary()

    assert world.observed("sync_state") == [{"before": "idle", "after": "stream-wals", "because": "resume"}], (
        "complete contents at a known position"
    )
    assert sync.ready_to_promote(world.state) is None
    world.settle()
    assert world.observed("guard_found")


def test_a_takeover_of_the_primary_costs_a_short_comparison_at_most(world: Any) -> None:
    world.start()
    world.settle()
    world.write({"logical/u/1": b"lost on the way"}, pump=False)
    world.cut()
    world.take_over_primary()
    world.settle()

    assert world.observed("stream_forgotten")
    assert world.observed("merkle_sync")[-1]["num_conflict_keys"] == 1


# ---- connection -------------------------------------------------------------------------------------------


def test_a_lost_connection_changes_the_connection_state_alone(world: Any) -> None:
    world.start()
    world.settle()
    world.deaf = True
    started_ns = world.now_ns
    world.run(lambda: world.state.connection_state == "transient_failure", 60)

    assert 15 <= (world.now_ns - started_ns) // SECOND_NS <= 17
    assert world.state.state == "stream-wals"
    assert sync.ready_to_promote(world.state) is None
    world.deaf = False
    world.settle()
    assert world.state.connection_state == "ready"


def test_once_lost_nothing_more_is_taken_from_the_stream(world: Any) -> None:
    world.start()
    world.settle()
    stream = world.state.stream
    world.happen(Refused("", 0, "the certificate was revoked", world.at()))
    world.happen(sync.Pushed({"serial": stream, "entries": [[31, [["logical/late", b"x"]]]]}))

    assert world.state.connection_state == "transient_failure"
    assert world.secondary.storage.get("logical/late") is None


def test_backoff_doubles_to_a_minute_with_spread_and_addresses_take_turns(world: Any) -> None:
    world.refusing = "certificate of s was revoked"
    world.start()
    waits: list[tuple[int, int]] = []
    for _ in range(8):
        state, effects = sync.on(world.state, Refused("guard_hash", world.state.serial, world.refusing, world.at()))
        wait = next(effect for effect in effects if isinstance(effect, StartTimer))
        waits.append((wait.delay_ns // SECOND_NS, wait.spread_ppm))
        assert state.last_error == world.refusing
        assert state.connection_state == "transient_failure"
        world.state, effects = sync.on(state, sync.TimerFired("backoff", wait.serial, world.at()))
        asked = next(effect for effect in effects if isinstance(effect, AskUpstream))
        assert asked.rpc == "guard_hash"
        assert asked.to == "ba"[(len(waits) - 1) % 2]

    assert waits == [(s, 200_000) for s in (2, 4, 8, 16, 32, 60, 60, 60)]


def test_a_standby_that_names_the_active_node_is_believed_once() -> None:
    state, _ = sync.on(State(), Start(("a", "b"), AT))
    state, effects = sync.on(state, Refused("guard_hash", state.serial, "standby", AT, ("c",)))

    assert state.addresses == ("c", "a", "b")
    assert [effect.to for effect in effects if isinstance(effect, AskUpstream)] == ["c"]
    state, effects = sync.on(state, Refused("guard_hash", state.serial, "standby", AT, ("a",)))
    assert state.addresses == ("a", "c", "b")
    assert [type(effect) for effect in effects] == [Observe, StartTimer]


def test_after_a_silence_too_the_active_node_that_is_named_is_asked_at_once() -> None:
    state, _ = sync.on(State(), Start(("a", "b"), AT))
    state, _ = sync.on(state._replace(failures=5), Refused("guard_hash", state.serial, "silence", AT))
    state, _ = sync.on(state, sync.TimerFired("backoff", state.serial, AT))
    state, effects = sync.on(state, Refused("guard_hash", state.serial, "standby", AT, ("a",)))

    assert [effect.to for effect in effects if isinstance(effect, AskUpstream)] == ["a"]
    state, effects = sync.on(state, Refused("guard_hash", state.serial, "standby", AT, ("b",)))
    wait = effects[-1]
    assert isinstance(wait, StartTimer)
    assert wait.delay_ns == 60 * SECOND_NS, "the pauses go on growing meanwhile"
    state, effects = sync.on(state, sync.TimerFired("backoff", state.serial, AT))
    state, effects = sync.on(state, Refused("guard_hash", state.serial, "standby", AT, ("a",)))
    assert [effect.to for effect in effects if isinstance(effect, AskUpstream)] == ["a"], "and it is believed again"


@pytest.mark.parametrize("rpc", ["echo", "guard_hash", ""])
def test_a_refusal_of_what_was_asked_or_of_the_connection_ends_it(rpc: str) -> None:
    state, _ = sync.on(State(), Start(("a", "b"), AT))
    state = state._replace(stream=4)
    lost, effects = sync.on(state, Refused(rpc, state.serial, "no", AT))

    assert (lost.connection_state, lost.last_error, lost.addresses) == ("transient_failure", "no", ("b", "a"))
    assert lost.stream == (0 if rpc == "" else 4), "what was pushed before counts until the upstream ends it"
    assert [type(effect) for effect in effects] == [Observe, StartTimer]
    assert sync.on(lost, Refused(rpc, lost.serial, "again", AT)) == (lost, []), "it is lost already"


@pytest.mark.parametrize(("rpc", "later"), [("fetch_keys", 0), ("guard_hash", 1), ("echo", 1)])
def test_a_refusal_of_what_was_not_asked_is_ignored(rpc: str, later: int) -> None:
    state, _ = sync.on(State(), Start(("a", "b"), AT))

    assert sync.on(state, Refused(rpc, state.serial + later, "no", AT)) == (state, [])
    assert sync.on(state, Refused("", state.serial + 9, "cut", AT))[0].connection_state == "transient_failure"


def test_what_comes_too_late_is_ignored(world: Any) -> None:
    world.start()
    before = world.state
    stale = before.life - 1
    for event in (
        sync.ReplyArrived("guard_hash", {"serial": stale, "found": True, "index": 0, "last": 0}, AT),
        sync.ReplyArrived("fetch_keys", {"serial": before.serial, "values": []}, AT),
        sync.ReplyArrived("echo", {"serial": stale}, AT),
        sync.Pushed({"serial": stale, "entries": [[1, []]]}),
        Refused("guard_hash", stale, "no", AT),
        sync.TimerFired("backoff", stale, AT),
        sync.TimerFired("heartbeat", stale, AT),
    ):
        assert sync.on(before, event) == (before, [])


def test_stopping_keeps_complete_data_promotable(world: Any) -> None:
    world.start()
    world.settle()
    state, _ = sync.on(world.state, Stop("a blank token", AT))

    assert (state.state, state.connection_state, state.addresses) == ("idle", "idle", ())
    assert sync.ready_to_promote(state) is None
    assert sync.on(state, Refused("", 0, "late", AT)) == (state, [])
    assert sync.on(world.state, Stop("promoted", AT, shut=True))[0].connection_state == "shutdown"


def test_a_start_without_addresses_waits_for_a_token() -> None:
    state, effects = sync.on(State(), Start((), AT, complete=True, position=4))

    assert (state.state, state.connection_state, effects) == ("idle", "idle", [])
    assert sync.ready_to_promote(state) is None


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State("stream-wals", "transient_failure", ("a",), complete=True), None),
        (State("idle", complete=True), None),
        (State("idle", "connecting", ("a",), complete=True), "not known to be complete"),
        (State("idle"), "not known to be complete"),
        (State("merkle-diff", "ready", ("a",), complete=True), "comparing"),
        (State("merkle-sync", "ready", ("a",)), "0 of 0 keys"),
    ],
)
def test_who_may_be_promoted(state: State, reason: str | None) -> None:
    said = sync.ready_to_promote(state)

    assert (said is None) == (reason is None)
    assert reason is None or reason in (said or "")
    assert "rebuilt" in (sync.ready_to_promote(state, reindexing=True) or "")


def test_the_table_names_known_states_and_every_state_can_be_left() -> None:
    states = set(TRANSITIONS)

    assert states == {"idle", "merkle-diff", "merkle-sync", "stream-wals"}
    for state, events in TRANSITIONS.items():
        assert set(events.values()) <= states
        assert events["stop"] == "idle"
        assert state == "idle" or set(events.values()) - {state}


def test_no_effect_but_the_last_of_a_batch_claims_a_position(world: Any) -> None:
    state = State("merkle-sync", "ready", ("a",), awaiting="fetch_keys", serial=9)
    work = sync.Work(generation=5, fetch=("logical/a", "logical/b"), delete=("logical/c",))
    answer = {"serial": 9, "values": [["logical/a", b"1"]]}
    state, effects = sync.on(state._replace(work=work), sync.ReplyArrived("fetch_keys", answer, AT))

    assert effects[0] == Replace((("logical/a", b"1"),), complete=False, position=None)
    answer = {"serial": state.serial, "values": [["logical/b", None]]}
    state, effects = sync.on(state, sync.ReplyArrived("fetch_keys", answer, AT))
    assert effects[0] == Replace((("logical/b", None), ("logical/c", None)), complete=True, position=5)


# ---- whatever the network does ----------------------------------------------------------------------------


def misbehave(world: Any, steps: int, restoring: bool = False) -> list[Any]:
    """Do random things, and look after each at what must always hold; return the course of things."""
    dice, course = world.dice, []
    for _ in range(steps):
        with in_small_parts():
            one_thing(world, dice)
        if restoring:
            world.save_and_restore()
        held = world.contents(world.secondary)
        state = world.state
        if state.state == "stream-wals" or (state.complete and state.position is not None):
            assert state.complete
            assert held == world.history[state.position], f"no prefix of what was written, in {state}"
        course.append((world.now_ns, state, held))
    return course


@contextmanager
def in_small_parts() -> Iterator[None]:
    """Make comparisons and fetches take many questions, as they do with many keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync, "DIFF_PAGES", 3)
        patch.setattr(serving_secondaries, "DIFF_BYTES", 60)
        patch.setattr(sync, "FETCH_KEYS", 2)
        yield


def one_thing(world: Any, dice: Random) -> None:
    """Write, deliver out of order, drop, cut, let time pass, or let another node take over."""
    chance = dice.randrange(100)
    waiting = [channel for channel, flight in world.flights.items() if flight]
    if chance < 25:
        chosen = dice.sample(KEYS, dice.randint(1, 3))
        world.write({key: dice.choice([None, b"x", b"%d" % dice.randrange(99)]) for key in chosen})
    elif chance < 75 and waiting:
        channel = dice.choice(waiting)
        world.deliver(channel, dice.randrange(len(world.flights[channel])))
    elif chance < 80 and waiting:
        world.flights[dice.choice(waiting)].pop(0)
    elif chance < 82:
        world.cut()
    elif chance < 83:
        world.happen(Refused("", 0, "cut", world.at()))
    elif chance < 84:
        world.happen(sync.Announced(dice.choice("abx"), dice.randrange(9), world.at()))
    elif chance < 86:
        world.take_over_primary()
    elif chance < 88:
        world.take_over_secondary()
    else:
        world.fire_next()


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_contents_are_a_prefix_and_the_end_is_reached(make_world: Callable[..., Any], seed: int, limit: int) -> None:
    world = make_world(limit_entries=limit, dice=Random(seed))
    world.start()
    misbehave(world, 150)
    world.settle()

    assert world.contents(world.secondary) == world.contents(world.primary) == world.history[world.primary.last]
    assert world.secondary.tree.root() == world.primary.tree.root()
    assert world.secondary.tree.guard() == world.primary.tree.guard()
    assert world.secondary.storage.get("node/primary-alone") is None
    assert not any("node/" in str(message) for message in world.wire)


@settings(max_examples=examples(10))
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_saved_and_restored_at_any_step_it_goes_on_the_same(
    make_world: Callable[..., Any], seed: int, limit: int
) -> None:
    courses = []
    for restoring in (False, True):
        world = make_world(limit_entries=limit, dice=Random(seed))
        world.start()
        courses.append(misbehave(world, 100, restoring))

    assert courses[0] == courses[1]


@settings(max_examples=examples(10))
@given(st.integers(0, 2**32))
def test_what_a_secondary_wrote_by_itself_is_found_and_undone(make_world: Callable[..., Any], seed: int) -> None:
    dice = Random(seed)
    world = make_world(limit_entries=4, dice=dice)
    world.start()
    misbehave(world, 40)
    world.settle()
    stray = {key: b"stray %d" % dice.randrange(9) for key in dice.sample(KEYS, 2)}
    world.secondary.commit(stray, 0)
    assert world.secondary.tree.root() != world.primary.tree.root()
    compared = len(world.observed("missing_guard"))
    world.settle()

    # by the heartbeat's guard, or by the first question of a new stream when the upstream forgot the old one
    assert len(world.observed("missing_guard")) > compared
    assert world.secondary.tree.root() == world.primary.tree.root()


# ---- answers about something else (R25)


@pytest.mark.parametrize(
    ("rpc", "work", "answer"),
    [
        ("sub_page_hashes", sync.Work(3, pages=((1, 7), (1, 8))), {"done": 0, "fetch": [], "delete": []}),
        ("sub_page_hashes", sync.Work(3, pages=((1, 7), (1, 8))), {"done": 3, "fetch": [], "delete": []}),
        ("fetch_keys", sync.Work(3, fetch=("a", "b", "c"), progress=1), {"values": []}),
        ("fetch_keys", sync.Work(3, fetch=("a", "b", "c"), progress=1), {"values": [["c", b"x"]]}),
        ("fetch_keys", sync.Work(3, fetch=("a", "b", "c"), progress=2), {"values": [["c", b"x"], ["d", b"y"]]}),
    ],
)
def test_an_answer_about_something_else_than_was_asked_is_refused_and_changes_nothing(rpc, work, answer):
    state = State(state="merkle-sync", addresses=("https://a:8201",), connection_state="ready", work=work)
    state = state._replace(awaiting=rpc, serial=5, life=1)
    after, effects = sync.on(state, sync.ReplyArrived(rpc, {"serial": 5, **answer}, Moment(10, 10)))

    assert after == state, "the question's timeout still stands"
    assert [effect.kind for effect in effects if isinstance(effect, Observe)] == ["answer_refused"]
    assert len(effects) == 1


# ---- the upstream's new active node


def test_an_announcement_of_a_known_address_under_a_new_term_is_asked_at_once(world: Any) -> None:
    world.start()
    world.settle()
    before = world.state
    state, effects = sync.on(before, sync.Announced("b", before.term + 1, world.at()))

    assert (state.addresses, state.term, state.connection_state) == (("b", "a"), before.term + 1, "connecting")
    assert sync.Remember(("b", "a"), before.term + 1) in effects
    asked = [effect for effect in effects if isinstance(effect, AskUpstream)]
    assert [(effect.rpc, effect.to, effect.aside) for effect in asked] == [("guard_hash", "b", True)]
    assert (state.state, state.complete, state.position) == (before.state, before.complete, before.position)


@pytest.mark.parametrize(("address", "later"), [("b", 0), ("b", -1), ("x", 5)])
def test_any_other_announcement_changes_nothing(world: Any, address: str, later: int) -> None:
    world.start()
    world.settle()

    event = sync.Announced(address, world.state.term + later, world.at())
    assert sync.on(world.state, event) == (world.state, [])


def test_who_follows_nobody_hears_no_announcement() -> None:
    assert sync.on(State(), sync.Announced("a", 9, AT)) == (State(), [])


# ---- one fault at any step of a sync and a stream


def a_sync_and_some_writes(make_world: Callable[..., Any], lose: Callable[[int, str], bool]) -> tuple[Any, int]:
    """A first sync, then writes; what is chosen by its number and channel is lost.  Return how many there were."""
    world = make_world()
    for n in range(12):
        world.write({f"logical/u/{n}": b"v%d" % n, f"token/{n}": b"t%d" % n})
    world.take_over_primary()
    world.start()
    count = written = 0
    while world.now_ns < 40 * SECOND_NS:
        if world.state.state == "stream-wals" and written < 4:
            written += 1
            world.write({"logical/late": b"%d" % written})
        waiting = [channel for channel, flight in world.flights.items() if flight]
        if not waiting:
            if world.level and written == 4:
                break
            world.fire_next()
        elif lose(count, waiting[0]):
            world.flights[waiting[0]].pop(0)
            count += 1
        else:
            world.deliver(waiting[0], 0)
            count += 1
    return world, count


def deliveries(make_world: Callable[..., Any]) -> int:
    return a_sync_and_some_writes(make_world, lambda number, channel: False)[1]


def test_any_message_may_be_lost_and_the_loss_is_proven_within_seconds(make_world: Callable[..., Any]) -> None:
    with in_small_parts():
        steps = deliveries(make_world)
        for lost in range(steps):
            world, _ = a_sync_and_some_writes(make_world, partial(is_from_to, "", lost, lost + 1))
            assert world.level, f"message {lost} of {steps}"
            assert world.now_ns < 5 * SECOND_NS, "by a mark, not by silence"


@pytest.mark.parametrize("direction", ["questions", "answers"])
def test_one_direction_may_be_cut_at_any_step(make_world: Callable[..., Any], direction: str) -> None:
    with in_small_parts():
        for first in range(0, deliveries(make_world), 3):
            world, _ = a_sync_and_some_writes(make_world, partial(is_from_to, direction, first, first + 6))
            assert world.level, f"cut from message {first} on"
            assert world.contents(world.secondary) == world.history[world.primary.last]


def is_from_to(direction: str, first: int, end: int, number: int, channel: str) -> bool:
    return first <= number < end and channel.endswith(direction)


@pytest.mark.parametrize("where", ["merkle-diff", "merkle-sync"])
def test_a_comparison_that_a_lost_connection_broke_off_was_not_in_vain(where: str) -> None:
    comparing = State(where, "ready", ("a",), serial=9, loops=1, work=Work(4, fetch=("a",)))
    lost, _ = sync.on(comparing, Refused("", 0, "cut", AT))
    again, _ = sync.on(lost._replace(connection_state="connecting"), Refused("", 0, "cut", AT))
    streaming, _ = sync.on(comparing._replace(state="stream-wals", work=Work()), Refused("", 0, "cut", AT))

    assert (lost.loops, lost.work, again.loops, streaming.loops) == (0, Work(), 0, 1)
