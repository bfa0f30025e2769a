"""Exercise lossless: worlds that differ, what a function that raises becomes, and a sleep that luck decides on."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.safe_order.lossless import (
    LOSSLESS,
    LUCKS,
    MAX_PAUSE_S,
    MAX_SLOW_PAUSE_S,
    SLOWER,
    look,
    world,
)
from labkit.lessons.said import NOT_YET


@pytest.mark.slow
def test_a_sleep_of_one_length_is_right_in_some_worlds_only():
    trap = next(trap for trap in LOSSLESS.traps if trap.name == "a sleep that is right by luck")
    seen = look(trap.act)

    assert 0 < len(seen.losing) < LUCKS
    said = judge(LOSSLESS, (trap.act,)).seen
    assert said.startswith(f"acknowledged writes were lost in {len(seen.losing)} of {LUCKS} labs, up to ")


@pytest.mark.slow
def test_a_function_that_raises_is_said():
    judged = judge(LOSSLESS, (lambda lab: lab.failover("paris", "lima"),))

    assert judged.condition == "moved"
    assert judged.seen.startswith("tokyo is secondary in the end; it raised ValueError: ")


@pytest.mark.slow
def test_worlds_differ_and_are_the_same_again():
    first, again, other = world(1), world(1), world(4)
    waiting = [lab.lag("paris", "tokyo").entries for lab in (first, world(1, SLOWER))]

    assert first.trace.digest() == again.trace.digest()
    assert first.trace.digest() != other.trace.digest()
    assert waiting[0] <= 3 < 12 < waiting[1]


@pytest.mark.slow
@pytest.mark.parametrize("pause", ["100ms", "300ms", "800ms", "900ms", "1s", "1300ms", "1500ms", "2s", "3s"])
def test_no_time_that_is_chosen_is_right(pause):
    def sleeps(lab):
        lab["paris"].demote()
        lab.run(pause)
        lab["tokyo"].promote()

    assert judge(LOSSLESS, (sleeps,)).outcome == NOT_YET


def test_it_is_tried_as_the_text_says():
    assert (LUCKS, SLOWER, MAX_PAUSE_S, MAX_SLOW_PAUSE_S) == (5, 10, 1, 3)


@pytest.mark.slow
def test_where_a_client_waits_too_long_no_further_world_is_played():
    trap = next(trap for trap in LOSSLESS.traps if trap.name == "until nobody writes")

    assert len(look(trap.act).near) == 1
    assert len(look(LOSSLESS.ways["by lag"]).near) == LUCKS


@pytest.mark.slow
def test_how_long_no_write_was_taken_is_said_where_the_client_was_cut_off():
    trap = next(trap for trap in LOSSLESS.traps if trap.name == "clients cut off from paris")

    assert judge(LOSSLESS, (trap.act,)).seen == "no write was taken for 3.2 s; the limit there is 1 s"


@pytest.mark.slow
def test_who_waits_for_equal_roots_while_clients_write_hears_that_they_hardly_come():
    trap = next(trap for trap in LOSSLESS.traps if trap.name == "equal roots, and then the demotion")

    assert "the roots are hardly ever equal" in judge(LOSSLESS, (trap.act,)).seen


@pytest.mark.slow
def test_the_verb_loses_nothing_and_is_refused_for_its_own_sake():
    seen = look(lambda lab: lab.failover("paris", "tokyo"))

    assert (seen.losing, seen.far.lost, len(seen.near)) == ([], 0, 1)
    assert judge(LOSSLESS, (lambda lab: lab.failover("paris", "tokyo"),)).condition == "by its steps"
