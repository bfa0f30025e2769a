"""The words of a chart: in as many lines as they need, shortened in the middle where a line is too short."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.views.boxes import width_of
from labkit.views.layout.chart_words import INSIDE, MARGIN, heading, shortened, wrapped
from tests.examples import examples


def test_long_names_keep_their_beginning_and_end():
    assert shortened("paris", 14, 500) == "paris"
    short = shortened("writers-in-a-region-far-away-12", 14, 120)
    assert width_of(short, 14) <= 120
    assert short.startswith("write")
    assert short.endswith("-12")
    assert len(shortened("東京東京東京東京東京", 14, 5)) >= 2


def test_pieces_are_put_in_as_few_lines_as_they_need():
    assert wrapped(["a", "b", "c"], 13, 500, " · ") == ["a · b · c"]
    assert wrapped(["a" * 40, "b" * 40], 13, 400, " · ") == ["a" * 40, "b" * 40]
    assert wrapped([], 13, 400, " ") == []


@settings(deadline=None, max_examples=examples(30))
@given(st.text("abc 0東", max_size=300), st.text("abc 0", max_size=300))
def test_a_heading_is_within_the_picture_line_below_line(title, finding):
    words, bottom = heading(title, finding)
    assert all(line.x == MARGIN and width_of(line.words, line.size) <= INSIDE for line in words)
    places = [line.y for line in words]
    assert places == sorted(set(places))
    assert bottom > max(places, default=0)
