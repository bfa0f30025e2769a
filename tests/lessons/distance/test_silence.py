"""Exercise silence: whether a silent request happened depends on who led when it was read."""

from __future__ import annotations

from labkit.lessons.distance.silence import ONE, TWO, impatient_and_dead, look, short_and_long_stall, start


def test_a_leader_that_wakes_in_time_stores_what_waited():
    lab = start()
    short_and_long_stall(lab)

    assert look(lab) == (2, (), (ONE,))


def test_who_waits_too_short_has_stored_and_the_dead_have_not():
    lab = start()
    impatient_and_dead(lab)

    assert look(lab).stored == (ONE,)
    assert TWO not in look(lab).stored
