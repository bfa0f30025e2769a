"""Parts: every part that is named is made, anew and from a saved state alike."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.parts import Parts


def test_wiring_makes_every_part_that_is_named(quiet):
    for lab in (quiet, Lab.restore(quiet.snapshot())):
        missing = [name for name in Parts.__annotations__ if not hasattr(lab, name)]

        assert missing == []


def test_now_is_the_clocks_and_starts_at_nothing(quiet):
    assert quiet.now == quiet.clock.now == 0
    quiet.run("1s")
    assert quiet.now == quiet.clock.now == 1_000_000_000
