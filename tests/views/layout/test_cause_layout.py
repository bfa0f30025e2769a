"""Cause layout: rows in the order of the chain, events at their instants, and no words over others."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from labkit.views.boxes import width_of
from labkit.views.layout.cause_layout import AXIS_LEFT, AXIS_RIGHT, LINE, MARGIN, MIN_SPAN_NS, WIDTH, WORDS, layout
from labkit.views.picture import SMALL

SENTENCES = st.lists(
    st.sampled_from(["paris-1", "goes", "down", "acknowledged", "secret/data/" + "x" * 90]), min_size=1
)
STEPS = st.lists(st.tuples(st.integers(0, 10**12), SENTENCES.map(" ".join)), min_size=1, max_size=40)


@given(STEPS)
@example([(500_001, "paris-1"), (600_000, "paris-1")])
@example([(1, "paris-1"), (5_668_400, "paris-1")])
def test_nothing_stands_on_anything_else(steps: list[tuple[int, str]]) -> None:
    found = layout(steps)

    assert [one.number for one in found.causes] == [*range(1, len(steps) + 1)]
    for one, other in pairwise(found.causes):
        assert one.words_y + len(one.lines) * LINE < other.words_y
        assert one.y < other.y
    for one, (_, sentence) in zip(found.causes, steps, strict=True):
        assert "".join(one.lines).replace(" ", "") == sentence.replace(" ", "")
        assert all(WORDS + width_of(words, SMALL) <= WIDTH - MARGIN + 1 for words in one.lines)
    assert found.causes[-1].y < found.axis_y < found.height
    assert len(found.ticks) > 1, "their distance is the scale"
    for (x, words), (next_x, next_words) in pairwise(found.ticks):
        assert x + width_of(words, SMALL) / 2 < next_x - width_of(next_words, SMALL) / 2


@given(STEPS)
@example([(0, "paris-1"), (MIN_SPAN_NS // 2 + 1, "paris-1")])
def test_later_is_further_right_within_the_axis(steps: list[tuple[int, str]]) -> None:
    places = {one.number - 1: one.x for one in layout(steps).causes}

    assert all(AXIS_LEFT <= x <= AXIS_RIGHT for x in places.values())
    in_time = sorted(places, key=lambda number: steps[number][0])
    assert all(places[earlier] <= places[later] for earlier, later in pairwise(in_time))


def test_the_axis_of_two_seconds_has_round_marks() -> None:
    found = layout([(22_052_000_000, "promoted"), (20_050_000_000, "crash")])

    assert [words for _, words in found.ticks] == ["21 s", "22 s"]
