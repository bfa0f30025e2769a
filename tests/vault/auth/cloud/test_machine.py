"""Places in the cloud: resource ids are read whole or not at all, and compared part by part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.vault.auth.cloud.machine import (
    MachinePlace,
    claimed_resource,
    is_same,
    may_belong,
    principals_in,
    query,
    read_resource_id,
    scale_set_of,
)

SUB = "11111111-0000-4000-8000-000000000001"
BASE = f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.Compute"
VM = f"{BASE}/virtualMachines/web-1"


def place(**named: str) -> MachinePlace:
    """A place in that group."""
    ((kind, name),) = named.items()
    return MachinePlace(SUB, "RG", kind, name)


@pytest.mark.parametrize(
    ("claimed", "named", "same"),
    [
        (VM, place(vm_name="WEB-1"), True),
        (VM + "0", place(vm_name="web-1"), False),
        (VM.replace("/rg/", "/rg-prod/"), place(vm_name="web-1"), False),
        (VM.replace(SUB, SUB[:-1] + "2"), place(vm_name="web-1"), False),
        (VM.replace("Compute", "Other"), place(vm_name="web-1"), False),
        (VM, place(vmss_name="web-1"), False),
        (f"{BASE}/virtualMachineScaleSets/pool", place(vmss_name="Pool"), True),
        (f"{BASE}/virtualMachineScaleSets/pool/virtualMachines/3", place(vmss_name="pool"), True),
        (f"{BASE}/virtualMachineScaleSets/pool-b", place(vmss_name="pool"), False),
        (f"{BASE}/virtualMachines/pool_0a1b", place(vmss_name="pool"), False),
        (f"{BASE}/virtualMachines/pool", place(vmss_name="pool"), False),
        (VM.replace("/rg/", "/\u212a/"), MachinePlace(SUB, "k", "vm_name", "web-1"), False),
        (VM.replace("/rg/", "/\u212a/"), MachinePlace(SUB, "\u212a", "vm_name", "web-1"), True),
        (f"{BASE}/virtualMachineScaleSets/web-1", place(vm_name="web-1"), False),
        (VM, place(resource_id=VM.lower()), True),
        (VM, place(resource_id=VM.replace("/providers", "")), True),
        (VM, place(resource_id=VM + "/extensions/x"), False),
        (VM, MachinePlace(SUB, "rg", "", ""), True),
        (VM, MachinePlace(SUB, "other", "", ""), False),
    ],
)
def test_a_place_is_the_claimed_one_or_another(claimed, named, same) -> None:
    resource = read_resource_id(claimed)
    assert resource is not None
    assert is_same(named, resource) == same


@pytest.mark.parametrize(
    ("claimed", "may"),
    [
        (f"{BASE}/virtualMachines/anything", True),
        (f"{BASE}/virtualMachines/pool_1/extensions/x", False),
        (f"{BASE}/virtualMachineScaleSets/pool", False),
        (f"{BASE}/virtualMachines/pool_1".replace("/rg/", "/other/"), False),
        (f"{BASE}/virtualMachines/pool_1".replace("Compute", "Other"), False),
    ],
)
def test_any_machine_beside_a_scale_set_may_belong_to_it_whatever_its_name(claimed, may) -> None:
    resource = read_resource_id(claimed)
    assert resource is not None
    assert may_belong(place(vmss_name="pool"), resource) == may
    assert not may_belong(place(vm_name="pool"), resource)


@pytest.mark.parametrize("said", [None, [], {}, {"virtualMachineScaleSet": "x"}, {"virtualMachineScaleSet": {"id": 5}}])
def test_a_machine_of_which_the_cloud_says_no_scale_set_is_in_none(said) -> None:
    assert scale_set_of({"properties": said}) is None


def test_the_scale_set_that_the_cloud_says() -> None:
    pool = f"{BASE}/virtualMachineScaleSets/Pool"
    assert scale_set_of({"properties": {"virtualMachineScaleSet": {"id": pool}}}) == place(vmss_name="pool").resource


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", VM[1:], VM + "/", VM + "/x", VM + "?a", VM + "#a", VM + "%2e", VM.replace("web-1", ".."), VM + "\n"),
        *(VM.replace("web-1", " "), VM.replace("web-1", ""), VM.replace(SUB, "x"), VM.replace("/rg/", "/r g/")),
        *(VM + "/a/b/c/d/e/f", VM.replace("subscriptions", "subs"), VM + "\\x", BASE, "/a" * 4_000),
    ],
)
def test_what_is_no_resource(text) -> None:
    assert read_resource_id(text) is None


@pytest.mark.parametrize("value", [None, 5, [VM], {}])
def test_no_other_value_is_one(value) -> None:
    assert read_resource_id(value) is None
    assert claimed_resource({"xms_mirid": value}) is None


@given(st.text(max_size=80))
@example("0/0/0")
@example("0/\x80/0")
def test_a_path_that_is_asked_for_is_escaped(name) -> None:
    resource = read_resource_id(f"{BASE}/virtualMachines/{name}")
    if resource is not None:
        path, _, parameters = query(resource).partition("?")
        assert path.count("/") == 6 + 2 * len(resource.types)
        assert path.isascii()
        expanded = "$expand=instanceView&" if len(resource.types) == 1 else ""  # what is inside a machine has none
        assert parameters == f"{expanded}api-version=2024-07-01"


@pytest.mark.parametrize(
    ("metadata", "known", "unsaid"),
    [
        ({}, [], 0),
        ({"identity": None}, [], 0),
        ({"identity": {"principalId": "A"}}, ["a"], 0),
        ({"identity": {"principalId": 5, "userAssignedIdentities": []}}, [], 0),
        ({"identity": {"userAssignedIdentities": {"x": {"principalId": "B"}, "y": None, "z": {}}}}, ["b"], 0),
        ({"identity": {"userAssignedIdentities": {VM: {}}}}, [], 0),
        (
            {"identity": {"userAssignedIdentities": {f"{BASE[:-7]}ManagedIdentity/userAssignedIdentities/u": {}}}},
            [],
            1,
        ),
    ],
)
def test_principals_that_a_resource_says(metadata: dict[str, Any], known, unsaid) -> None:
    found, others = principals_in(metadata)

    assert (found, len(others)) == (known, unsaid)


def test_what_a_place_shows() -> None:
    assert place(vm_name="a").shown() == {"subscription_id": SUB, "resource_group_name": "RG", "vm_name": "a"}
    assert MachinePlace(SUB, "rg", "", "").shown().keys() == {"subscription_id", "resource_group_name"}
