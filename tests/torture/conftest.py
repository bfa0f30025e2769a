"""What the tests of a served door share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labkit import Vault


@pytest.fixture
def vault() -> Vault:
    """A vault in development mode."""
    return Vault.dev(seed=7)


@pytest.fixture
def url(vault: Vault) -> Iterator[str]:
    """It behind a port."""
    with vault.serve() as address:
        yield address
