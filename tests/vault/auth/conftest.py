"""What tests of auth methods share: a cloud, a vault beside it with two roles, and what it fetches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from labkit import Cloud, Vault
from labkit.service.message import Fetch, Response
from tests.vault.conftest import ManualClock

CONFIG = {"tenant_id": "72f988bf-0000-4000-8000-000000000001", "resource": "https://management.cloud.test/"}
BOUND = {"bound_service_principal_ids": "33333333-0000-4000-8000-000000000001"}

SECOND_NS = 1_000_000_000


@pytest.fixture
def config() -> dict[str, str]:
    """The least that a configuration says."""
    return dict(CONFIG)


@pytest.fixture
def bound() -> dict[str, str]:
    """The least that a role says."""
    return dict(BOUND)


class Stand(NamedTuple):
    """A vault beside a cloud, on one clock; what it fetched and observed, and what answers in the cloud's place."""

    vault: Vault
    cloud: Cloud
    clock: ManualClock
    fetched: list[Fetch]
    seen: list[tuple[str, dict[str, Any]]]
    instead: list[Callable[[Fetch], Response | None]]

    def login(self, machine: str = "web-1", role: str = "sp", **fields: Any) -> Response:
        """Log a machine in; ``claims`` and ``headers`` make its token another one."""
        forged = {name: fields.pop(name) for name in ("claims", "headers", "key") if name in fields}
        if forged:
            fields["jwt"] = self.cloud.mint(machine, **forged)
        return self.cloud.vm(machine).login(self.vault, role=role, **fields)

    def role(self, name: str, **fields: Any) -> None:
        """Write a role."""
        assert self.vault.post(f"auth/cloud/role/{name}", fields).status == 204

    @property
    def reasons(self) -> list[str]:
        """Why logins were refused so far."""
        return [fields["reason"] for kind, fields in self.seen if kind == "login refused"]

    @property
    def asked(self) -> list[str]:
        """The last words of the paths that were fetched so far."""
        return [fetch.request.path.partition("?")[0].rpartition("/")[2] for fetch in self.fetched]


@pytest.fixture(scope="module")
def shared_cloud() -> tuple[Cloud, ManualClock]:
    """A cloud on a clock of its own: making its keys takes a while."""
    clock = ManualClock()
    return Cloud.dev(clock=clock), clock


@pytest.fixture
def stand(shared_cloud: tuple[Cloud, ManualClock], monkeypatch: pytest.MonkeyPatch) -> Stand:
    """A vault with role ``sp`` bound to web-1's principal, and ``web`` to its resource group and location."""
    cloud, clock = shared_cloud
    vault = Vault.dev(clock=clock, cloud=cloud)
    made = Stand(vault, cloud, clock, [], [], [])
    honest = Cloud.answer

    def answer(cloud: Cloud, fetch: Fetch) -> Response:
        made.fetched.append(fetch)
        given = [found for find in made.instead if (found := find(fetch)) is not None]
        return given[0] if given else honest(cloud, fetch)

    monkeypatch.setattr(Cloud, "answer", answer)
    monkeypatch.setattr(clock, "now_ns", clock.now_ns)  # back where it stood afterwards
    vault.core.observe = lambda kind, **fields: made.seen.append((kind, fields))
    machine = cloud.vm("web-1")
    made.role("sp", bound_service_principal_ids=machine.principal_id, token_policies="app")
    made.role("web", bound_resource_groups=machine.resource_group.upper(), bound_locations=machine.location.upper())
    return made
