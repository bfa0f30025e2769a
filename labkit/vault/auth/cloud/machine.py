"""The machine that a login names: its place in the cloud, as the request, the token and the cloud each say it.

1. Of scale set, machine and resource the first one given counts; the others are neither checked nor shown.
2. Names are compared part by part, in any case (``folding``); no part is ever compared as a piece of another.
3. What is put into a path of the compute API was checked character by character before, and is escaped.
4. Whether a machine belongs to a scale set is what the cloud says of the machine, never its name (decision A6).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from labkit.service.errors import BadRequest
from labkit.service.folding import folded
from labkit.service.record import NamedTuple
from labkit.vault.auth.cloud.settings import GUID

COMPUTE = "microsoft.compute"
MACHINE, SCALE_SET = "virtualmachines", "virtualmachinescalesets"
IDENTITY_TYPE = ("microsoft.managedidentity", ("userassignedidentities",))
API_VERSION = "2024-07-01"
MAX_NAME = 256
MAX_TYPES = 3  # of a resource within a resource within a resource

_NAME = re.compile(r"[a-zA-Z](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_])?", re.ASCII)
_GROUP = re.compile(r"[\w().-]*[\w()-]")
_SEGMENT = re.compile(r"[^/?#%\\\x00-\x20\x7f]+")


class ResourceId(NamedTuple):
    """A resource's path in parts, all folded; ``types`` and ``names`` go from the outermost inwards."""

    subscription: str
    group: str
    provider: str
    types: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path below the compute API."""
        pairs = zip(self.types, self.names, strict=True)
        inside = "".join([f"/{_escaped(kind)}/{_escaped(name)}" for kind, name in pairs])
        group, provider = _escaped(self.group), _escaped(self.provider)
        return f"/subscriptions/{self.subscription}/resourceGroups/{group}/providers/{provider}{inside}"


class MachinePlace(NamedTuple):
    """Where a request says that its machine is: what it names (``kind``), and by which name or path."""

    subscription_id: str
    resource_group_name: str
    kind: str
    name: str

    def shown(self) -> dict[str, str]:
        """Return the place as a token's metadata has it."""
        named = {self.kind: self.name} if self.kind else {}
        return {"subscription_id": self.subscription_id, "resource_group_name": self.resource_group_name, **named}

    @property
    def resource(self) -> ResourceId | None:
        """What it names, as a resource; None where it names nothing."""
        if not self.kind:
            return None
        if self.kind == "resource_id":
            return read_resource_id(self.name)
        kind = SCALE_SET if self.kind == "vmss_name" else MACHINE
        return ResourceId(*self.within, COMPUTE, (kind,), (folded(self.name),))

    @property
    def within(self) -> tuple[str, str]:
        """Its subscription and resource group, folded."""
        return folded(self.subscription_id), folded(self.resource_group_name)


def read_place(asked: Any) -> MachinePlace:
    """Return the place that a login request names; raise BadRequest for a name that none can have."""
    if not GUID.fullmatch(asked.subscription_id):
        raise BadRequest("subscription_id: expected a GUID")
    if not _is_name(_GROUP, asked.resource_group_name) or asked.resource_group_name in (".", ".."):
        raise BadRequest("resource_group_name: expected letters, digits and - _ . ( ), not ending in a dot")
    for field in ("vmss_name", "vm_name"):
        if getattr(asked, field) and not _is_name(_NAME, getattr(asked, field)):
            raise BadRequest(f"{field}: expected a letter, then letters, digits and . - _, not ending in . or -")
    if asked.resource_id and read_resource_id(asked.resource_id) is None:
        raise BadRequest(
            "resource_id: expected /subscriptions/<guid>/resourceGroups/<name>/providers/<namespace>/<type>/<name>"
        )
    kind = next((field for field in ("vmss_name", "vm_name", "resource_id") if getattr(asked, field)), "")
    return MachinePlace(asked.subscription_id, asked.resource_group_name, kind, getattr(asked, kind) if kind else "")


def _is_name(pattern: re.Pattern[str], text: str) -> bool:
    return len(text) <= MAX_NAME and pattern.fullmatch(text) is not None


def read_resource_id(text: Any) -> ResourceId | None:
    """Return the parts of a resource's path, None for any other text; ``/providers`` may be left out."""
    return _read(text) if isinstance(text, str) and len(text) <= MAX_NAME * 8 else None


@lru_cache(maxsize=512)  # the same few machines log in again and again
def _read(text: str) -> ResourceId | None:
    parts = text.split("/")
    if len(parts) < 8 or parts[0] or folded(parts[1]) != "subscriptions" or folded(parts[3]) != "resourcegroups":
        return None
    rest = parts[6:] if folded(parts[5]) == "providers" else parts[5:]
    types, names = rest[1::2], rest[2::2]
    named = all(_is_name(_SEGMENT, part) and part.strip(".") for part in rest)
    if not named or len(types) != len(names) or len(types) > MAX_TYPES:
        return None
    if not GUID.fullmatch(parts[2]) or not _is_name(_GROUP, parts[4]):
        return None
    same = [folded(part) for part in rest]
    return ResourceId(folded(parts[2]), folded(parts[4]), same[0], tuple(same[1::2]), tuple(same[2::2]))


def claimed_resource(claims: dict[str, Any]) -> ResourceId | None:
    """Return the resource that a token was given to, by its claims; None where they name none.

    ``xms_az_rid`` is the machine where ``xms_mirid`` is its user-assigned identity.
    """
    return read_resource_id(claims.get("xms_az_rid") or claims.get("xms_mirid"))


def is_same(place: MachinePlace, claimed: ResourceId) -> bool:
    """Whether a token's resource is the one that a request names, or where that names none, is where it says.

    A machine of a uniform scale set is claimed as a part of the set.
    """
    if (claimed.subscription, claimed.group) != place.within:
        return False
    named = place.resource
    if named is None or named == claimed:
        return True
    in_scale_set = place.kind == "vmss_name" and (claimed.provider, claimed.types[0]) == (COMPUTE, SCALE_SET)
    return in_scale_set and claimed.names[0] == named.names[0]


def may_belong(place: MachinePlace, claimed: ResourceId) -> bool:
    """Whether a token's resource is a machine of its own where a request names a scale set beside it."""
    is_machine = (claimed.provider, claimed.types) == (COMPUTE, (MACHINE,))
    return is_machine and place.kind == "vmss_name" and (claimed.subscription, claimed.group) == place.within


def scale_set_of(metadata: dict[str, Any]) -> ResourceId | None:
    """Return the scale set that a machine belongs to, as the cloud says it; None where it says none."""
    properties = metadata.get("properties")
    block = properties.get("virtualMachineScaleSet") if isinstance(properties, dict) else None
    return read_resource_id(block.get("id")) if isinstance(block, dict) else None


def query(resource: ResourceId) -> str:
    """Return the path and query that ask the compute API for a resource."""
    expand = "$expand=instanceView&" if (resource.provider, resource.types) == (COMPUTE, (MACHINE,)) else ""
    return f"{resource.path}?{expand}api-version={API_VERSION}"


def _escaped(name: str) -> str:
    return quote(name, safe="")


def principals_in(metadata: dict[str, Any]) -> tuple[list[str], list[ResourceId]]:
    """Return the principals of a resource's identities, and the identities whose principal it does not say."""
    block = metadata.get("identity")
    block = block if isinstance(block, dict) else {}
    known, unsaid = [block.get("principalId")], []
    assigned = block.get("userAssignedIdentities")
    for name, each in assigned.items() if isinstance(assigned, dict) else ():
        principal = each.get("principalId") if isinstance(each, dict) else None
        resource = read_resource_id(name)
        if principal:
            known.append(principal)
        elif resource is not None and (resource.provider, resource.types) == IDENTITY_TYPE:
            unsaid.append(resource)
    return [folded(principal) for principal in known if isinstance(principal, str) and principal], unsaid
