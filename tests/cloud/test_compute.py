"""Compute: metadata for applications that may read a subscription, and refusals for all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.cloud.compute import PAGE_ROWS
from labkit.cloud.resources import FLEXIBLE
from labkit.front.cloud import Cloud
from tests.cloud.conftest import Ask, MovedClock

VERSION = "api-version=2024-07-01"
TokenFor = Callable[[str], str]


@pytest.fixture
def read(ask: Ask, token_for: TokenFor):
    token = token_for("management")

    def got(path: str, query: str = VERSION, status: int = 200):
        answer = ask("management", "GET", f"{path}?{query}", token=token)
        assert answer.status == status, answer.body
        return answer.body

    return got


def test_a_machine_says_where_it_is_and_who(cloud: Cloud, read) -> None:
    vm = cloud.vm("web-1")
    for path in (vm.resource_id, vm.resource_id.upper(), vm.resource_id.replace("/providers", "")):
        found = read(path)
        assert (found["id"], found["name"], found["location"]) == (vm.resource_id, "web-1", "westeurope"), path
    assert found["identity"] == {"type": "SystemAssigned", "tenantId": vm.tenant_id, "principalId": vm.principal_id}
    assert found["properties"]["vmId"] == vm.record.vm_id
    assert "instanceView" in read(vm.resource_id, f"{VERSION}&$expand=instanceView")["properties"]


def test_an_assigned_identity_is_shown_with_its_ids(cloud: Cloud, read) -> None:
    vm = cloud.vm("db-1")
    ((path, ids),) = read(vm.resource_id)["identity"]["userAssignedIdentities"].items()

    assert ids == {"principalId": vm.principal_id, "clientId": vm.client_id}
    assert read(path)["properties"] == {"tenantId": vm.tenant_id, **ids}
    group = vm.record.group.resource_id
    listed = read(f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities")
    assert [row["id"] for row in listed["value"]] == [path]
    assert "nextLink" not in listed


def test_both_kinds_of_scale_set(cloud: Cloud, read) -> None:
    inventory = cloud.inventory
    (uniform,) = inventory.scale_sets.values()
    shared = inventory.add_identity("shared", uniform.group, "westeurope")
    flexible = inventory.add_scale_set("pool", uniform.group, "westeurope", FLEXIBLE, (shared,))
    (loose,) = inventory.add_instances(flexible, 1)

    shown = read(uniform.resource_id)
    assert uniform.system is not None
    assert (shown["properties"]["orchestrationMode"], shown["identity"]["principalId"]) == (
        "Uniform",
        uniform.system.principal_id,
    )
    assert read(flexible.resource_id)["identity"]["userAssignedIdentities"] == {shared.resource_id: {}}
    assert read(loose.resource_id)["properties"]["virtualMachineScaleSet"] == {"id": flexible.resource_id}


def test_identities_come_in_pages(cloud: Cloud, read) -> None:
    group = cloud.vm("web-1").record.group
    for number in range(PAGE_ROWS + 1):
        cloud.inventory.add_identity(f"i-{number}", group, "westeurope")
    path = f"{group.resource_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
    first = read(path)
    rest, _, query = first["nextLink"].removeprefix("https://management.cloud.test").partition("?")

    assert len(first["value"]) == PAGE_ROWS
    assert [row["name"] for row in read(rest, query)["value"]] == [f"i-{PAGE_ROWS}"]
    assert len(read(path, f"{VERSION}&$skiptoken=x")["value"]) == PAGE_ROWS


def test_the_address_of_the_next_page_is_ascii(cloud: Cloud, read) -> None:
    subscription = cloud.inventory.subscriptions[cloud.vm("web-1").record.group.subscription_id]
    group = cloud.inventory.add_resource_group("grüppe", subscription)
    for number in range(PAGE_ROWS + 1):
        cloud.inventory.add_identity(f"i-{number}", group, "westeurope")
    path = f"{group.resource_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"

    assert "/resourceGroups/gr%C3%BCppe/" in read(path.replace("ü", "%C3%BC"))["nextLink"]


def test_a_machine_without_an_identity_has_no_block(cloud: Cloud, read) -> None:
    vm = cloud.vm("web-1")
    cloud.inventory.keep_machine(vm.record._replace(system=None))

    assert "identity" not in read(vm.resource_id)
    assert cloud.vm("web-1").principal_id == ""


def test_a_namespace_says_its_types(cloud: Cloud, read) -> None:
    found = read(f"/subscriptions/{cloud.vm('web-1').subscription_id}/providers/microsoft.compute")

    assert [row["resourceType"] for row in found["resourceTypes"]] == ["virtualMachines", "virtualMachineScaleSets"]
    assert all("preview" not in row["apiVersions"][0] for row in found["resourceTypes"])


def names(body: dict[str, Any]) -> list[str]:
    return [row["name"] for row in body["value"]]


def test_subscriptions_and_groups_are_listed(cloud: Cloud, read) -> None:
    foreign = cloud.inventory.add_subscription(cloud.inventory.add_tenant())
    hidden = cloud.inventory.add_subscription(next(iter(cloud.inventory.tenants.values())))
    vm = cloud.vm("web-1")
    rows = read("/subscriptions")["value"]

    assert [row["subscriptionId"] for row in rows] == [vm.subscription_id, cloud.vm("db-1").subscription_id]
    assert not {foreign.subscription_id, hidden.subscription_id} & {row["subscriptionId"] for row in rows}
    assert read(rows[0]["id"]) == rows[0]
    groups = read(f"{rows[0]['id']}/resourceGroups")["value"]
    assert [(group["name"], group["location"]) for group in groups] == [("web", "westeurope")]
    assert read(groups[0]["id"].upper()) == groups[0]


def test_resources_are_listed_by_type(cloud: Cloud, read) -> None:
    inventory = cloud.inventory
    (uniform,) = inventory.scale_sets.values()
    flexible = inventory.add_scale_set("pool", uniform.group, "westeurope", FLEXIBLE)
    (loose,) = inventory.add_instances(flexible, 1)
    group = uniform.group.resource_id
    subscription = group.partition("/resourceGroups")[0]
    compute = "providers/Microsoft.Compute"

    for where in (subscription, group):
        assert names(read(f"{where}/{compute}/virtualMachines")) == ["web-1", "web-2", loose.name]
        assert names(read(f"{where}/{compute}/virtualMachineScaleSets")) == ["fleet", "pool"]
    assert names(read(f"{group}/{compute}/virtualMachineScaleSets/fleet/virtualMachines")) == ["fleet_0", "fleet_1"]
    data = cloud.vm("db-1").record.group.resource_id
    assert names(read(f"{data}/providers/Microsoft.ManagedIdentity/userAssignedIdentities")) == ["db-identity"]
    assert names(read(f"{data}/{compute}/virtualMachineScaleSets")) == []


def test_a_long_list_goes_in_pages(cloud: Cloud, read) -> None:
    group = cloud.vm("web-1").record.group
    for number in range(2 * PAGE_ROWS):
        cloud.inventory.add_machine(f"more-{number}", group, "westeurope")
    path, found = f"{group.resource_id}/providers/Microsoft.Compute/virtualMachines", []
    body = read(path)
    while "nextLink" in body:
        found += names(body)
        address, _, query = body["nextLink"].partition("?")
        assert address == f"https://management.cloud.test{path}"
        body = read(path, query)

    assert len(set(found + names(body))) == 2 * PAGE_ROWS + 2


def test_a_machine_is_looked_for_and_its_view_read(cloud: Cloud, ask: Ask, token_for: TokenFor, read) -> None:
    vm = cloud.vm("web-1")
    statuses = [{"code": "PowerState/running"}]
    assert read(f"{vm.resource_id}/instanceView") == {"computerName": "web-1", "statuses": statuses}
    token = token_for("management")
    group = vm.resource_id.partition("/providers")[0]
    for path, status in ((vm.resource_id, 204), (f"{vm.resource_id}0", 404), (group, 204), (f"{group}0", 404)):
        assert ask("management", "HEAD", f"{path}?{VERSION}", token=token).status == status
    assert ask("management", "HEAD", f"{vm.resource_id}?{VERSION}", token=token).body is None


def test_what_is_not_there_is_404(cloud: Cloud, read) -> None:
    subscription = f"/subscriptions/{cloud.vm('web-1').subscription_id}"
    web = f"{subscription}/resourceGroups/web"
    for path, code in (
        ("/", "InvalidResource"),
        ("/other/x", "InvalidResource"),
        ("/subscriptions/moon", "SubscriptionNotFound"),
        (f"{subscription}/other", "InvalidResource"),
        (f"{subscription}/providers/Microsoft.Web/sites", "InvalidResourceType"),
        (f"{web}/providers/Microsoft.Web/sites", "InvalidResourceType"),
        (f"{web}/providers/Microsoft.Compute/virtualMachines/web-1/other", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.Compute/virtualMachines/web-9/instanceView", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines", "ResourceNotFound"),
        (f"{subscription}/providers/Moon", "InvalidResourceNamespace"),
        (f"{subscription}/resourceGroups/moon/providers/Microsoft.Compute/virtualMachines/x", "ResourceGroupNotFound"),
        (f"{web}/Microsoft.Compute", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.Compute/virtualMachines/web-9", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.Compute/virtualMachineScaleSets/web-1", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/x", "ResourceNotFound"),
        (f"{web}/providers/Microsoft.Web/sites/x", "ResourceNotFound"),
    ):
        assert read(path, status=404)["error"]["code"] == code, path


def test_who_may_not_read_is_refused(cloud: Cloud, ask: Ask, token_for: TokenFor, clock: MovedClock) -> None:
    vm, good = cloud.vm("web-1"), token_for("management")
    path = f"{vm.resource_id}?{VERSION}"

    def refused(token: str, part: str = "management", path: str = path, method: str = "GET", **headers: str) -> str:
        answer = ask(part, method, path, token=token, **headers)
        return f"{answer.status} {answer.body['error']['code']}"

    (application,) = cloud.inventory.applications.values()
    assert refused("") == "401 AuthenticationFailed"
    assert refused("", Authorization=f"Basic {good}") == "401 AuthenticationFailed"
    assert refused("x.y.z") == "401 InvalidAuthenticationToken"
    assert refused(good, "management.china") == "401 InvalidAuthenticationToken"
    assert refused(token_for("graph")) == "401 InvalidAuthenticationTokenAudience"
    assert refused(vm.token()) == "403 AuthorizationFailed"
    assert refused(good, path=vm.resource_id) == "400 MissingApiVersionParameter"
    assert refused(good, method="DELETE") == "405 MethodNotAllowed"
    other = cloud.inventory.add_subscription(cloud.inventory.add_tenant()).subscription_id
    assert (
        refused(good, path=f"/subscriptions/{other}/providers/Microsoft.Compute?{VERSION}")
        == "404 SubscriptionNotFound"
    )
    cloud.inventory.applications[application.client_id] = application._replace(reads=())
    assert refused(good) == "403 AuthorizationFailed"
    clock.move(3_601)
    assert refused(good) == "401 ExpiredAuthenticationToken"


def test_a_token_ends_with_its_last_second(cloud: Cloud, ask: Ask, token_for: TokenFor, clock: MovedClock) -> None:
    path, token = f"{cloud.vm('web-1').resource_id}?{VERSION}", token_for("management")
    claims = cloud.parts.claims_of("CloudPublicCloud", token)
    assert claims is not None
    end_s = claims["exp"]
    clock.move(end_s - 1 - clock.now_ns // 10**9)
    assert ask("management", "GET", path, token=token).status == 200
    clock.move(1)
    assert ask("management", "GET", path, token=token).status == 401


def test_a_page_that_holds_the_end_names_no_next_one(cloud: Cloud, read) -> None:
    group = cloud.vm("web-1").record.group
    for number in range(PAGE_ROWS):
        cloud.inventory.add_identity(f"i-{number}", group, "westeurope")
    path = f"{group.resource_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"

    assert len(read(path)["value"]) == PAGE_ROWS
    assert "nextLink" not in read(path)
    assert [len(read(path, f"{VERSION}&$skiptoken={first}")["value"]) for first in (PAGE_ROWS - 1, PAGE_ROWS)] == [1, 0]


def test_a_page_begins_where_a_number_of_eight_digits_says(cloud: Cloud, read) -> None:
    path = f"{cloud.vm('db-1').record.group.resource_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"

    assert [len(read(path, f"{VERSION}&$skiptoken={text}")["value"]) for text in ("9" * 8, "9" * 9, "٣")] == [0, 1, 1]


def test_what_is_below_a_resource_is_not_there_and_an_identity_that_is_gone_is_not_shown(cloud: Cloud, read) -> None:
    vm = cloud.vm("db-1")
    assert read(f"{vm.resource_id}/extensions", status=404)["error"]["code"] == "ResourceNotFound"
    (assigned,) = vm.record.assigned
    del cloud.inventory.identities[assigned]

    assert "identity" not in read(vm.resource_id)
