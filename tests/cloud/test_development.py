"""Development: what ``Cloud.dev`` promises to hold."""

from __future__ import annotations

from labkit.cloud.development import MACHINES
from labkit.front.cloud import Cloud


def test_the_machines_are_those_that_are_named(cloud: Cloud) -> None:
    assert tuple(machine.name for machine in cloud.inventory.machines.values()) == MACHINES


def test_machines_and_their_places(cloud: Cloud) -> None:
    first, second, other, instance = (cloud.vm(name) for name in ("web-1", "web-2", "db-1", "fleet_0"))

    assert first.resource_group == second.resource_group == instance.resource_group != other.resource_group
    assert first.subscription_id == second.subscription_id != other.subscription_id
    assert first.location != other.location
    assert first.principal_id != second.principal_id
    assert instance.scale_set == "fleet"
    assert cloud.vm("fleet_1").principal_id == instance.principal_id


def test_the_vaults_application_reads_both_subscriptions(cloud: Cloud) -> None:
    (application,) = cloud.inventory.applications.values()

    assert set(application.reads) == set(cloud.inventory.subscriptions)
