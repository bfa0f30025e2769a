"""Due times: the earliest of what was noted last, against a dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.due_times import MIN_REBUILD, DueTimes

KEYS = st.sampled_from("abcdef")
STEPS = st.lists(st.tuples(KEYS, st.none() | st.integers(1, 9)), max_size=40)


@given(STEPS)
def test_the_earliest_is_that_of_a_dict(steps):
    times = DueTimes()
    model: dict[str, int] = {}
    for key, when_ns in steps:
        if when_ns is None:
            times.remove(key)
            model.pop(key, None)
        else:
            times.note(key, when_ns)
            model[key] = when_ns
        assert times.earliest() == min(((when_ns, key) for key, when_ns in model.items()), default=None)
        assert len(times) == len(model)
    assert repr(times) == f"DueTimes({len(model)} records)"


def test_a_record_that_is_noted_again_and_again_takes_no_more_room():
    times = DueTimes()
    for when_ns in range(1, 10_000):
        times.note("a", when_ns)

    assert len(times._heap) <= MIN_REBUILD + 3
    assert times.earliest() == (9_999, "a")


def test_saved_times_are_the_same_times():
    times = DueTimes()
    for key, when_ns in (("a", 5), ("b", 3), ("a", 2), ("c", 9)):
        times.note(key, when_ns)
    times.remove("b")
    again = DueTimes(times.state())
    times.note("d", 1)

    assert again.state() == {"a": 2, "c": 9}
    assert again.earliest() == (2, "a")


def test_saved_times_in_any_order_have_their_earliest():
    assert DueTimes({"a": 9, "b": 5, "c": 2, "d": 7}).earliest() == (2, "c")
