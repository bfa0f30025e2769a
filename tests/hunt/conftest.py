"""A small campaign of each operator, played once for all tests of this folder."""

from __future__ import annotations

import pytest

from labkit.hunt.exploration import Exploration
from labkit.hunt.explore import explore

CARELESS_SEEDS = 4


@pytest.fixture(scope="session")
def careless() -> Exploration:
    """A campaign in which two primaries are found."""
    return explore(seeds=CARELESS_SEEDS, operator="careless")
