"""Parts: every part that is named is made, for a new lab and from a saved state alike, and none of them is the lab."""

from __future__ import annotations

from dataclasses import fields

from labkit import Lab
from labkit.lab.parts import Parts


def test_every_part_is_made_in_both_ways(quiet):
    for lab in (quiet, Lab.restore(quiet.snapshot())):
        assert [field.name for field in fields(Parts) if getattr(lab.parts, field.name, None) is None] == []


def test_now_is_the_clocks_and_starts_at_nothing(quiet):
    assert quiet.now == quiet.parts.now == quiet.parts.clock.now == 0
    quiet.run("1s")
    assert quiet.now == quiet.parts.now == quiet.parts.clock.now == 1_000_000_000
