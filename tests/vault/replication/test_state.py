"""What a secondary knows: through JSON and back, and the small steps."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.replication import state as states
from labkit.vault.replication.events import AskUpstream, Effect, Observe, Remember
from labkit.vault.replication.state import TRANSITIONS, Heartbeat, State, Work
from tests.examples import examples

NUMBERS = st.integers(0, 2**63)
TEXTS = st.text(max_size=5)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3).map(tuple)
NAMES = st.lists(TEXTS, max_size=3).map(tuple)

STATES = st.builds(
    State,
    state=st.sampled_from(sorted(TRANSITIONS)),
    connection_state=st.sampled_from(states.CONNECTION_STATES),
    addresses=NAMES,
    complete=st.booleans(),
    position=st.none() | NUMBERS,
    serial=NUMBERS,
    awaiting=TEXTS,
    work=st.builds(Work, generation=NUMBERS, pages=PAIRS, fetch=NAMES, delete=NAMES, progress=NUMBERS),
    heartbeat=st.builds(Heartbeat, canary_ns=st.none() | NUMBERS, canaries=PAIRS, api_addr=TEXTS),
    unanswered=NUMBERS,
    root_alarm=st.sampled_from(["", "comparing", "compared", "reported"]),
    reindexed=st.booleans(),
)


@settings(max_examples=examples(60))
@given(STATES)
def test_a_state_goes_through_json(state: State) -> None:
    assert states.from_plain(json.loads(json.dumps(states.plain(state)))) == state


def test_a_state_begins_with_nothing_known() -> None:
    idle = ("idle", "idle", (), "", "", 0, False, None, 0, None, 0, 0, "", 0)
    work, heartbeat = (0, (), (), (), 0), (None, 0, 0, None, (), -1, "", "")
    assert State() == (*idle, work, heartbeat, 0, 0, 0, False, "", 0, 0, 0, (), "", "", False)


def test_an_answer_makes_former_failures_count_no_more() -> None:
    failed = State(addresses=("a", "b"), failures=3, sent_on=True, last_error="silence", serial=7)

    assert states.without_failures(failed) == State(addresses=("a", "b"), serial=7)


def test_a_move_follows_the_table_and_is_observed() -> None:
    moved, effects = states.move(State("merkle-diff"), "conflicts")

    assert moved == State("merkle-sync")
    assert effects == [Observe("sync_state", {"before": "merkle-diff", "after": "merkle-sync", "because": "conflicts"})]
    assert states.move(State("stream-wals"), "guard found") == (State("stream-wals"), [])


def test_a_move_that_the_table_does_not_have_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="no transition from stream-wals on 'conflicts'"):
        states.move(State("stream-wals"), "conflicts")


def test_each_question_has_a_serial_of_its_own() -> None:
    state, sent = states.send(State(addresses=("a", "b"), serial=7), "fetch_keys", generation=3)

    assert sent == AskUpstream("fetch_keys", "a", {"serial": 8, "generation": 3}, aside=False)
    assert (state.serial, state.awaiting) == (8, "fetch_keys")


def test_asking_by_guard_gives_the_comparison_up_and_goes_aside() -> None:
    state, effects = states.ask_guard(State(addresses=("a",), stream=4, work=Work(5, fetch=("k",)), position=9))

    assert (state.stream, state.work, state.position) == (4, Work(), 9), "what was pushed may still arrive"
    assert [(effect.rpc, effect.aside) for effect in effects if isinstance(effect, AskUpstream)] == [
        ("guard_hash", True)
    ]


@pytest.mark.parametrize(("alarm", "compares"), [("comparing", True), ("reported", False), ("", False)])
def test_who_asks_for_the_sake_of_the_roots_says_so(alarm: str, compares: bool) -> None:
    _, (sent,) = states.ask_guard(State(addresses=("a",), root_alarm=alarm))

    assert isinstance(sent, AskUpstream)
    assert sent.payload["compare"] is compares


def test_a_connection_begins_with_the_guard_and_its_time() -> None:
    before = State(addresses=("a", "b"), unanswered=7, heard_ns=1, root_alarm="comparing")
    state, effects = states.connect(before, 50)

    assert (state.connection_state, state.heard_ns, state.unanswered, state.root_alarm) == ("connecting", 50, 0, "")
    assert states.connect(before._replace(root_alarm="reported"), 50)[0].root_alarm == "reported"
    assert [effect.rpc for effect in effects if isinstance(effect, AskUpstream)] == ["guard_hash"]


def test_a_heartbeat_a_second_and_fifteen_seconds_of_silence() -> None:
    assert (states.HEARTBEAT_NS, states.DEAD_NS) == (10**9, 15 * 10**9)
    assert (states.BACKOFF_NS, states.BACKOFF_CAP_NS, states.BACKOFF_SPREAD_PPM) == (2 * 10**9, 60 * 10**9, 200_000)


def test_what_an_answer_names_is_kept_once() -> None:
    known = State(addresses=("a", "b"), primary_cluster_addr="c", term=3)

    def answered(term: int, *addresses: str) -> tuple[State, list[Effect]]:
        return states.learned(known, {"cluster_addrs": list(addresses), "term": term})

    kept = known._replace(addresses=("a", "b", "c"))
    assert answered(3, "b", "a") == (kept, [Remember(("a", "b", "c"), 3)]), "where it was configured stays known"
    assert states.learned(kept, {"cluster_addrs": ["b", "a"], "term": 3}) == (kept, [])
    assert states.learned(kept, {"cluster_addrs": ["b"], "term": 2}) == (kept, []), "the order alone is no news"
    assert answered(2, "d", "") == (known._replace(addresses=("a", "d", "c")), [Remember(("a", "d", "c"), 3)])
    newer = kept._replace(term=4)
    assert states.learned(kept, {"cluster_addrs": ["b"], "term": 4}) == (newer, [Remember(("a", "b", "c"), 4)])


def test_backoff_doubles_from_two_seconds_to_a_minute() -> None:
    assert [states.backoff_ns(times) // 10**9 for times in (0, 1, 2, 3, 4, 5, 1000)] == [2, 4, 8, 16, 32, 60, 60]


def test_the_canary_ages_and_skew_counts() -> None:
    assert states.canary_age_ms(State(), 5) == 0
    assert states.canary_age_ms(State(heartbeat=Heartbeat(canary_ns=1_000_000_000)), 1_454_900_000) == 454
    assert states.canary_age_ms(State(heartbeat=Heartbeat(canary_ns=2_000_000_000)), 1_000_000_000) == -1000


@pytest.mark.parametrize(
    ("state", "reindexing", "words"),
    [
        (State(state="stream-wals"), True, "is being rebuilt"),
        (State(state="stream-wals"), False, None),
        (State(state="merkle-sync", work=Work(fetch=("a", "b"), progress=1)), False, "fetched 1 of 2 keys"),
        (State(state="merkle-diff"), False, "comparing its data"),
        (State(state="idle", complete=True), False, None),
        (State(state="idle", complete=True, addresses=("a",)), False, "not known to be complete"),
        (State(state="idle"), False, "not known to be complete"),
    ],
)
def test_why_a_secondary_is_not_promoted(state: State, reindexing: bool, words: str | None) -> None:
    reason = states.ready_to_promote(state, reindexing)

    assert reason is None if words is None else words in (reason or "")
