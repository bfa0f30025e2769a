"""Breaking runs: which key is followed, and what it means that it breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit.hunt.no_return.breaking_runs import UnknownKey, WrittenRun, breaks, broken_keys, key_to_follow
from labkit.hunt.world import world_of


def test_the_first_that_is_broken_is_followed_and_anything_where_nothing_is(lossy: WrittenRun, harmless: WrittenRun):
    assert broken_keys(lossy.verdict) == ("lost",)
    assert (key_to_follow(lossy, None), key_to_follow(harmless, None)) == ("lost", "")
    assert key_to_follow(harmless, "one primary") == "one primary"
    assert [*lossy.began_ns] == [1, 2, 3, 4]


def test_a_step_that_is_refused_comes_last(lossy: WrittenRun):
    keys = ("timeline", "step 2", "x")
    rows = [lossy.verdict.rows[0]._replace(key=key, status="broken") for key in keys]
    first, both = [replace(lossy.verdict, rows=tuple(some)) for some in (rows, rows[:2])]

    assert key_to_follow(lossy._replace(verdict=first), None) == "x"
    assert key_to_follow(lossy._replace(verdict=both), None) == "timeline"


def test_a_key_that_the_verdict_does_not_have(lossy: WrittenRun):
    with pytest.raises(UnknownKey, match=r"--of: expected a key of the verdict, got 'lots' — did you mean 'lost'\?"):
        key_to_follow(lossy, "lots")


def test_a_key_of_which_nothing_is_expected(lossy: WrittenRun):
    """No branch can break it, and that would say nothing of luck."""
    with pytest.raises(
        UnknownKey, match="expected a key that the verdict judges, got 'rto', which it only lists; write"
    ):
        key_to_follow(lossy, "rto")


def test_a_key_that_is_unknown_may_break_in_a_branch(lossy: WrittenRun):
    rows = (lossy.verdict.rows[0]._replace(key="x", status="unknown"),)

    assert key_to_follow(lossy._replace(verdict=replace(lossy.verdict, rows=rows)), "x") == "x"


def test_a_world_breaks_one_key_or_anything(lossy: WrittenRun):
    world = world_of(lossy.scenario)
    world.run()

    assert (breaks(world, "lost"), breaks(world, ""), breaks(world, "one primary")) == (True, True, False)
