"""Machine endpoint: only a machine is answered, with its own tokens, kept almost until they end."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.cloud.machine_endpoint import HOST, MAX_KEPT_TOKENS
from labkit.cloud.parts import KeptToken
from labkit.front.cloud import Cloud
from labkit.service.message import Request
from tests.cloud.conftest import MovedClock

TOKEN = "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api://x"


def asked(cloud: Cloud, path: str = TOKEN, name: str = "web-1", method: str = "GET", **headers: str) -> Any:
    sent = {"Host": HOST, "Metadata": "true", **headers}
    return cloud.handle(Request(method, path, sent, None, cloud.vm(name).record.address))


def test_a_token_is_answered_in_texts(cloud: Cloud, clock: MovedClock) -> None:
    body, now_s = asked(cloud).body, clock() // 10**9

    assert set(body) == {
        *("access_token", "client_id", "expires_in", "expires_on", "not_before"),
        *("refresh_token", "resource", "token_type"),
    }
    assert (body["expires_in"], body["expires_on"], body["not_before"]) == (
        "86400",
        str(now_s + 86_400),
        str(now_s - 300),
    )
    assert (body["client_id"], body["resource"], body["token_type"]) == (
        cloud.vm("web-1").client_id,
        "api://x",
        "Bearer",
    )


@pytest.mark.parametrize(
    ("how", "status", "error"),
    [
        ({"Metadata": ""}, 400, "invalid_request"),
        ({"Metadata": "yes"}, 400, "invalid_request"),
        ({"X-Forwarded-For": "10.0.0.9"}, 400, "invalid_request"),
        ({"method": "POST"}, 405, "invalid_request"),
        ({"path": "/metadata/identity/oauth2/token?resource=api://x"}, 400, "invalid_request"),
        ({"path": "/metadata/identity/oauth2/token?api-version=1&resource=api://x"}, 400, "invalid_request"),
        ({"path": "/metadata/identity/oauth2/token?api-version=2018-02-01"}, 400, "invalid_resource"),
        ({"path": "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=x"}, 400, "invalid_resource"),
        ({"path": "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://"}, 400, "invalid_resource"),
        ({"path": TOKEN + "&client_id=other"}, 400, "invalid_request"),
        ({"path": "/metadata/other?api-version=2018-02-01"}, 404, "not_found"),
    ],
)
def test_what_is_asked_in_another_way_is_refused(cloud: Cloud, how: dict[str, str], status: int, error: str) -> None:
    answer = asked(cloud, **how)

    assert (answer.status, answer.body["error"]) == (status, error)


def test_a_host_that_is_no_machine_is_refused(cloud: Cloud) -> None:
    for address in ("127.0.0.1", "", "10.0.0.200", "web-1"):
        answer: Any = cloud.handle(Request("GET", TOKEN, {"Host": HOST, "Metadata": "true"}, None, address))
        assert (answer.status, answer.body["error"]) == (401, "unauthorized_client"), address


def test_one_of_several_identities_is_chosen_by_name(cloud: Cloud) -> None:
    inventory = cloud.inventory
    group = inventory.machine("web-1").group
    first, second = (inventory.add_identity(name, group, "westeurope") for name in ("first", "second"))
    both = inventory.add_machine("web-3", group, "westeurope", (first, second))

    assert asked(cloud, name="web-3").body["error_description"].startswith("the machine has several identities")
    for query in (
        f"client_id={second.client_id}",
        f"object_id={second.principal_id}",
        f"msi_res_id={second.resource_id}",
    ):
        assert asked(cloud, f"{TOKEN}&{query}", "web-3").body["client_id"] == second.client_id, query
    inventory.keep_machine(both._replace(assigned=()))
    assert asked(cloud, name="web-3").status == 400


def test_a_token_is_kept_for_its_audience_until_shortly_before_it_ends(cloud: Cloud, clock: MovedClock) -> None:
    vm = cloud.vm("web-1")
    first = vm.token()

    assert vm.token() == first != vm.token("api://x")
    clock.move(86_400 - 301)
    assert vm.token() == first
    clock.move(2)
    assert vm.token() != first


def test_a_token_of_a_clock_that_was_ahead_is_not_answered_once_it_is_right(cloud: Cloud) -> None:
    cloud.set_clock_ahead("240h")
    machine = cloud.vm("web-1")
    of_later = machine.token()
    assert machine.token() == of_later
    cloud.set_clock_ahead("0s")

    vault = Vault.dev(clock=cloud.clock, cloud=cloud)
    vault.post("auth/cloud/role/web", {"bound_service_principal_ids": machine.principal_id}).raise_for_status()
    vault.cloud.vm("web-1").login(vault, "web").raise_for_status()
    assert machine.token() != of_later
    assert machine.login(vault, "web", jwt=of_later).status == 403


def test_kept_tokens_are_bounded(cloud: Cloud) -> None:
    for number in range(MAX_KEPT_TOKENS):
        cloud.parts.kept_tokens[f"old {number}"] = KeptToken("x", 0, 0)

    cloud.vm("web-1").token()

    assert len(cloud.parts.kept_tokens) == MAX_KEPT_TOKENS
    assert "old 0" not in cloud.parts.kept_tokens


def test_the_instance_document_says_where_the_machine_is(cloud: Cloud) -> None:
    vm = cloud.vm("fleet_0")
    compute = asked(cloud, "/metadata/instance?api-version=2021-02-01", "fleet_0").body["compute"]

    assert (compute["name"], compute["vmScaleSetName"], compute["location"]) == ("fleet_0", "fleet", "westeurope")
    assert (compute["subscriptionId"], compute["resourceGroupName"]) == (vm.subscription_id, "web")
    assert compute["resourceId"] == vm.resource_id


def test_versions_are_listed_and_the_newest_named_in_a_refusal(cloud: Cloud) -> None:
    listed = asked(cloud, "/metadata/versions").body["apiVersions"]

    assert listed == sorted(listed)
    assert asked(cloud, "/metadata/instance?api-version=2016-01-01").body["newest-versions"] == listed[:-4:-1]
    assert all(asked(cloud, f"/metadata/instance?api-version={version}").ok for version in listed)


def test_the_id_of_an_application_is_an_audience_too(cloud: Cloud) -> None:
    client_id = cloud.config["client_id"]

    assert asked(cloud, TOKEN.replace("api://x", client_id)).body["resource"] == client_id
