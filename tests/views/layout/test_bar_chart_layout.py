"""Where things stand in a chart of bars: nothing leaves it, nothing overlaps, and its words say what it shows."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.views.boxes import Box, width_of
from labkit.views.layout.bar_chart_layout import LEAST, Bar, BarChart, BarPart, describe, layout
from labkit.views.layout.chart_words import INSIDE, MARGIN, WIDTH
from tests.examples import examples

WORDS = st.text("abcdefg -", min_size=1, max_size=30).map(lambda words: " ".join(words.split()) or "a")
PARTS = st.lists(st.builds(BarPart, WORDS, st.integers(0, 10**9), WORDS), max_size=8).map(tuple)
BARS = st.lists(st.builds(Bar, st.sampled_from(["", "Nodes"]), WORDS, PARTS), max_size=8).map(
    lambda bars: tuple(sorted(bars, key=lambda bar: bar.group))
)
LONG = Bar("", "a-cluster-with-a-name-that-takes-more-room-than-there-is-in-all-of-the-picture-and-more", ())
MANY = Bar("", "paris", tuple(BarPart("down", 1, f"down for {number} seconds") for number in range(40)))


def chart(*bars: Bar) -> BarChart:
    return BarChart("Time in each state until 60.000 s", "paris served nobody for 15.960 s.", bars)


@settings(deadline=None, max_examples=examples(20))
@given(BARS)
@example((LONG, MANY))
@example(())
def test_nothing_leaves_the_picture_and_nothing_overlaps(bars):
    placed = layout(chart(*bars))
    page = Box(0, 0, WIDTH, placed.height)
    texts = [Box(line.x, line.y - line.size + 2, width_of(line.words, line.size), line.size) for line in placed.words]
    boxes = [part.box for part in placed.parts]

    for box in (*texts, *boxes):
        assert page.x <= box.x
        assert box.right <= page.width + 0.01
        assert box.bottom <= page.height
    assert [(a, b) for a, b in combinations(texts, 2) if a.overlaps(b)] == []
    assert [(a, b) for a in texts for b in boxes if a.overlaps(b)] == []


@settings(deadline=None, max_examples=examples(20))
@given(BARS)
def test_every_part_with_something_in_it_can_be_seen(bars):
    placed = layout(chart(*bars))
    wanted = [part for bar in bars for part in bar.parts if part.value]

    assert [part.part for part in placed.parts] == wanted
    assert all(part.box.width >= LEAST for part in placed.parts)


def test_lengths_are_to_scale():
    parts = (BarPart("arrived", 300, "a"), BarPart("lost", 100, "b"))
    placed = layout(chart(Bar("", "x", parts), Bar("", "y", (BarPart("arrived", 200, "c"),))))
    widths = [part.box.width for part in placed.parts]

    assert widths == pytest.approx([INSIDE * 0.75, INSIDE * 0.25, INSIDE * 0.5], abs=LEAST)
    assert placed.parts[1].box.x == MARGIN + widths[0]
    assert sum(widths[:2]) == pytest.approx(INSIDE)


def test_a_part_is_named_inside_where_its_words_have_the_name_and_there_is_room():
    parts = (BarPart("primary", 99, "primary 9 s"), BarPart("arrived", 99, "9 bytes"), BarPart("down", 1, "down 1 s"))
    assert [part.inside for part in layout(chart(Bar("", "x", parts))).parts] == ["primary", "", ""]


def test_its_words_and_its_picture_have_the_same_numbers():
    parts = (BarPart("primary", 99, "primary 9.125 s"), BarPart("down", 1, "down 1.250 s"))
    whole = chart(Bar("Clusters", "paris", parts), Bar("Nodes", "paris-1", parts[:1]))
    placed = layout(whole)
    shown = " ".join(line.words for line in placed.words)

    numbers = re.compile(r"\d[\d.,]*\d|\d")
    assert set(numbers.findall(describe(whole))) == set(numbers.findall(shown)) - {"60.000"}
    assert describe(whole) == (
        "paris served nobody for 15.960 s. Clusters – paris: primary 9.125 s, down 1.250 s. "
        "Nodes – paris-1: primary 9.125 s."
    )
