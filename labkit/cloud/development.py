"""Development: what ``Cloud.dev`` holds: three machines and a scale set in two subscriptions of one tenant."""

from __future__ import annotations

from labkit.cloud.application_directory import LIFETIME_NS, new_secret
from labkit.cloud.parts import CloudParts
from labkit.cloud.resources import Application

WEST, NORTH = "westeurope", "northeurope"
INSTANCES = 2
MACHINES = ("web-1", "web-2", "db-1", "fleet_0", "fleet_1")


def fill(parts: CloudParts, environment: str) -> Application:
    """Fill a new cloud; return the application by which a vault reads it."""
    inventory = parts.inventory
    tenant = inventory.add_tenant(environment)
    shop, records = (inventory.add_subscription(tenant) for _ in range(2))
    web = inventory.add_resource_group("web", shop)
    data = inventory.add_resource_group("data", records)
    first, second = (inventory.add_machine(f"web-{number}", web, WEST) for number in (1, 2))
    identity = inventory.add_identity("db-identity", data, NORTH)
    inventory.add_machine("db-1", data, NORTH, (identity,))
    inventory.add_instances(inventory.add_scale_set("fleet", web, WEST), INSTANCES)
    members = [machine.system.principal_id for machine in (first, second) if machine.system]
    inventory.add_group("web-servers", tenant, members)
    application = inventory.add_application("vault", tenant, (shop, records))
    secret = new_secret(parts, "first", parts.now() + LIFETIME_NS, 0)
    return inventory.keep_secrets(application, (secret,))
