"""The clock: order, ends of runs, what it refuses, and going on after a restore as if nothing had been."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.sim.clock import Clock, Item
from tests.examples import examples

Seen = list[tuple[int, Any]]


def item(payload: Any) -> Item:
    return ("note", "host", payload)


def watched() -> tuple[Clock, Seen]:
    seen: Seen = []
    clock = Clock(lambda due: seen.append((clock.now, due[2])))
    return clock, seen


def test_items_fire_by_time_and_those_of_one_time_as_they_were_put_in() -> None:
    clock, seen = watched()
    for payload, when_ns in enumerate([30, 10, 20, 10, 30, 0]):
        clock.at(when_ns, item(payload))
    clock.run()

    assert seen == [(0, 5), (10, 1), (10, 3), (20, 2), (30, 0), (30, 4)]


def test_the_dispatch_gets_the_item_itself() -> None:
    got: list[Item] = []
    clock = Clock(got.append)
    put = item({"a": 1})
    clock.after(3, put)
    clock.run()

    assert got[0] is put


def test_a_run_goes_through_its_end_and_stands_there() -> None:
    clock, seen = watched()
    for when_ns in (9, 10, 11):
        clock.at(when_ns, item(when_ns))

    assert clock.run(until_ns=10) is False
    assert [when for when, _ in seen] == [9, 10]
    assert clock.now == 10
    assert clock.pending() == ((11, item(11)),)


def test_how_many_items_wait_is_known_without_looking_at_them() -> None:
    clock, _ = watched()
    for when_ns in (9, 10, 11):
        clock.at(when_ns, item(when_ns))

    assert clock.waiting == 3 == len(clock.pending())
    clock.run(until_ns=10)
    assert clock.waiting == 1


def test_what_becomes_due_at_the_end_during_the_run_belongs_to_it() -> None:
    seen: list[int] = []

    def dispatch(due: Item) -> None:
        seen.append(due[2])
        if due[2] < 5:
            clock.at(10, item(due[2] + 1))

    clock = Clock(dispatch)
    clock.at(10, item(0))
    clock.run(until_ns=10)

    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("stop", [None, lambda: False])
def test_an_end_leaves_nothing_behind(stop: Callable[[], bool] | None) -> None:
    clock, _ = watched()
    clock.run(until_ns=10, stop=stop)
    clock.run(until_ns=10, stop=stop)

    assert clock.state() == (10, ())
    assert clock.step() is False
    assert clock.now == 10


def test_stop_is_asked_after_each_item() -> None:
    clock, seen = watched()
    for when_ns in (1, 2, 2, 3):
        clock.at(when_ns, item(when_ns))

    assert clock.run(until_ns=50, stop=lambda: len(seen) == 2) is True
    assert clock.state() == (2, ((2, item(2)), (3, item(3))))
    assert clock.run(until_ns=50, stop=lambda: False) is False
    assert clock.now == 50


def test_without_an_end_a_run_goes_on_until_nothing_waits() -> None:
    clock, seen = watched()
    clock.at(5, item("a"))

    assert clock.run() is False
    assert clock.run(stop=lambda: True) is False
    assert (clock.now, seen) == (5, [(5, "a")])


def test_a_step_is_one_item() -> None:
    clock, seen = watched()
    clock.at(5, item("a"))
    clock.at(5, item("b"))

    assert clock.step() is True
    assert (clock.now, seen) == (5, [(5, "a")])
    assert clock.step() is True
    assert clock.step() is False


@pytest.mark.parametrize("wrong", [1.0, True, "1", None])
def test_times_are_ints_and_nothing_else(wrong: Any) -> None:
    clock, _ = watched()
    for put in (clock.at, clock.after):
        with pytest.raises(TypeError, match="int of nanoseconds"):
            put(wrong, item(0))
    if wrong is not None:
        with pytest.raises(TypeError, match="the end of a run must be an int of nanoseconds"):
            clock.run(until_ns=wrong)
    with pytest.raises(TypeError, match="the clock's start must be an int"):
        Clock(lambda due: None, wrong)

    assert clock.state() == (0, ())


def test_the_past_is_refused() -> None:
    clock, _ = watched()
    clock.run(until_ns=10)

    with pytest.raises(ValueError, match="nothing can be scheduled for 9 ns: it is 10 ns already"):
        clock.at(9, item(0))
    with pytest.raises(ValueError, match="nothing can be scheduled"):
        clock.after(-1, item(0))
    with pytest.raises(ValueError, match="a run cannot end at 9 ns: it is 10 ns already"):
        clock.run(until_ns=9)
    assert clock.run(until_ns=11) is False


@pytest.mark.parametrize("inner", ["run", "step"])
def test_a_run_inside_a_run_is_refused(inner: str) -> None:
    said: list[str] = []

    def dispatch(due: Item) -> None:
        with pytest.raises(RuntimeError) as refused:
            getattr(clock, inner)()
        said.append(str(refused.value))

    clock = Clock(dispatch)
    for when_ns in (1, 2):
        clock.at(when_ns, item(0))
    clock.run()

    assert said == ["the clock is running: what it dispatches may schedule items, not run it"] * 2


@pytest.mark.parametrize("drive", [Clock.run, Clock.step, lambda clock: clock.run(5, lambda: False)])
def test_an_exception_in_the_dispatch_closes_the_clock_and_is_named_ever_after(
    drive: Callable[[Clock], object],
) -> None:
    def dispatch(due: Item) -> None:
        raise KeyError("no host is called tokyo-9")

    clock = Clock(dispatch)
    clock.at(1, item(0))
    clock.at(2, item(0))
    with pytest.raises(KeyError, match="tokyo-9"):
        drive(clock)

    uses: list[Callable[[], object]] = [
        clock.run,
        clock.step,
        clock.state,
        clock.pending,
        lambda: clock.at(1 << 80, item(0)),
        lambda: clock.after(1, item(0)),
        lambda: clock.run(until_ns=0),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match=r"the clock was closed by KeyError: .*tokyo-9") as refused:
            use()
        assert isinstance(refused.value.__cause__, KeyError)
    assert clock.now == 1
    assert repr(clock) == "<Clock at 1 ns, 1 pending, closed>"


def test_an_exception_of_stop_leaves_the_clock_as_it_is() -> None:
    clock, seen = watched()
    clock.at(1, item("a"))
    clock.at(2, item("b"))
    with pytest.raises(ZeroDivisionError):
        clock.run(stop=lambda: 1 // 0)
    clock.run()

    assert [payload for _, payload in seen] == ["a", "b"]


# A schedule: what each item, once it fires, puts in after how long.  Few times, so that many are equal.
PLAN = st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=12)


class Chain:
    """A clock whose items put in others as a plan says, up to a number of them."""

    def __init__(self, plan: list[list[int]], made: int = 0, saved: tuple[Any, ...] = ()) -> None:
        self.plan = plan
        self.made = made
        self.seen: Seen = []
        self.clock = Clock(self.dispatch, *saved)

    def dispatch(self, due: Item) -> None:
        number = due[2]
        self.seen.append((self.clock.now, number))
        for delay_ns in self.plan[number % len(self.plan)]:
            self.put(delay_ns)

    def put(self, delay_ns: int) -> None:
        if self.made < 60:
            self.clock.after(delay_ns, item(self.made))
            self.made += 1


@given(plan=PLAN, starts=st.lists(st.integers(0, 4), min_size=1, max_size=8), cuts=st.lists(st.integers(1, 9)))
@settings(max_examples=examples(150), deadline=None)
def test_a_restored_clock_fires_in_the_same_order(plan: list[list[int]], starts: list[int], cuts: list[int]) -> None:
    whole, parted = Chain(plan), Chain(plan)
    for chain in (whole, parted):
        for delay_ns in starts:
            chain.put(delay_ns)
    whole.clock.run()
    seen: Seen = []
    for steps in cuts:
        for _ in range(steps):
            parted.clock.step()
        seen += parted.seen
        parted = Chain(plan, parted.made, pickle.loads(pickle.dumps(parted.clock.state())))
    parted.clock.run()

    assert seen + parted.seen == whole.seen


@given(
    plan=PLAN,
    starts=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    spans=st.lists(st.integers(0, 3), max_size=8),
    asking=st.booleans(),
)
@settings(max_examples=examples(150), deadline=None)
def test_runs_end_to_end_are_one_run(plan: list[list[int]], starts: list[int], spans: list[int], asking: bool) -> None:
    whole, parted = Chain(plan), Chain(plan)
    for chain in (whole, parted):
        for delay_ns in starts:
            chain.put(delay_ns)
    whole.clock.run()
    for span_ns in spans:
        end_ns = parted.clock.now + span_ns
        parted.clock.run(end_ns, (lambda: False) if asking else None)
        assert parted.clock.now == end_ns
        assert parted.seen == [entry for entry in whole.seen if entry[0] <= end_ns]
    parted.clock.run()

    assert parted.seen == whole.seen
    assert type(parted.clock.now) is int
