"""Instance document: what a machine's endpoint says about the machine, whole or in part, as JSON or as text."""

from __future__ import annotations

from typing import Any

from labkit.cloud.parts import CloudRequest
from labkit.cloud.refusals import token_error
from labkit.cloud.resources import VirtualMachine
from labkit.service.message import Response, respond

JSON, TEXT = "json", "text"
NETWORK, PREFIX = "10.0.0.0", "16"


def answer(machine: VirtualMachine, asked: CloudRequest, path: str) -> Response:
    """Answer with the part of a machine's document that a path such as ``/compute/name`` names."""
    form = asked.parameter("format") or JSON
    if form not in (JSON, TEXT):
        return token_error(400, "invalid_request", "the parameter format must be json or text")
    found: Any = document(machine)
    for name in path.strip("/").split("/") if path.strip("/") else ():
        found = _below(found, name)
    if found is None:
        return token_error(404, "not_found", "the instance document has no such part")
    if form == TEXT:
        text: Any = as_text(found)
        return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, text)
    if isinstance(found, str):
        return token_error(400, "invalid_request", "one value is answered as text only: ask with format=text")
    return Response(200, respond(200).headers, found)


def document(machine: VirtualMachine) -> dict[str, Any]:
    """Return the whole document."""
    return {"compute": _compute(machine), "network": {"interface": [_interface(machine)]}}


def as_text(found: Any) -> str:
    """Return a value as text; of what has parts their names, one a line, those with parts of their own with a slash."""
    if isinstance(found, str):
        return found
    named = found.items() if isinstance(found, dict) else enumerate(found)
    return "\n".join([f"{name}{'' if isinstance(part, str) else '/'}" for name, part in named])


def _below(found: Any, name: str) -> Any:
    if isinstance(found, dict):
        return found.get(name)
    if isinstance(found, list) and name.isascii() and name.isdigit() and len(name) < 4 and int(name) < len(found):
        return found[int(name)]
    return None


def _compute(machine: VirtualMachine) -> dict[str, Any]:
    return {
        "subscriptionId": machine.group.subscription_id,
        "resourceGroupName": machine.group.name,
        "name": machine.name,
        "vmScaleSetName": machine.scale_set.rpartition("/")[2],
        "location": machine.location,
        "resourceId": machine.resource_id,
        "vmId": machine.vm_id,
        "tags": "",
        "zone": "",
    }


def _interface(machine: VirtualMachine) -> dict[str, Any]:
    addresses = [{"privateIpAddress": machine.address, "publicIpAddress": ""}]
    subnets = [{"address": NETWORK, "prefix": PREFIX}]
    hardware = "".join([f"{int(part):02X}" for part in machine.address.split(".")])
    return {
        "ipv4": {"ipAddress": addresses, "subnet": subnets},
        "ipv6": {"ipAddress": []},
        "macAddress": f"000D{hardware}",
    }
