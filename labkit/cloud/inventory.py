"""Inventory: everything that a cloud holds, found by id or name, and the verbs that add and take away.

1. Records are replaced, never changed.
2. Names are compared in any case, as resource ids are.
3. Every id is drawn from the entropy that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from labkit.cloud.resources import (
    FLEXIBLE,
    UNIFORM,
    Application,
    ClientSecret,
    Group,
    ManagedIdentity,
    ResourceGroup,
    ScaleSet,
    Subscription,
    SystemIdentity,
    Tenant,
    VirtualMachine,
)
from labkit.service.arguments import one_of, wrong
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT, ENVIRONMENTS
from labkit.service.folding import folded

_Resource = TypeVar("_Resource", VirtualMachine, ScaleSet)

MAX_MACHINES = 65_000  # as many addresses as a private network of 16 bits has


def guid(entropy: Callable[[int], bytes]) -> str:
    """Draw an id in the form 8-4-4-4-12."""
    return guid_of(entropy(16))


def guid_of(random_bytes: bytes) -> str:
    """Return the id that 16 bytes make."""
    drawn = bytearray(random_bytes)
    drawn[6], drawn[8] = drawn[6] & 0x0F | 0x40, drawn[8] & 0x3F | 0x80  # RFC 9562, 5.4: version and variant
    text = drawn.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class Inventory:
    """The records of one cloud."""

    __slots__ = (
        "_entropy",
        "_named",
        "applications",
        "groups",
        "identities",
        "machines",
        "machines_made",
        "resource_groups",
        "scale_sets",
        "subscriptions",
        "tenants",
    )

    def __init__(self, entropy: Callable[[int], bytes], state: dict[str, Any] | None = None) -> None:
        kept: dict[str, Any] = state or {}
        self._entropy = entropy
        self.tenants: dict[str, Tenant] = dict(kept.get("tenants", {}))
        self.subscriptions: dict[str, Subscription] = dict(kept.get("subscriptions", {}))
        self.resource_groups: dict[str, ResourceGroup] = dict(kept.get("resource_groups", {}))
        self.identities: dict[str, ManagedIdentity] = dict(kept.get("identities", {}))
        self.scale_sets: dict[str, ScaleSet] = dict(kept.get("scale_sets", {}))
        self.machines: dict[str, VirtualMachine] = dict(kept.get("machines", {}))
        self.groups: dict[str, Group] = dict(kept.get("groups", {}))
        self.applications: dict[str, Application] = dict(kept.get("applications", {}))
        self.machines_made: int = kept.get("machines_made", 0)
        self._named: dict[str, dict[str, None]] = {}  # where the machines of a folded name are
        for key, machine in self.machines.items():
            self._named.setdefault(folded(machine.name), {})[key] = None

    def state(self) -> dict[str, Any]:
        """Return everything as plain values: records by id, resources by their path, folded."""
        names = (name for name in self.__slots__ if not name.startswith("_"))
        return {name: dict(held) if isinstance(held := getattr(self, name), dict) else held for name in names}

    # ---- adding

    def add_tenant(self, environment: str = DEFAULT_ENVIRONMENT) -> Tenant:
        """Add a directory in an environment."""
        one_of("environment", "a cloud environment", environment, ENVIRONMENTS)
        tenant = Tenant(guid(self._entropy), environment)
        self.tenants[tenant.tenant_id] = tenant
        return tenant

    def add_subscription(self, tenant: Tenant) -> Subscription:
        """Add a subscription to a tenant."""
        subscription = Subscription(guid(self._entropy), tenant.tenant_id)
        self.subscriptions[subscription.subscription_id] = subscription
        return subscription

    def add_resource_group(self, name: str, subscription: Subscription) -> ResourceGroup:
        """Add a resource group, or return the one of that name."""
        group = ResourceGroup(_name("name", name), subscription.subscription_id)
        return self.resource_groups.setdefault(folded(group.resource_id), group)

    def add_identity(self, name: str, group: ResourceGroup, location: str) -> ManagedIdentity:
        """Add a user-assigned identity."""
        identity = ManagedIdentity(_name("name", name), group, location, guid(self._entropy), guid(self._entropy))
        self.identities[identity.principal_id] = identity
        return identity

    def add_scale_set(
        self,
        name: str,
        group: ResourceGroup,
        location: str,
        mode: str = UNIFORM,
        assigned: Iterable[ManagedIdentity] = (),
    ) -> ScaleSet:
        """Add a scale set without instances; a uniform one without assigned identities has one of its own."""
        one_of("mode", "an orchestration mode", mode, (UNIFORM, FLEXIBLE))
        ids = tuple([identity.principal_id for identity in assigned])
        system = None if ids or mode == FLEXIBLE else self._system()
        made = ScaleSet(_name("name", name), group, location, mode, system, ids)
        return self._kept("scale set", self.scale_sets, made)

    def add_instances(self, scale_set: ScaleSet, count: int) -> tuple[VirtualMachine, ...]:
        """Add machines to a scale set, named after it; they have its identities."""
        first = sum(machine.scale_set == scale_set.resource_id for machine in self.machines.values())
        made = []
        for number in range(first, first + count):
            end = f"{number}" if scale_set.mode == UNIFORM else guid(self._entropy)[:8]
            machine = self._machine(f"{scale_set.name}_{end}", scale_set.group, scale_set.location)
            made.append(
                machine._replace(system=scale_set.system, assigned=scale_set.assigned, scale_set=scale_set.resource_id)
            )
        return tuple([self._kept_machine(machine) for machine in made])

    def add_machine(
        self, name: str, group: ResourceGroup, location: str, assigned: Iterable[ManagedIdentity] = ()
    ) -> VirtualMachine:
        """Add a machine; one without assigned identities has one of its own."""
        ids = tuple([identity.principal_id for identity in assigned])
        machine = self._machine(_name("name", name), group, location)
        return self._kept_machine(machine._replace(system=None if ids else self._system(), assigned=ids))

    def add_group(self, name: str, tenant: Tenant, members: Iterable[str] = ()) -> Group:
        """Add a group of the directory with the principals that belong to it."""
        group = Group(guid(self._entropy), _name("name", name), tenant.tenant_id, tuple(members))
        self.groups[group.group_id] = group
        return group

    def add_application(self, name: str, tenant: Tenant, reads: Iterable[Subscription] = ()) -> Application:
        """Add an application without a secret that may read the compute resources of these subscriptions."""
        ids = [guid(self._entropy) for _ in range(3)]
        allowed = tuple([subscription.subscription_id for subscription in reads])
        made = Application(ids[0], ids[1], tenant.tenant_id, ids[2], _name("name", name), allowed)
        self.applications[made.client_id] = made
        return made

    # ---- changing

    def keep_machine(self, machine: VirtualMachine) -> VirtualMachine:
        """Put a machine in the place of the one of its name."""
        key = folded(machine.resource_id)
        self.machines[key] = machine
        self._named.setdefault(folded(machine.name), {})[key] = None
        return machine

    def delete_machine(self, machine: VirtualMachine) -> None:
        """Take a machine away; its own identity ends with it."""
        key = folded(machine.resource_id)
        self.machines.pop(key, None)
        self._named.get(folded(machine.name), {}).pop(key, None)

    def keep_secrets(self, application: Application, secrets: Iterable[ClientSecret]) -> Application:
        """Give an application these secrets, in place of those it has."""
        changed = application._replace(secrets=tuple(secrets))
        self.applications[changed.client_id] = changed
        return changed

    def move_secrets(self, by_ns: int) -> None:
        """Move the times of every secret, for a clock that shows other times."""
        for application in tuple(self.applications.values()):
            self.keep_secrets(application, (each.moved(by_ns) for each in application.secrets))

    # ---- finding

    def machine(self, name: Any, resource_group: str = "") -> VirtualMachine:
        """Return the machine of a name; ValueError when there is none, or several and no group is named."""
        keys = self._named.get(folded(name), {}) if isinstance(name, str) else {}
        found = [self.machines[key] for key in keys if resource_group in ("", self.machines[key].group.name)]
        if len(found) > 1:
            groups = [each.group.name for each in found]
            raise wrong("resource_group", f"the group of one of the machines called {name}", resource_group, groups)
        if not found:
            known = [each.name for each in self.machines.values() if resource_group in ("", each.group.name)]
            raise wrong("name", "a machine of this cloud", name, known)
        return found[0]

    def machine_at(self, address: str) -> VirtualMachine | None:
        """Return the machine that has an address of the private network; None for any other address."""
        return next((each for each in self.machines.values() if each.address == address), None)

    def tenant_of(self, group: ResourceGroup) -> Tenant:
        """Return the tenant to which a resource group's subscription belongs."""
        return self.tenants[self.subscriptions[group.subscription_id].tenant_id]

    def groups_of(self, principal_id: str) -> tuple[str, ...]:
        """Return the ids of the groups that a principal belongs to."""
        return tuple([group.group_id for group in self.groups.values() if principal_id in group.members])

    def _kept_machine(self, made: VirtualMachine) -> VirtualMachine:
        return self.keep_machine(self._kept("machine", self.machines, made))

    def _kept(self, what: str, held: dict[str, _Resource], made: _Resource) -> _Resource:
        key = folded(made.resource_id)
        if key in held:
            raise wrong("name", f"a name that no {what} in {made.group.name} has", made.name)
        held[key] = made
        return made

    def _system(self) -> SystemIdentity:
        return SystemIdentity(guid(self._entropy), guid(self._entropy))

    def _machine(self, name: str, group: ResourceGroup, location: str) -> VirtualMachine:
        if self.machines_made >= MAX_MACHINES:
            raise ValueError(f"a cloud holds at most {MAX_MACHINES} machines")
        self.machines_made += 1
        address = f"10.0.{self.machines_made // 256}.{self.machines_made % 256}"
        return VirtualMachine(name, group, location, guid(self._entropy), address)


def _name(argument: str, value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or set(value) & set("/?#% "):
        raise wrong(argument, "a name without spaces and slashes", value)
    return value
