"""Where things stand in a chart over time: to scale, inside the picture, and its words say what it shows."""

from __future__ import annotations

import re
from itertools import combinations
from math import inf

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.views.boxes import Box, width_of
from labkit.views.layout.chart_words import INSIDE, MARGIN, WIDTH
from labkit.views.layout.time_chart_layout import (
    AXIS,
    LEAST_HEIGHT,
    MAX_MARKS,
    PLOT,
    TimeChart,
    TimeColumn,
    TimePanel,
    describe,
    figure,
    layout,
)
from labkit.views.picture import SMALL
from tests.examples import examples

END_NS = 60 * 10**9
WORDS = st.text("abc ,-", min_size=1, max_size=60).map(lambda words: " ".join(words.split()) or "a")
VALUES = st.one_of(st.integers(0, 10**6), st.just(inf))
COLUMNS = st.lists(st.tuples(st.integers(0, 99), VALUES, VALUES), max_size=20).map(
    lambda rows: tuple(
        TimeColumn(n * END_NS // 100, (n + 1) * END_NS // 100, (("stale", low), ("current", high)))
        for n, low, high in sorted(dict.fromkeys(rows))
        if not (low == inf or high == inf) or low == 0 or high == 0
    )
)
PANELS = st.lists(st.builds(TimePanel, WORDS, WORDS, COLUMNS), max_size=4).map(tuple)
MARKS = st.lists(st.tuples(st.integers(0, END_NS), WORDS), max_size=12).map(lambda marks: tuple(sorted(marks)))


def chart(*panels: TimePanel, marks: tuple[tuple[int, str], ...] = ()) -> TimeChart:
    return TimeChart("Lag of secondaries", "tokyo was furthest behind.", END_NS, panels, marks)


@settings(deadline=None, max_examples=examples(20))
@given(PANELS, MARKS)
@example((TimePanel("a" * 90, "b " * 200, ()),), tuple((n * 10**9, "crash paris" * 9) for n in range(30)))
def test_nothing_leaves_the_picture_and_no_texts_overlap(panels, marks):
    placed = layout(chart(*panels, marks=marks))
    page = Box(0, 0, WIDTH, placed.height)
    texts = [Box(line.x, line.y - line.size + 3, width_of(line.words, line.size), line.size) for line in placed.words]
    for box in (*texts, *(column.box for column in placed.columns), *placed.plots):
        assert page.x <= box.x
        assert box.right <= page.width + 0.01
        assert box.bottom <= page.height
    assert [(a, b) for a, b in combinations(texts, 2) if a.overlaps(b)] == []


def test_columns_are_to_scale_and_stacked():
    columns = (
        TimeColumn(0, END_NS // 4, (("stale", 10), ("current", 30))),
        TimeColumn(END_NS // 2, END_NS, (("stale", 0), ("current", 20))),
    )
    placed = layout(chart(TimePanel("reads", "40", columns)))
    stale, first, second = (column.box for column in placed.columns)
    plot = placed.plots[0]
    bottom = plot.bottom

    assert (plot.x, plot.right) == (MARGIN + AXIS, WIDTH - MARGIN)
    assert (stale.x, stale.width) == pytest.approx((plot.x, plot.width / 4))
    assert (stale.bottom, stale.height) == pytest.approx((bottom, PLOT / 4))
    assert (first.bottom, first.height) == pytest.approx((stale.y, PLOT * 3 / 4))
    assert (second.x, second.width, second.height) == pytest.approx((plot.x + plot.width / 2, plot.width / 2, PLOT / 2))


def test_equal_neighbours_are_one_and_small_values_can_be_seen():
    columns = tuple(
        TimeColumn(n * 10**9, (n + 1) * 10**9, (("behind", value),)) for n, value in enumerate([9, 9, 9000])
    )
    placed = layout(chart(TimePanel("lag", "9", columns)))

    assert len(placed.columns) == 2
    assert placed.columns[0].box.height == LEAST_HEIGHT
    assert placed.columns[0].box.width == pytest.approx((INSIDE - AXIS) * 2 / 60)


def test_what_is_not_known_has_the_whole_height():
    columns = (TimeColumn(0, 9, (("no complete state", inf),)), TimeColumn(9, END_NS, (("behind", 5),)))
    placed = layout(chart(TimePanel("lag", "5", columns)))
    assert [column.box.height for column in placed.columns] == [PLOT, PLOT]
    assert [column.what for column in placed.columns] == ["no complete state", "behind"]


@pytest.mark.parametrize(("most", "shown"), [(8, 1), (16, 1), (4, 1), (3, 0), (0, 0)])
def test_a_limit_is_drawn_where_it_is_near(most, shown):
    panel = TimePanel("entries", "x", (TimeColumn(0, END_NS, (("behind", most),)),), (8, "backlog: 8 entries"))
    placed = layout(chart(panel))
    assert len(placed.limits) == shown
    if shown:
        plot = placed.plots[0]
        assert plot.y <= placed.limits[0].y <= plot.bottom
        assert (placed.limits[0].y < placed.columns[0].box.y) == (most < 8)


def test_marks_have_numbers_and_are_listed():
    panel = TimePanel("lag", "up to 3.5 s", ())
    placed = layout(chart(panel, marks=((0, "crash paris"), (30 * 10**9, "heal"), (31 * 10**9, "restart"))))
    words = [line.words for line in placed.words]

    assert words[-3:] == ["1 0.000 s crash paris", "2 30.000 s heal", "3 31.000 s restart"]
    assert {"1", "2-3", "0 s", "60 s"} <= set(words)
    assert len(placed.marks) == 3
    crowd = layout(chart(panel, marks=tuple((n, "flap") for n in range(MAX_MARKS + 5))))
    assert crowd.words[-1].words == "and 5 more"


def test_without_panels_there_are_no_marks():
    placed = layout(chart(marks=((5, "crash paris"),)))
    assert (placed.marks, placed.ticks, placed.plots) == ((), (), ())
    assert describe(placed.chart) == "tokyo was furthest behind."


def test_its_words_and_its_picture_have_the_same_numbers():
    whole = chart(TimePanel("tokyo", "up to 3.214 s, last 0.5 s", ()), marks=((5 * 10**9, "crash paris-1"),))
    shown = " ".join(line.words for line in layout(whole).words if not re.fullmatch(r"\d+ s|\d+", line.words))
    numbers = re.compile(r"\d[\d.,]*\d|\d")

    assert set(numbers.findall(describe(whole))) == set(numbers.findall(shown))
    assert describe(whole) == (
        "tokyo was furthest behind. tokyo: up to 3.214 s, last 0.5 s. Marks: 1 5.000 s crash paris-1."
    )


def test_a_scale_has_both_ends_and_its_unit():
    placed = layout(chart(TimePanel("lag", "5", (TimeColumn(0, END_NS, (("behind", 2.0611),)),), unit="s")))
    plot, words = placed.plots[0], {line.words: line for line in placed.words}

    assert words["2.06 s"].y < words["0"].y == plot.bottom
    assert all(words[said].x + width_of(said, words[said].size) <= plot.x for said in ("2.06 s", "0"))
    values = (0, 6.0, 0.5, 99.5, 1_234.4, 99_999, 883_909, 999_900.0, 2_262_071.0, 999_600_000)
    assert [figure(value, "B") for value in values] == [
        *("0 B", "6 B", "0.5 B", "99.5 B", "1,234 B", "99,999 B", "884 kB", "1 MB", "2.26 MB", "1 GB"),
    ]
    assert figure(2_262_071.0, "") == "2.26 M"
    for value in values:
        assert width_of(figure(value, "B"), SMALL) <= AXIS + MARGIN - 8, "it is never cut"
