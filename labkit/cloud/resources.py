"""Resources: what exists in a cloud, each an immutable record, and the identities by which it shows itself.

A principal id is an identity's object in the directory (claim ``oid``), a client id names it to applications
(``appid``).
"""

from __future__ import annotations

from labkit.service.record import NamedTuple

UNIFORM, FLEXIBLE = "Uniform", "Flexible"


class Tenant(NamedTuple):
    """A directory of its own in one of the four environments."""

    tenant_id: str
    environment: str


class Subscription(NamedTuple):
    """An account of a tenant, to which resource groups belong."""

    subscription_id: str
    tenant_id: str


class ResourceGroup(NamedTuple):
    """A group of resources in a subscription."""

    name: str
    subscription_id: str

    @property
    def resource_id(self) -> str:
        """The group's path below the compute API."""
        return f"/subscriptions/{self.subscription_id}/resourceGroups/{self.name}"


class SystemIdentity(NamedTuple):
    """The identity that a machine or scale set was given and that ends with it."""

    principal_id: str
    client_id: str


class ManagedIdentity(NamedTuple):
    """A user-assigned identity: a resource of its own, which several machines may show."""

    name: str
    group: ResourceGroup
    location: str
    principal_id: str
    client_id: str

    @property
    def resource_id(self) -> str:
        """The identity's path below the compute API."""
        return f"{self.group.resource_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{self.name}"


class ScaleSet(NamedTuple):
    """A set of like machines; in the uniform mode they share its identities."""

    name: str
    group: ResourceGroup
    location: str
    mode: str = UNIFORM
    system: SystemIdentity | None = None
    assigned: tuple[str, ...] = ()  # principal ids of user-assigned identities

    @property
    def resource_id(self) -> str:
        """The set's path below the compute API."""
        return f"{self.group.resource_id}/providers/Microsoft.Compute/virtualMachineScaleSets/{self.name}"


class VirtualMachine(NamedTuple):
    """A machine: where it stands, at which address of its private network, and which identities it has."""

    name: str
    group: ResourceGroup
    location: str
    vm_id: str
    address: str
    system: SystemIdentity | None = None
    assigned: tuple[str, ...] = ()  # principal ids of user-assigned identities
    scale_set: str = ""  # the set's path below the compute API

    @property
    def resource_id(self) -> str:
        """The machine's path below the compute API."""
        return f"{self.group.resource_id}/providers/Microsoft.Compute/virtualMachines/{self.name}"


class Group(NamedTuple):
    """A group of the directory: the principal ids that belong to it."""

    group_id: str
    name: str
    tenant_id: str
    members: tuple[str, ...] = ()


class ClientSecret(NamedTuple):
    """One secret of an application; only the call that made it answers its text."""

    key_id: str
    display_name: str
    text: str
    start_ns: int
    end_ns: int
    usable_ns: int  # from when on the token endpoint knows it

    def __repr__(self) -> str:
        return f"ClientSecret({self.key_id})"

    def moved(self, by_ns: int) -> ClientSecret:
        """Return it with all its times moved."""
        start_ns, end_ns, usable_ns = self.start_ns + by_ns, self.end_ns + by_ns, self.usable_ns + by_ns
        return self._replace(start_ns=start_ns, end_ns=end_ns, usable_ns=usable_ns)


class Application(NamedTuple):
    """An application of the directory, its secrets, and what its principal may do."""

    client_id: str
    object_id: str
    tenant_id: str
    principal_id: str
    name: str
    reads: tuple[str, ...] = ()  # subscription ids whose compute resources it may read
    owns_itself: bool = True  # may change its own secrets
    secrets: tuple[ClientSecret, ...] = ()
