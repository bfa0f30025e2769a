"""Boxes: room for words, overlaps, and lines that meet boxes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.views.boxes import Box, Segment, box_of, flow, is_free, width_of

SMALL = st.integers(-50, 50)
BOXES = st.builds(Box, SMALL, SMALL, st.integers(1, 40), st.integers(1, 40))


def test_a_box_has_edges_and_a_middle():
    box = Box(10, 20, 30, 40)

    assert (box.right, box.bottom, box.centre) == (40, 60, (25, 40))
    assert box.grown(5) == Box(5, 15, 40, 50)
    assert box.holds(10, 60)
    assert not box.holds(9, 60)


@given(BOXES, BOXES)
def test_boxes_overlap_when_a_point_is_in_both(a, b):
    shared = any(
        a.x < x + 0.5 < a.right and a.y < y + 0.5 < a.bottom
        for x in range(int(b.x), int(b.right))
        for y in range(int(b.y), int(b.bottom))
    )

    assert a.overlaps(b) == b.overlaps(a) == shared
    assert is_free(a, [b]) != shared


def test_boxes_that_touch_do_not_overlap():
    assert not Box(0, 0, 10, 10).overlaps(Box(10, 0, 10, 10))


@given(st.builds(Segment, SMALL, SMALL, SMALL, SMALL), BOXES)
def test_a_line_crosses_a_box_when_a_point_of_it_is_inside(line, box):
    inner = box.grown(-0.01)
    if any(inner.holds(*line.at(step / 500)) for step in range(501)):
        assert line.crosses(box)
    elif line.crosses(box):
        assert any(box.grown(0.3).holds(*line.at(step / 500)) for step in range(501))


@pytest.mark.parametrize(
    ("line", "crosses"),
    [
        *((Segment(-5, 0, 15, 0), True), (Segment(-5, 10, 15, 10), True)),
        *((Segment(0, -5, 0, 15), True), (Segment(10, 15, 10, -5), True)),
        *((Segment(-5, 0.5, 15, 0.5), True), (Segment(0.5, 15, 0.5, -5), True)),
        *((Segment(-5, -0.5, 15, -0.5), False), (Segment(10.5, -5, 10.5, 15), False)),
        *((Segment(2, 2, 8, 8), True), (Segment(15, 5, 25, 5), False), (Segment(5, -15, 5, -5), False)),
        *((Segment(-5, 5, 5, -5), False), (Segment(-5, 6, 6, -5), True)),
    ],
)
def test_a_line_crosses_a_box_along_its_edge_but_not_at_a_corner(line, crosses):
    assert line.crosses(Box(0, 0, 10, 10)) is crosses


def test_a_line_beside_another_keeps_its_length_and_direction():
    assert Segment(0, 0, 10, 0).beside(5) == Segment(0, 5, 10, 5)
    assert Segment(0, 0, 0, 10).beside(5) == Segment(-5, 0, -5, 10)
    assert Segment(3, 3, 3, 3).beside(5).length == 0


def test_a_line_between_boxes_is_what_is_outside_of_both():
    line = Segment(5, 5, 105, 5).between(Box(0, 0, 10, 10), Box(100, 0, 10, 10))

    assert line.x1 == pytest.approx(10, abs=1)
    assert line.x2 == pytest.approx(100, abs=1)
    assert 10 < line.x1 < line.x2 < 100


def test_a_line_that_does_not_leave_a_box_stays_whole():
    line, here, elsewhere = Segment(2, 2, 8, 8), Box(0, 0, 10, 10), Box(100, 100, 10, 10)

    assert line.between(here, elsewhere) == line.between(elsewhere, here) == line.between(elsewhere, elsewhere) == line


def test_words_take_more_room_the_longer_they_are_and_wide_letters_more():
    assert width_of("", 12) == 0
    assert width_of("paris", 12) < width_of("paris!", 12) < width_of("paris!", 13)
    assert width_of("東京", 12) > width_of("ab", 12)
    assert box_of("paris", 12, 100, 50).centre == (100, 50)


def test_a_line_has_a_length_points_and_sides():
    line = Segment(10, 20, 40, 60)

    assert line.length == 50
    assert (line.at(0), line.at(0.5), line.at(1)) == ((10, 20), (25, 40), (40, 60))
    assert line.beside(5) == Segment(6, 23, 36, 63)
    assert line.beside(-5) == Segment(14, 17, 44, 57)
    assert Segment(3, 4, 3, 4).beside(9) == Segment(3, 4, 3, 4)


def test_a_line_between_two_boxes_is_the_part_outside_of_them():
    assert Segment(0, 0, 160, 0).between(Box(-10, -10, 30, 20), Box(140, -10, 30, 20)) == Segment(21, 0, 139, 0)
    assert Segment(0, 0, 0, 0).between(Box(-1, -1, 2, 2), Box(-1, -1, 2, 2)) == Segment(0, 0, 0, 0)


def test_words_flow_into_rows():
    boxes, bottom = flow(["aaaa", "bb", "c" * 10, "d" * 50], 10, 150, 100)

    assert [(box.x, round(box.y), round(box.width, 1), box.height) for box in boxes] == [
        (16, 100, 24.4, 16),
        (62.4, 100, 12.2, 16),
        (16, 116, 61.0, 16),
        (16, 132, 305.0, 16),
    ]
    assert bottom == 148
    assert flow([], 10, 150, 100) == ([], 100)


def test_words_that_fit_exactly_stay_in_their_row():
    assert width_of("a", 100) == 61
    for width, rows in ((16 + 61 + 22 + 61 + 16, 1), (16 + 61 + 22 + 61 + 15, 2)):
        boxes, bottom = flow(["a", "b"], 100, width, 0)
        assert (len({box.y for box in boxes}), bottom) == (rows, rows * 106)


def test_a_box_of_words_is_around_its_middle():
    box = box_of("word", 10, 50, 60)

    assert box == Box(50 - 30.4 / 2, 52, 30.4, 16)
    assert box.centre == (50, 60)
    assert box.right == pytest.approx(50 + 30.4 / 2)
    assert box.bottom == 68
    assert box.grown(2) == Box(box.x - 2, 50, 34.4, 20)
    assert width_of("中a", 100) == pytest.approx(166)


def test_an_edge_in_common_is_no_overlap():
    box = Box(0, 0, 10, 10)

    assert not box.overlaps(Box(10, 0, 10, 10))
    assert not box.overlaps(Box(0, 10, 10, 10))
    assert not Box(10, 0, 10, 10).overlaps(box)
    assert not Box(0, 10, 10, 10).overlaps(box)
    assert box.overlaps(Box(9, 9, 10, 10))
    assert (box.holds(0, 0), box.holds(10, 10), box.holds(10.1, 5), box.holds(5, -0.1)) == (True, True, False, False)
    assert is_free(box, [Box(10, 0, 5, 5), Box(0, 10, 5, 5)])
    assert not is_free(box, [Box(20, 0, 5, 5), Box(1, 1, 5, 5)])


def test_words_with_a_sign_before_them_take_its_room():
    (first, last), _ = flow(["a", "b"], 100, 400, 0, [30, 0])

    assert (first.width, last.width) == (91, 61)
    assert last.x == first.right + 22


def test_how_far_a_point_is_from_a_line():
    line = Segment(0, 0, 10, 0)

    assert line.distance(5, 3) == 3
    assert line.distance(13, 4) == 5
    assert line.distance(-3, -4) == 5
    assert Segment(2, 2, 2, 2).distance(2, 5) == 3
