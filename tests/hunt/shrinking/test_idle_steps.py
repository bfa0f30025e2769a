"""Idle steps: what was refused, and what had no effect, by number."""

from __future__ import annotations

from labkit.hunt.shrinking.idle_steps import not_done, without_effect
from labkit.hunt.world import read, world_of
from tests.hunt.shrinking.edits import data


def test_what_was_refused_and_what_had_no_effect():
    world = world_of(
        read(
            data(
                {"do": "crash", "target": "tokyo-1", "after": "1s"},
                {"do": "restart", "target": "paris", "fails": "maybe"},
                {"do": "demote", "cluster": "tokyo", "fails": "maybe"},
                {"do": "heal", "when": "done", "fails": "maybe"},
                {"do": "skew", "target": "paris-2", "by": "1s"},
                {"do": "promote", "cluster": "tokyo", "after": "1h", "fails": "maybe"},
            )
        )
    ).run("1m")

    assert not_done(world) == {4, 5}
    assert without_effect(world) == {3}
