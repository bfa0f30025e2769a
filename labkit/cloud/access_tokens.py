"""Access tokens: the claims that the identity provider puts into a token of a machine or an application.

1. ``iat`` and ``nbf`` lie five minutes back, so that a slow clock accepts a fresh token.
2. A token for the compute API's own audience, with the last slash or without, names the resource that asked for it
   (``xms_mirid``, ``xms_az_rid``); one for another audience does not.
3. A principal in too many groups gets, instead of ``groups``, the address where they can be asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.cloud.inventory import Inventory, guid
from labkit.cloud.resources import UNIFORM, Application, ManagedIdentity, SystemIdentity, VirtualMachine
from labkit.service.cloud_environments import ENVIRONMENTS, CloudEnvironment, issuer_of
from labkit.service.durations import SECOND_NS
from labkit.service.encoding import to_base64url
from labkit.service.folding import folded

BACKDATED_S = 300
MACHINE_LIFETIME_S = 86_700
APPLICATION_LIFETIME_S = 3_900
MAX_GROUPS = 200


class Subject(NamedTuple):
    """Who a token is for: a principal of a tenant, its client id, and for a machine the resources it is named by."""

    tenant_id: str
    principal_id: str
    client_id: str
    named_by: dict[str, str]
    lifetime_s: int
    kind: str  # how it authenticated: "2" by a managed identity, "1" by a secret


def management_audience(environment: CloudEnvironment) -> str:
    """Return the audience of an environment's compute API, as it stands in tokens."""
    return environment.management + "/"


def directory_audience(environment: CloudEnvironment) -> str:
    """Return the audience of an environment's directory."""
    return environment.directory + "/"


def of_machine(inventory: Inventory, machine: VirtualMachine, identity: SystemIdentity | ManagedIdentity) -> Subject:
    """Return a machine as the subject of a token, by one of its identities."""
    uniform = inventory.scale_sets.get(folded(machine.scale_set))
    shown = machine if uniform is None or uniform.mode != UNIFORM else uniform
    own = claimed(shown.resource_id)
    if isinstance(identity, ManagedIdentity):
        named_by = {"xms_mirid": claimed(identity.resource_id), "xms_az_rid": own}
    else:
        named_by = {"xms_mirid": own}
    tenant_id = inventory.tenant_of(machine.group).tenant_id
    return Subject(tenant_id, identity.principal_id, identity.client_id, named_by, MACHINE_LIFETIME_S, "2")


def of_application(application: Application) -> Subject:
    """Return an application as the subject of a token."""
    tenant_id, principal_id = application.tenant_id, application.principal_id
    return Subject(tenant_id, principal_id, application.client_id, {}, APPLICATION_LIFETIME_S, "1")


def claimed(resource_id: str) -> str:
    """Return a resource id as claims spell it."""
    return resource_id.replace("/resourceGroups/", "/resourcegroups/")


def claims_for(
    inventory: Inventory, subject: Subject, audience: str, now_ns: int, entropy: Callable[[int], bytes]
) -> dict[str, Any]:
    """Return the claims of a fresh token."""
    environment = ENVIRONMENTS[inventory.tenants[subject.tenant_id].environment]
    issuer, begin_s = issuer_of(environment, subject.tenant_id), now_ns // SECOND_NS - BACKDATED_S
    named_by = subject.named_by if audience in (environment.management, management_audience(environment)) else {}
    return {
        "aud": audience,
        "iss": issuer,
        "iat": begin_s,
        "nbf": begin_s,
        "exp": begin_s + subject.lifetime_s,
        "appid": subject.client_id,
        "appidacr": subject.kind,
        **_groups(inventory, subject, environment),
        "idp": issuer,
        "idtyp": "app",
        "oid": subject.principal_id,
        "sub": subject.principal_id,
        "tid": subject.tenant_id,
        "uti": to_base64url(bytes.fromhex(guid(entropy).replace("-", ""))),
        "ver": "1.0",
        **named_by,
    }


def _groups(inventory: Inventory, subject: Subject, environment: CloudEnvironment) -> dict[str, Any]:
    groups = inventory.groups_of(subject.principal_id)
    if len(groups) <= MAX_GROUPS:
        return {"groups": list(groups)} if groups else {}
    where = f"{environment.directory}/v1.0/servicePrincipals/{subject.principal_id}/getMemberObjects"
    return {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": where}}}
