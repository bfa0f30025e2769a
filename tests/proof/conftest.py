"""What tests of proofs stand on: models that were searched once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from labkit.proof.bounds import Bounds
from labkit.proof.replication import Replication
from labkit.proof.search import search


@cache
def _searched(bounds: Bounds) -> Any:
    model = Replication(bounds)
    return model, *search(model)


@pytest.fixture(scope="session")
def searched() -> Callable[[Bounds], Any]:
    """A model of the shipped code, what its search found and reached."""
    return _searched
