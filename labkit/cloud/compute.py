"""Compute: subscriptions, groups, machines, scale sets and identities, for applications that may read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from labkit.cloud.access_tokens import management_audience
from labkit.cloud.inventory import Inventory
from labkit.cloud.parts import CloudParts, CloudRequest
from labkit.cloud.refusals import api_error
from labkit.cloud.resources import (
    FLEXIBLE,
    ManagedIdentity,
    ResourceGroup,
    ScaleSet,
    Subscription,
    VirtualMachine,
)
from labkit.service.cloud_environments import CloudEnvironment
from labkit.service.folding import folded
from labkit.service.message import Response, respond

MACHINES = "Microsoft.Compute/virtualMachines"
SCALE_SETS = "Microsoft.Compute/virtualMachineScaleSets"
IDENTITIES = "Microsoft.ManagedIdentity/userAssignedIdentities"
TYPES = {folded(kind): kind for kind in (MACHINES, SCALE_SETS, IDENTITIES)}
GROUPS = "Microsoft.Resources/resourceGroups"
INSTANCE_VIEW = {"statuses": [{"code": "PowerState/running"}]}
API_VERSIONS = ["2024-07-01", "2023-09-01", "2024-11-01-preview"]
PAGE_ROWS = 50


def answer(parts: CloudParts, environment: CloudEnvironment, asked: CloudRequest) -> Response:
    """Answer a request to the host of the compute API; what is looked for and there is 204.

    So says the documentation of Azure's management API (Resource Groups, Check Existence), whose clients take no other.
    """
    found = _read(parts, environment, asked)
    return respond(204) if asked.method == "HEAD" and found.ok else found


def _read(parts: CloudParts, environment: CloudEnvironment, asked: CloudRequest) -> Response:
    claims = bearer(parts, environment, asked, management_audience(environment))
    if isinstance(claims, Response):
        return claims
    if asked.method not in ("GET", "HEAD"):
        return api_error(405, "MethodNotAllowed", "resources are read with GET, and looked for with HEAD")
    if not asked.parameter("api-version"):
        return api_error(400, "MissingApiVersionParameter", f"api-version is required, such as {API_VERSIONS[0]}")
    segments = asked.path.strip("/").split("/")
    if folded(segments[0]) != "subscriptions" or not all(segments):
        return api_error(404, "InvalidResource", "a path begins with /subscriptions/ and a subscription's id")
    if len(segments) == 1:
        held = parts.inventory.subscriptions.values()
        return _page([_subscription(each) for each in held if _may_read(parts.inventory, claims, each)], asked)
    subscription = parts.inventory.subscriptions.get(segments[1].lower())
    tenant_id = claims.get("tid")
    if subscription is None or subscription.tenant_id != tenant_id:
        return api_error(404, "SubscriptionNotFound", f"no subscription {segments[1][:64]} in this tenant")
    if not _may_read(parts.inventory, claims, subscription):
        return api_error(403, "AuthorizationFailed", "the caller may not read this subscription")
    if len(segments) == 2:
        return respond(200, _subscription(subscription))
    return _below(parts.inventory, segments[2:], subscription.subscription_id, asked)


def bearer(
    parts: CloudParts, environment: CloudEnvironment, asked: CloudRequest, audience: str
) -> dict[str, Any] | Response:
    """Return the claims of the token that a request shows, or the answer that refuses it."""
    kind, _, token = asked.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        return api_error(401, "AuthenticationFailed", "the header Authorization: Bearer and a token are required")
    claims = parts.claims_of(environment.name, token.strip())
    if claims is None:
        return api_error(401, "InvalidAuthenticationToken", "the token is not one of this cloud's")
    if claims.get("aud") not in (audience, audience.rstrip("/")):
        return api_error(401, "InvalidAuthenticationTokenAudience", f"the token is not for {audience}")
    end_s = claims.get("exp")
    if not isinstance(end_s, int) or parts.now_s >= end_s:
        return api_error(401, "ExpiredAuthenticationToken", "the token has expired")
    return claims


def _may_read(inventory: Inventory, claims: dict[str, Any], subscription: Subscription) -> bool:
    application = inventory.applications.get(str(claims.get("appid")))
    if application is None or claims.get("tid") != subscription.tenant_id:
        return False
    return subscription.subscription_id in application.reads


def _below(inventory: Inventory, rest: list[str], subscription_id: str, asked: CloudRequest) -> Response:
    """Answer what is below a subscription: a namespace's types, groups, or what one group or all of them hold."""
    words = [folded(segment) for segment in rest]
    if words[0] == "providers" and len(words) == 2:
        return _types(rest[1])
    if words[0] == "providers" and len(words) == 3:
        return _listed(inventory, "/".join(rest[1:]), subscription_id, "", asked)
    if words[0] != "resourcegroups":
        return api_error(404, "InvalidResource", "there are /resourceGroups/ and /providers/ below a subscription")
    if len(words) == 1:
        held = [each for each in inventory.resource_groups.values() if each.subscription_id == subscription_id]
        return _page([_group(inventory, each) for each in held], asked)
    group = inventory.resource_groups.get(folded(ResourceGroup(rest[1], subscription_id).resource_id))
    if group is None:
        return api_error(404, "ResourceGroupNotFound", f"no resource group {rest[1][:96]} in this subscription")
    if len(words) == 2:
        return respond(200, _group(inventory, group))
    rest = [*rest[:2], *rest[3:]] if words[2] == "providers" else rest
    if len(rest) == 4:
        return _listed(inventory, "/".join(rest[2:4]), subscription_id, group.name, asked)
    return _named(inventory, group, rest[2:], asked)


def _listed(inventory: Inventory, written: str, subscription_id: str, group_name: str, asked: CloudRequest) -> Response:
    """Answer a page of the resources of one type, of a group or of all groups of a subscription."""
    kind = TYPES.get(folded(written), "")
    if not kind:
        return api_error(404, "InvalidResourceType", f"no type {written[:96]} here")
    return _page(
        [
            row
            for group, row in _rows(inventory, kind)
            if group.subscription_id == subscription_id and group_name in ("", group.name)
        ],
        asked,
    )


def _rows(inventory: Inventory, kind: str) -> Iterator[tuple[ResourceGroup, dict[str, Any]]]:
    """Yield every resource of a type, with its group; instances of a uniform scale set are listed below that."""
    if kind == IDENTITIES:
        yield from ((each.group, _identity(inventory, each)) for each in inventory.identities.values())
    elif kind == SCALE_SETS:
        yield from ((each.group, _scale_set(inventory, each)) for each in inventory.scale_sets.values())
    else:
        uniform = {each.resource_id for each in inventory.scale_sets.values() if each.mode != FLEXIBLE}
        for machine in inventory.machines.values():
            if machine.scale_set not in uniform:
                yield machine.group, _machine(inventory, machine, False)


def _named(inventory: Inventory, group: ResourceGroup, rest: list[str], asked: CloudRequest) -> Response:
    """Answer one resource, or what is below it: a machine's instance view, the machines of a scale set."""
    kind, below = TYPES.get(folded("/".join(rest[:2])), ""), tuple([folded(segment) for segment in rest[3:]])
    if kind and not below:
        return _resource(inventory, group, kind, rest[2], bool(asked.parameter("$expand")))
    key = folded(f"{group.resource_id}/providers/{kind}/{rest[2]}") if len(rest) > 2 else ""
    if kind == MACHINES and below == (folded("instanceView"),) and key in inventory.machines:
        return respond(200, {"computerName": inventory.machines[key].name, **INSTANCE_VIEW})
    scale_set = inventory.scale_sets.get(key)
    if kind == SCALE_SETS and below == (folded("virtualMachines"),) and scale_set is not None:
        held = [each for each in inventory.machines.values() if each.scale_set == scale_set.resource_id]
        return _page([_machine(inventory, each, False) for each in held], asked)
    return api_error(404, "ResourceNotFound", "no resource of this type and name in the group")


def _types(namespace: str) -> Response:
    """Answer which types of resources a namespace has, with the versions of their API."""
    types = [kind.partition("/") for kind in TYPES.values()]
    found = [kind for space, _, kind in types if folded(space) == folded(namespace)]
    if not found:
        return api_error(404, "InvalidResourceNamespace", f"no namespace {namespace[:64]} here")
    rows = [{"resourceType": kind, "apiVersions": list(API_VERSIONS)} for kind in found]
    return respond(200, {"namespace": namespace, "resourceTypes": rows})


def _resource(inventory: Inventory, group: ResourceGroup, kind: str, name: str, expanded: bool) -> Response:
    key = folded(f"{group.resource_id}/providers/{kind}/{name}")
    if kind == MACHINES and (machine := inventory.machines.get(key)) is not None:
        return respond(200, _machine(inventory, machine, expanded))
    if kind == SCALE_SETS and (scale_set := inventory.scale_sets.get(key)) is not None:
        return respond(200, _scale_set(inventory, scale_set))
    found = [each for each in inventory.identities.values() if folded(each.resource_id) == key]
    if kind == IDENTITIES and found:
        return respond(200, _identity(inventory, found[0]))
    return api_error(404, "ResourceNotFound", f"no {kind} called {name[:96]} in {group.name}")


def _machine(inventory: Inventory, machine: VirtualMachine, expanded: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"vmId": machine.vm_id, "provisioningState": "Succeeded"}
    if machine.scale_set:
        properties["virtualMachineScaleSet"] = {"id": machine.scale_set}
    if expanded:
        properties["instanceView"] = INSTANCE_VIEW
    return {
        "id": machine.resource_id,
        "name": machine.name,
        "type": MACHINES,
        "location": machine.location,
        "tags": {},
        **_shown(inventory, machine, True),
        "properties": properties,
    }


def _scale_set(inventory: Inventory, scale_set: ScaleSet) -> dict[str, Any]:
    return {
        "id": scale_set.resource_id,
        "name": scale_set.name,
        "type": SCALE_SETS,
        "location": scale_set.location,
        **_shown(inventory, scale_set, scale_set.mode != FLEXIBLE),
        "properties": {"orchestrationMode": scale_set.mode},
    }


def _shown(inventory: Inventory, resource: VirtualMachine | ScaleSet, with_ids: bool) -> dict[str, Any]:
    """Return a resource's identity block; a flexible scale set's does not say its assigned identities' ids."""
    assigned = [inventory.identities[name] for name in resource.assigned if name in inventory.identities]
    kinds = [kind for kind, has in (("SystemAssigned", resource.system), ("UserAssigned", assigned)) if has]
    if not kinds:
        return {}
    block: dict[str, Any] = {"type": ", ".join(kinds), "tenantId": inventory.tenant_of(resource.group).tenant_id}
    if resource.system:
        block["principalId"] = resource.system.principal_id
    if assigned:
        block["userAssignedIdentities"] = {
            each.resource_id: {"principalId": each.principal_id, "clientId": each.client_id} if with_ids else {}
            for each in assigned
        }
    return {"identity": block}


def _identity(inventory: Inventory, identity: ManagedIdentity) -> dict[str, Any]:
    return {
        "id": identity.resource_id,
        "name": identity.name,
        "type": IDENTITIES,
        "location": identity.location,
        "properties": {
            "tenantId": inventory.tenant_of(identity.group).tenant_id,
            "principalId": identity.principal_id,
            "clientId": identity.client_id,
        },
    }


def _subscription(subscription: Subscription) -> dict[str, Any]:
    subscription_id = subscription.subscription_id
    return {
        "id": f"/subscriptions/{subscription_id}",
        "subscriptionId": subscription_id,
        "tenantId": subscription.tenant_id,
        "displayName": f"subscription {subscription_id[:8]}",
        "state": "Enabled",
    }


def _group(inventory: Inventory, group: ResourceGroup) -> dict[str, Any]:
    """Return a resource group; it is where its first machine is."""
    location = next((each.location for each in inventory.machines.values() if each.group == group), "")
    shown = {"id": group.resource_id, "name": group.name, "type": GROUPS, "location": location}
    return {**shown, "properties": {"provisioningState": "Succeeded"}}


def _page(rows: list[dict[str, Any]], asked: CloudRequest) -> Response:
    """Answer a page of rows, with the address of the next one."""
    skipped = asked.parameter("$skiptoken")
    first = int(skipped) if skipped.isascii() and skipped.isdigit() and len(skipped) < 9 else 0
    body: dict[str, Any] = {"value": rows[first : first + PAGE_ROWS]}
    if first + PAGE_ROWS < len(rows):
        version = quote(asked.parameter("api-version"))
        address = f"{asked.origin or 'https://' + asked.headers.get('host', '')}{quote(asked.path)}"
        body["nextLink"] = f"{address}?api-version={version}&$skiptoken={first + PAGE_ROWS}"
    return respond(200, body)
