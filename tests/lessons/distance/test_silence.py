"""Exercise silence: whether a silent request happened depends on who led when it was read; who leads now can say it."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.distance.silence import (
    ONE,
    SILENCE,
    TWO,
    impatient_and_dead,
    look,
    short_and_long_stall,
    start,
)
from labkit.lessons.judging import judge
from labkit.service.silence import Silence


def test_a_leader_that_wakes_in_time_stores_what_waited():
    lab = start()
    short_and_long_stall(lab)

    assert look(lab)[:2] == ((ONE, TWO), ())
    assert look(lab).leader
    assert look(lab).stored == (ONE,)


def test_who_waits_too_short_has_stored_and_the_dead_have_not():
    lab = start()
    impatient_and_dead(lab)

    assert look(lab).stored == (ONE,)
    assert TWO not in look(lab).stored


def ask(lab: Lab, path: str, timeout: str) -> bool:
    """Ask paris-1 to write; return whether it answered."""
    token = {"X-Vault-Token": lab["paris"].root_token}
    try:
        return lab["paris"].request("POST", path, {"data": {}}, token, node="paris-1", timeout=timeout).ok
    except Silence:
        return False


@pytest.mark.parametrize(("timeout", "answered"), [("100us", False), ("1ms", True)])
def test_an_answer_is_there_within_a_millisecond(timeout, answered):
    """What a hint says."""
    assert ask(start(), ONE, timeout) is answered


def test_a_region_that_is_down_is_no_failure_of_the_check():
    lab = start()
    lab.crash("paris")
    for path in (ONE, TWO):
        assert not ask(lab, path, "1s")

    assert judge(SILENCE, (lab,))[1:3] == (
        "somebody leads",
        "no node of paris leads any more, so nobody can say what is stored",
    )


def test_what_is_missing_is_said_by_its_path():
    lab = start()
    lab.pause("paris-1")
    ask(lab, ONE, "100ms")

    assert judge(SILENCE, (lab,)).seen == f"sent to paris and without an answer: {ONE}"
