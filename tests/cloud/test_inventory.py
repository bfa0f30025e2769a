"""Inventory: what is added is found, in any case; what cannot be is refused in one sentence; state goes on the same."""

from __future__ import annotations

import re

import pytest

from labkit.cloud.inventory import MAX_MACHINES, Inventory, guid
from labkit.cloud.resources import FLEXIBLE
from labkit.front.cloud import Cloud
from labkit.seeded import SeededEntropy
from tests.counting import calls_made

GROUPS = (("a", ("p", "q")), ("b", ("q",)), ("c", ("p",)))


@pytest.fixture
def inventory() -> Inventory:
    return Inventory(SeededEntropy(3, "inventory"))


def test_an_id_is_a_random_uuid() -> None:
    drawn = SeededEntropy(1, "ids")
    ids = [guid(drawn) for _ in range(64)]

    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in ids
    )
    assert len(set(ids)) == 64


def test_machines_are_found_by_name_and_by_address(cloud: Cloud) -> None:
    inventory = cloud.inventory
    machine = inventory.machine("WEB-1")

    assert machine.name == "web-1"
    assert inventory.machine_at(machine.address) == machine
    assert inventory.machine_at("10.0.0.99") is None
    assert len({each.address for each in inventory.machines.values()}) == len(inventory.machines)


def test_machines_of_one_name_are_told_apart_by_their_group(cloud: Cloud) -> None:
    inventory = cloud.inventory
    other = inventory.add_machine("web-1", inventory.machine("db-1").group, "northeurope")

    with pytest.raises(ValueError, match=r"resource_group: expected the group of one .* web-1.*there are: web, data"):
        inventory.machine("web-1")
    assert inventory.machine("web-1", "data") == other


def test_a_missing_machine_is_refused_with_those_there_are(cloud: Cloud) -> None:
    with pytest.raises(ValueError, match=r"name: expected a machine of this cloud, got 'web-3'.*did you mean"):
        cloud.inventory.machine("web-3")
    for odd in (None, 7, ["web-1"]):
        with pytest.raises(ValueError, match="expected a machine of this cloud"):
            cloud.inventory.machine(odd)


def test_names_that_cannot_stand_in_a_path_are_refused(inventory: Inventory) -> None:
    subscription = inventory.add_subscription(inventory.add_tenant())
    for odd in ("", "a/b", "a b", "a?b", "a#b", "a%b", "a\nb", None, 7):
        with pytest.raises(ValueError, match="name: expected a name without spaces and slashes"):
            inventory.add_resource_group(odd, subscription)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ValueError, match="environment: expected a cloud environment"):
        inventory.add_tenant("MoonCloud")


def test_a_name_is_taken_once_in_its_group(inventory: Inventory) -> None:
    group = inventory.add_resource_group("web", inventory.add_subscription(inventory.add_tenant()))
    inventory.add_machine("a", group, "west")

    with pytest.raises(ValueError, match="a name that no machine in web has, got 'A'"):
        inventory.add_machine("A", group, "west")
    assert inventory.add_resource_group("web", inventory.subscriptions[group.subscription_id]) is group


def test_instances_are_named_after_their_set_and_share_its_identities(inventory: Inventory) -> None:
    group = inventory.add_resource_group("web", inventory.add_subscription(inventory.add_tenant()))
    uniform = inventory.add_scale_set("fleet", group, "west")
    flexible = inventory.add_scale_set(
        "pool", group, "west", FLEXIBLE, (inventory.add_identity("shared", group, "west"),)
    )
    first, *more = inventory.add_instances(uniform, 1) + inventory.add_instances(uniform, 2)
    (loose,) = inventory.add_instances(flexible, 1)

    assert [first.name, *(each.name for each in more)] == ["fleet_0", "fleet_1", "fleet_2"]
    assert first.system == more[0].system == uniform.system
    assert re.fullmatch(r"pool_[0-9a-f]{8}", loose.name)
    assert (loose.system, loose.assigned) == (None, flexible.assigned)
    with pytest.raises(ValueError, match="mode: expected an orchestration mode"):
        inventory.add_scale_set("third", group, "west", "Loose")


def test_a_deleted_machine_is_gone_and_its_successor_has_another_identity(cloud: Cloud) -> None:
    inventory = cloud.inventory
    machine = inventory.machine("web-1")
    inventory.delete_machine(machine)
    inventory.delete_machine(machine)

    assert inventory.machine_at(machine.address) is None
    again = inventory.add_machine("web-1", machine.group, machine.location)
    assert again.system != machine.system
    assert again.address != machine.address


def test_a_principal_has_the_groups_that_it_belongs_to(inventory: Inventory) -> None:
    tenant = inventory.add_tenant()
    assert inventory.tenants == {tenant.tenant_id: tenant}
    first, _, third = (inventory.add_group(name, tenant, members) for name, members in GROUPS)

    assert inventory.groups_of("p") == (first.group_id, third.group_id)
    assert inventory.groups_of("nobody") == ()


def test_machines_are_no_more_than_there_are_addresses(inventory: Inventory) -> None:
    group = inventory.add_resource_group("web", inventory.add_subscription(inventory.add_tenant()))
    inventory.machines_made = MAX_MACHINES - 1

    assert inventory.add_machine("a", group, "west").address == f"10.0.{MAX_MACHINES // 256}.{MAX_MACHINES % 256}"
    with pytest.raises(ValueError, match=f"a cloud holds at most {MAX_MACHINES} machines"):
        inventory.add_machine("b", group, "west")


def test_state_goes_on_the_same(inventory: Inventory) -> None:
    tenant = inventory.add_tenant()
    group = inventory.add_resource_group("web", inventory.add_subscription(tenant))
    inventory.add_instances(inventory.add_scale_set("fleet", group, "west"), 2)
    inventory.add_group("all", tenant, ("p",))
    inventory.add_application("vault", tenant)
    again = Inventory(SeededEntropy(3, "other"), inventory.state())

    assert again.state() == inventory.state()
    assert again.add_machine("a", group, "west").address not in {each.address for each in inventory.machines.values()}
    assert "a" not in {each.name for each in inventory.machines.values()}


def test_a_machine_is_found_by_name_among_many_also_after_others_went(cloud: Cloud) -> None:
    inventory = cloud.inventory
    west, east = (inventory.machine(name).group for name in ("web-1", "db-1"))
    first, second = (inventory.add_machine("Twin", group, "w") for group in (west, east))

    with pytest.raises(ValueError, match="resource_group: expected the group of one of the machines"):
        inventory.machine("twin")
    assert inventory.machine("TWIN", east.name) == second
    inventory.delete_machine(first)
    moved = inventory.keep_machine(second._replace(location="n"))
    assert inventory.machine("twin") == Inventory(inventory._entropy, inventory.state()).machine("twin") == moved
    inventory.delete_machine(second)
    with pytest.raises(ValueError, match="name: expected a machine of this cloud"):
        inventory.machine("twin")
    assert inventory.add_instances(next(iter(inventory.scale_sets.values())), 1)[0] == inventory.machine("fleet_2")


def test_a_machine_is_found_among_a_thousand_as_fast_as_among_a_few(cloud: Cloud) -> None:
    inventory = cloud.inventory

    def looks() -> int:
        return calls_made(lambda: inventory.machine("web-1"))

    few, group = looks(), inventory.machine("web-1").group
    for number in range(1_000):
        inventory.add_machine(f"m{number}", group, "west")

    assert looks() == few
