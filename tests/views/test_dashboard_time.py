"""The slider of time: it ends now, asks to be shown an instant when it is moved, and not when code moves it."""

from __future__ import annotations

import pytest

from labkit.views.dashboard_time import STEPS, TimeBar

SECOND_NS = 1_000_000_000


@pytest.fixture
def looked() -> list[int | None]:
    return []


@pytest.fixture
def bar(looked: list[int | None]) -> TimeBar:
    bar = TimeBar(2_500_000_001, looked.append)
    bar.put(12 * SECOND_NS)
    return bar


def test_there_is_nothing_to_be_moved_before_time_has_passed(looked: list[int | None]) -> None:
    bar = TimeBar(0, looked.append)
    assert (bar.slider.disabled, bar.play.disabled, looked) == (True, True, [])
    bar.put(SECOND_NS)
    assert (bar.slider.disabled, bar.slider.value, looked) == (False, 1.0, [])


def test_whoever_moves_it_is_shown_a_whole_millisecond_or_now(bar: TimeBar, looked: list[int | None]) -> None:
    bar.slider.value = 7.3
    bar.slider.value = 12
    bar.slider.value = bar.slider.min
    assert looked == [7_300_000_000, None, 2_500_000_001], "the first instant is the first checkpoint"


def test_playing_goes_from_the_beginning_to_now(bar: TimeBar, looked: list[int | None]) -> None:
    for step in (1, STEPS // 2, STEPS):
        bar.play.value = step
    first, middle, last = looked
    assert first is not None
    assert middle is not None
    assert 2_500_000_001 < first < middle < 12 * SECOND_NS
    assert last is None


def test_a_lab_that_went_back_ends_where_it_is(bar: TimeBar, looked: list[int | None]) -> None:
    bar.put(4 * SECOND_NS)
    assert (bar.slider.max, bar.slider.value, looked) == (4.0, 4.0, [])
