"""Hunt: what a notebook gets by its name."""

from __future__ import annotations

import pytest

from labkit import hunt


@pytest.mark.slow
def test_the_package_gives_explore_and_what_it_returns():
    assert hunt.__all__ == ["Exploration", "explore", "rows"]
    assert hunt.explore(seeds=1).plan.seeds == 1
