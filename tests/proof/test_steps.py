"""Steps are computed once, and one that raises is a state of its own."""

from __future__ import annotations

from typing import Any

from labkit.proof.modelled_network import Messages
from labkit.proof.network_kinds import NETWORKS
from labkit.proof.parcels import ANSWER, NOW, OLD, PUSH, QUESTION, parcel
from labkit.proof.primary import SHARED, Primary, PrimarySide
from labkit.proof.secondary import STRAY, Secondary, SecondarySide, Stored
from labkit.proof.steps import DELIVERED, WROTE, Numbers, Occurrence, Steps
from labkit.vault.replication.serving_secondaries import SecondaryStream
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


def test_the_first_of_each_lane_arrives_next_and_of_what_is_held_back_too() -> None:
    messages = Messages(("a",))
    steps = Steps(messages, PrimarySide(1), SecondarySide(on))
    sent = [
        messages.number(parcel(kind, "a", aside, "stream", {"serial": NOW, "what": number}))
        for number, (kind, aside) in enumerate([(PUSH, False), (PUSH, False), (ANSWER, True), (QUESTION, False)])
    ]
    wire = messages.holding(messages.sent(messages.empty(), sent[:3]), sent[3:])
    arriving = steps.arrivals(steps.wires.of(wire))

    assert [message for _, message, _ in arriving] == [sent[0], sent[2], sent[3]]
    for _, message, left in arriving:
        rest = steps.wires.values[left]
        assert sorted(number for lane in (*rest.lanes, *rest.held) for number in lane) == sorted({*sent} - {message})


def test_an_exchange_is_a_heartbeat_and_the_step_on_its_answer() -> None:
    steps = Steps(Messages(("a",)), PrimarySide(1), SecondarySide(on))
    begun = steps.by_itself(steps.secondaries.of(BEGUN), "start")
    primary, _ = steps.asked(steps.primaries.of(Primary()), begun)
    (exchange,) = steps.exchanges(primary, begun.secondary)

    answer = exchange.event.about
    assert steps.messages.parcels[answer].rpc == "echo"
    assert exchange.lane == steps.messages.lanes[answer]
    assert steps.secondaries.values[exchange.step.secondary].error == ""


def test_the_network_after_a_step_is_computed_once_and_that_without_news_is_the_same() -> None:
    messages = Messages(("a",))
    steps = Steps(messages, PrimarySide(1), SecondarySide(on))
    push = messages.number(parcel(PUSH, "a", False, "stream", {"serial": NOW, "entries": []}))
    empty = steps.wires.of(messages.empty())
    once = steps.sent(empty, (push,))

    assert steps.sent(empty, ()) == empty != once
    assert steps.wires.values[once].lanes[messages.lanes[push]] == (push,)
    assert steps.sent(empty, (push,)) == once
    ((event, _, _),) = steps.arrivals(once)
    assert event == (DELIVERED, push, ())
    twice = steps.sent(once, (push,))
    assert steps.arrivals(twice)[0][0] is event, "one event for each message"


def test_each_write_that_is_possible_is_committed_once() -> None:
    steps = Steps(Messages(("a", "b")), PrimarySide(1), SecondarySide(on))
    primary = steps.primaries.of(Primary(nodes=2, known=True))
    commits = steps.commits(primary)

    assert steps.commits(primary) is commits
    assert [event for event, _, _ in commits] == [
        Occurrence(WROTE, write) for write in steps._primary_side.writes(Primary())
    ]
    assert [steps.primaries.values[after].last for _, after, _ in commits] == [1, 1, 1]
    taken, (said,) = steps.taken_over(primary)
    assert steps.primaries.values[taken].active == "b"
    assert steps.messages.parcels[said].rpc == "announcement"


def test_what_is_over_is_named_where_it_is_not_ignored() -> None:
    def noticing(state: State, event: Any) -> Any:
        return state._replace(loops=0, damaged=(*state.damaged, "x")), []

    pushed = parcel(PUSH, "a", False, "stream", {"serial": OLD, "entries": []})
    sound, noticed = (Steps(Messages(("a",)), PrimarySide(1), SecondarySide(step)) for step in (on, noticing))
    for steps in (sound, noticed):
        fresh = parcel(PUSH, "a", False, "stream", {"serial": NOW, "entries": []})
        assert [steps.messages.number(each) for each in (fresh, pushed)] == [0, 1]
        assert steps.dropped() == [1]
        steps.secondaries.of(BEGUN)
        assert steps.not_ignored() is None, "before its first start a secondary hears nothing"
        steps.secondaries.of(BEGUN._replace(error="x"))
        steps.secondaries.of(BEGUN._replace(state=State(life=1, serial=NOW, addresses=("a",))))
    assert sound.not_ignored() is None
    assert noticed.not_ignored() == (2, 1)


def test_a_question_that_is_over_is_named_where_the_primary_changes() -> None:
    def opening(journal: Any, question: Any) -> dict[str, Any]:
        return {"serial": NOW, "values": []}

    asked = parcel(
        QUESTION, "a", False, "fetch_keys", {"serial": OLD, "keys": [SHARED], "generation": 0, "limit_bytes": 0}
    )
    streams = Primary(connected=True, stream=SecondaryStream(NOW, 0))
    for answers, found in (({}, None), ({"fetch_keys": opening}, (1, 0))):
        side = PrimarySide(1) if not answers else PrimarySide(1, answers)
        steps = Steps(Messages(("a",)), side, SecondarySide(on))
        assert steps.messages.number(asked) == 0
        steps.primaries.of(Primary())
        steps.primaries.of(streams)
        assert steps.not_ignored() == found


def test_a_fault_catches_what_was_just_sent_where_its_network_keeps_it() -> None:
    for network, held in (("late", 2), ("duplicating", 1), ("destroying", 0), ("losing", 0), ("ordered", 0)):
        messages = Messages(("a",))
        steps = Steps(messages, PrimarySide(1), SecondarySide(on))
        on_its_way, caught = (
            messages.number(parcel(kind, "a", False, "stream", {"serial": NOW, "entries": []}))
            for kind in (PUSH, QUESTION)
        )
        wire = steps.sent(steps.empty, (on_its_way,))
        after = steps.disturbed(wire, NETWORKS[network], (caught,))
        assert sum(map(len, steps.wires.values[after].held)) == held
        assert steps.disturbed(wire, NETWORKS[network], (caught,)) == after
