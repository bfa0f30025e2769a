"""What the tests of the cloud auth method share: a service whose method is configured, with one role."""

from __future__ import annotations

import pytest

CONFIG = {"tenant_id": "72f988bf-0000-4000-8000-000000000001", "resource": "https://management.cloud.test/"}
BOUND = {"bound_service_principal_ids": "33333333-0000-4000-8000-000000000001"}


@pytest.fixture
def config() -> dict[str, str]:
    """The least that a configuration says."""
    return dict(CONFIG)


@pytest.fixture
def bound() -> dict[str, str]:
    """The least that a role says."""
    return dict(BOUND)
