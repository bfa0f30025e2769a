"""Where things stand in a chart of rows: figures end below their headings, bars begin below one another."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.views.boxes import Box, width_of
from labkit.views.layout.bar_chart_layout import BarPart
from labkit.views.layout.chart_words import INSIDE, MARGIN, WIDTH
from labkit.views.layout.row_chart_layout import LEAST, MIN_BAR, FigureRow, RowChart, describe, layout
from tests.examples import examples

COLUMNS = ("seconds", "stretches")
WORDS = st.text("abcdefg -", min_size=1, max_size=90).map(lambda words: " ".join(words.split()) or "a")
PART = st.builds(BarPart, st.sampled_from(["primary", "lost"]), st.integers(0, 10**9), WORDS)
ROW = st.builds(
    FigureRow,
    st.sampled_from(["", "Node paris-1", "Connection of " + "x" * 90]),
    WORDS,
    st.tuples(st.integers(0, 10**9).map("{:,}".format), st.integers(0, 99).map(str)),
    st.lists(PART, max_size=3).map(tuple),
)
ROWS = st.lists(ROW, max_size=12).map(lambda rows: tuple(sorted(rows, key=lambda row: row.group)))


def chart(*rows: FigureRow, key: str = "") -> RowChart:
    return RowChart("Time in each state", "paris served nobody for 15.960 s.", COLUMNS, rows, key)


def row(name: str, seconds: float, group: str = "Node a") -> FigureRow:
    return FigureRow(group, name, (f"{seconds:.3f}", "1"), (BarPart("active", seconds, f"{seconds:.3f} s"),))


@settings(deadline=None, max_examples=examples(60))
@given(ROWS)
@example(())
def test_nothing_leaves_the_picture_and_no_words_or_bars_overlap(rows: tuple[FigureRow, ...]) -> None:
    placed = layout(chart(*rows, key="crossed: lost"))
    page = Box(0, 0, WIDTH, placed.height)
    texts = [Box(one.x, one.y - one.size + 2, width_of(one.words, one.size), one.size) for one in placed.words]
    widths = [(one, width_of(one.words, one.size)) for one in placed.figures]
    texts += [Box(one.x - width, one.y - one.size + 2, width, one.size) for one, width in widths]
    boxes = [*texts, *[part.box for part in placed.parts]]

    assert all(page.holds(box.x, box.y) and page.holds(box.right - 0.01, box.bottom) for box in boxes)
    assert [pair for pair in combinations(boxes, 2) if pair[0].grown(-0.01).overlaps(pair[1])] == []
    assert len(placed.parts) == sum(bool(part.value) for one in rows for part in one.parts)
    assert all(part.box.width >= LEAST for part in placed.parts)


def test_figures_end_below_their_headings_and_bars_begin_below_one_another() -> None:
    placed = layout(chart(row("active", 60), row("standby", 0.5), row("down", 3, "Node b")))
    headings = {one.words: one.x for one in placed.figures[:2]}

    assert {one.x for one in placed.figures} == set(headings.values())
    assert [one.x for one in placed.figures if one.words in ("60.000", "0.500", "3.000")] == [headings["seconds"]] * 3
    first, second, third = placed.parts
    assert first.box.x == second.box.x == third.box.x
    assert first.box.right == MARGIN + INSIDE, "the longest reaches the edge"
    assert third.box.width == pytest.approx(first.box.width * 3 / 60), "all have one scale"
    assert layout(chart(row("a", 60), row("b", 1e-6))).parts[1].box.width == pytest.approx(LEAST)


def test_a_long_name_leaves_room_for_the_bars() -> None:
    long = "a name that is much too long for its column " * 3
    placed = layout(chart(row(long, 60)))

    assert placed.parts[0].box.width >= MIN_BAR
    assert any("…" in one.words for one in placed.words)


def test_its_words_have_what_it_shows() -> None:
    shown = chart(row("active", 60), row("standby", 0.5), row("down", 3, "Node b"))
    assert describe(shown) == (
        "paris served nobody for 15.960 s. Node a – active: 60.000 s; standby: 0.500 s. Node b – down: 3.000 s."
    )


def test_what_a_pattern_means_stands_above_the_bars() -> None:
    placed = layout(chart(row("active", 60), key="crossed: lost"))
    (key,) = [one for one in placed.words if one.words == "crossed: lost"]

    assert key.x == placed.parts[0].box.x
    assert key.y < placed.parts[0].box.y
