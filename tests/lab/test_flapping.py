"""Flapping: a line goes down and comes up until it is steady, and undoes no other fault."""

from __future__ import annotations

import pytest

from labkit import Lab


def faults(lab: Lab) -> list[tuple[str, str, str]]:
    return [(event.verb, event.target, event.detail) for event in lab.trace.select("fault")]


def test_a_flapping_line_goes_down_and_up_until_it_is_steady(quiet):
    quiet.flap("paris", "tokyo", down="1s", up="2s")
    seen = []
    for _ in range(8):
        quiet.run("1s")
        seen.append(quiet.network.reachable("paris", "tokyo"))
    assert seen == [True, False, True, True, False, True, True, False]
    quiet.steady()
    assert quiet.network.reachable("paris", "tokyo")
    quiet.run("10s")
    assert quiet.network.reachable("paris", "tokyo")
    assert faults(quiet)[0] == ("flap", "paris <> tokyo", "1s down, 2s up")
    assert faults(quiet)[-2:] == [("steady", "paris <> tokyo", ""), ("heal", "paris <> tokyo", "flapping")]


CUTS = {
    "partition": lambda lab: lab.partition("paris", "tokyo"),
    "cut": lambda lab: lab.cut("paris", "tokyo"),
    "isolate": lambda lab: lab.isolate("paris"),
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("at", ["1500ms", "2500ms"], ids=["while it is up", "while it is down"])
def test_a_flapping_line_undoes_no_cut(quiet, cut, at):
    quiet.flap("paris", "tokyo", down="1s", up="2s")
    quiet.run(until=at)
    CUTS[cut](quiet)
    for at in ("3500ms", "5500ms", "6500ms"):
        quiet.run(until=at)
        assert not quiet.network.reachable("paris", "tokyo")
    quiet.steady()
    assert not quiet.network.reachable("paris", "tokyo")
    quiet.heal()
    assert quiet.network.reachable("paris", "tokyo")


@pytest.mark.parametrize("around", [(), ("paris",), ("paris", "tokyo")], ids=["all", "around one", "between two"])
def test_heal_leaves_a_flapping_line_down(quiet, around):
    quiet.flap("paris", "tokyo", down="1s", up="2s")
    quiet.isolate("tokyo")
    quiet.run("2500ms").heal(*around)
    assert not quiet.network.reachable("paris", "tokyo")
    assert quiet.network.reachable("lisbon", "tokyo") == (len(around) == 0)
    other = Lab.restore(quiet.snapshot())
    for lab in (quiet, other):
        assert lab.run("1s").network.reachable("paris", "tokyo")


def test_a_line_that_is_down_and_flaps_anew_is_up_first(quiet):
    quiet.flap("paris", "tokyo", down="10s", up="1s")
    quiet.run("2s").flap("paris", "tokyo", down="1s", up="3s")

    assert quiet.network.reachable("paris", "tokyo")
    assert not quiet.run("3500ms").network.reachable("paris", "tokyo")


def test_a_line_that_flaps_again_does_so_at_the_new_pace_only(quiet):
    quiet.flap("paris", "tokyo", down="1s", up="2s")
    quiet.flap("tokyo", "paris", down="5s", up="5s")
    quiet.steady("lisbon")
    quiet.run("4500ms")
    assert quiet.network.reachable("paris", "tokyo")
    quiet.run("1s")
    assert not quiet.network.reachable("paris", "tokyo")
    other = Lab.restore(quiet.snapshot())
    for lab in (quiet, other):
        lab.run("4s")
        assert not lab.network.reachable("paris", "tokyo")
        lab.run("1s")
        assert lab.network.reachable("paris", "tokyo")
    quiet.steady("paris", "tokyo")
    quiet.flap("paris", "tokyo", down="1h", up="1ms")
    quiet.run("1s")
    assert not quiet.network.reachable("paris", "tokyo")
