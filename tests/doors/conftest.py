"""What the tests of doors share: a vault, a cluster of a lab, and what a vault's store holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.lab.plan.blueprint import pair


@pytest.fixture
def vault() -> Vault:
    """A vault in development mode whose answers depend on its requests only."""
    return Vault.dev(seed=7)


@pytest.fixture
def lab() -> Lab:
    """A lab of one cluster, whose clock moves while it is asked."""
    plan = pair()
    return Lab(replace(plan, clusters=plan.clusters[:1]))


@pytest.fixture(params=["vault", "cluster"])
def service(request: pytest.FixtureRequest) -> Any:
    """What a door leads to, both alike."""
    return Vault.dev(seed=7) if request.param == "vault" else request.getfixturevalue("lab")["paris"]


def done(act: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """Carry out an act of control to its end."""

    async def carried_out() -> dict[str, Any]:
        return await act

    return asyncio.run(carried_out())
