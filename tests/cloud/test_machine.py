"""Cloud machine: what the handle says, the tokens that it gets, and the login that it sends."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.cloud.machine import NoToken
from labkit.front.cloud import Cloud
from labkit.service.message import Response, respond


class Recorder:
    """Stands for a vault; keeps what was posted."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, Any], str]] = []

    def post(self, path: str, body: dict[str, Any], *, token: str) -> Response:
        self.posted.append((path, body, token))
        return respond(204)


def test_a_handle_says_what_a_login_needs(cloud: Cloud) -> None:
    vm = cloud.vm("db-1")

    assert (vm.name, vm.resource_group, vm.location, vm.scale_set) == ("db-1", "data", "northeurope", "")
    assert vm.subscription_id in cloud.inventory.subscriptions
    assert vm.tenant_id in cloud.inventory.tenants
    assert vm.principal_id in cloud.inventory.identities
    assert repr(vm) == "CloudMachine(db-1, data, northeurope)"


def test_a_login_is_sent_to_a_vault_or_a_cluster_only(cloud: Cloud) -> None:
    with pytest.raises(ValueError, match=r"^vault: expected a vault, or a cluster of a lab such as .*, got 'paris'$"):
        cloud.vm("web-1").login("paris", role="web")  # type: ignore[arg-type]  # what is tested


def test_a_login_sends_what_the_machine_is(cloud: Cloud) -> None:
    vault = Recorder()
    vm, instance = cloud.vm("web-1"), cloud.vm("fleet_0")
    vm.login(vault, role="web")
    instance.login(vault, role="web", mount="auth/other/", jwt="x", subscription_id="y")

    assert vault.posted == [
        (
            "auth/cloud/login",
            {
                "role": "web",
                "jwt": vm.token(),
                "subscription_id": vm.subscription_id,
                "resource_group_name": "web",
                "vm_name": "web-1",
            },
            "",
        ),
        (
            "auth/other/login",
            {"role": "web", "jwt": "x", "subscription_id": "y", "resource_group_name": "web", "vmss_name": "fleet"},
            "",
        ),
    ]


def test_a_machine_that_gets_no_token_says_why(cloud: Cloud) -> None:
    vm = cloud.vm("web-1")

    with pytest.raises(
        NoToken, match=r"web-1 got no token; its endpoint answered 400: the machine has no such identity"
    ):
        vm.token(client_id="other")
    cloud.inventory.delete_machine(vm.record)
    with pytest.raises(NoToken, match="answered 401: only a machine of this cloud"):
        vm.token()
