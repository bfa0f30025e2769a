"""Fixtures of the front: a vault in development mode, labs, and the text of a small scenario."""

from __future__ import annotations

import pytest

from labkit import Vault
from tests.lab import conftest as of_labs
from tests.scenario import conftest as of_scenarios
from tests.vault.conftest import ManualClock

calm_snapshot, calm, quiet = of_labs.calm_snapshot, of_labs.calm, of_labs.quiet
scenario_file, vary = of_scenarios.scenario_file, of_scenarios.vary


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at the start of 2030."""
    return ManualClock()


@pytest.fixture
def service(clock: ManualClock) -> Vault:
    """A vault in development mode on a manual clock: secret/ (KV v2) and transit/, root token sent by short forms."""
    return Vault.dev(clock=clock)
