"""Access tokens: which claims a token carries, for whom, and when it is valid."""

from __future__ import annotations

from typing import Any

import jwt

from labkit.cloud.access_tokens import MAX_GROUPS
from labkit.cloud.resources import FLEXIBLE
from labkit.front.cloud import Cloud
from tests.cloud.conftest import MovedClock


def claims_of(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def test_the_claims_of_a_machine_with_an_identity_of_its_own(cloud: Cloud, clock: MovedClock) -> None:
    vm = cloud.vm("web-1")
    claims, now_s = claims_of(vm.token()), clock() // 10**9
    (group,) = cloud.inventory.groups.values()

    assert claims["aud"] == vm.resource == "https://management.cloud.test/"
    assert claims["iss"] == claims["idp"] == f"https://sts.cloud.test/{vm.tenant_id}/"
    assert (claims["iat"], claims["nbf"], claims["exp"]) == (now_s - 300, now_s - 300, now_s - 300 + 86_700)
    assert claims["oid"] == claims["sub"] == vm.principal_id
    assert (claims["appid"], claims["tid"], claims["groups"]) == (vm.client_id, vm.tenant_id, [group.group_id])
    assert (claims["appidacr"], claims["idtyp"], claims["ver"]) == ("2", "app", "1.0")
    assert claims["xms_mirid"] == vm.resource_id.replace("resourceGroups", "resourcegroups")
    assert "xms_az_rid" not in claims


def test_an_assigned_identity_is_named_and_its_machine_beside_it(cloud: Cloud) -> None:
    claims = claims_of(cloud.vm("db-1").token())

    assert claims["xms_mirid"].endswith("/userAssignedIdentities/db-identity")
    assert claims["xms_az_rid"].endswith("/virtualMachines/db-1")
    assert "groups" not in claims


def test_an_instance_of_a_uniform_set_is_named_by_the_set_one_of_a_flexible_set_by_itself(cloud: Cloud) -> None:
    inventory = cloud.inventory
    group = inventory.machine("web-1").group
    shared = inventory.add_identity("shared", group, "westeurope")
    (loose,) = inventory.add_instances(inventory.add_scale_set("pool", group, "westeurope", FLEXIBLE, (shared,)), 1)

    assert claims_of(cloud.vm("fleet_1").token())["xms_mirid"].endswith("/virtualMachineScaleSets/fleet")
    assert claims_of(cloud.vm(loose.name).token())["xms_az_rid"].endswith(f"/virtualMachines/{loose.name}")


def test_a_token_for_the_compute_api_names_its_machine_with_the_last_slash_or_without(cloud: Cloud) -> None:
    claims = claims_of(cloud.vm("web-1").token("https://management.cloud.test"))

    assert claims["aud"] == "https://management.cloud.test"
    assert claims["xms_mirid"].endswith("/virtualMachines/web-1")
    assert "xms_mirid" not in claims_of(cloud.vm("web-1").token("https://management.cloud.test//"))


def test_a_token_for_another_audience_names_no_resource(cloud: Cloud) -> None:
    claims = claims_of(cloud.vm("web-1").token("api://shop"))

    assert claims["aud"] == "api://shop"
    assert not {"xms_mirid", "xms_az_rid"} & set(claims)


def test_too_many_groups_are_named_by_where_to_ask(cloud: Cloud) -> None:
    vm = cloud.vm("web-2")
    tenant = cloud.inventory.tenants[vm.tenant_id]
    for number in range(MAX_GROUPS - 1):
        cloud.inventory.add_group(f"more-{number}", tenant, (vm.principal_id,))
    assert len(claims_of(cloud.mint(vm))["groups"]) == MAX_GROUPS
    cloud.inventory.add_group("one-more", tenant, (vm.principal_id,))
    claims = claims_of(cloud.mint(vm))

    assert "groups" not in claims
    assert claims["_claim_names"] == {"groups": "src1"}
    assert claims["_claim_sources"]["src1"]["endpoint"].startswith("https://graph.cloud.test/")
