"""Machine endpoint: the metadata service that a machine reaches at its link-local address, and no other host can.

1. Any process on a machine gets the machine's tokens: the boundary is the machine.
2. A token is kept for its audience and identity almost until it ends, and answered again: a changed group shows late.
3. An audience is the address of a resource, or an application's id.
4. Any part of the instance document can be read; one value as text only, anything else as JSON or as a list of names.
"""

from __future__ import annotations

import re

from labkit.cloud import instance_document
from labkit.cloud.access_tokens import of_machine
from labkit.cloud.parts import CloudParts, CloudRequest, KeptToken
from labkit.cloud.refusals import token_error
from labkit.cloud.resources import ManagedIdentity, SystemIdentity, VirtualMachine
from labkit.service.folding import folded
from labkit.service.message import Response, respond

HOST = "169.254.169.254"
TOKEN_PATH, INSTANCE_PATH, VERSIONS_PATH = "/metadata/identity/oauth2/token", "/metadata/instance", "/metadata/versions"
TOKEN_VERSION = "2018-02-01"
VERSIONS = (
    *("2017-03-01", "2017-04-02", "2017-08-01", "2017-10-01", "2017-12-01", TOKEN_VERSION, "2018-04-02", "2018-10-01"),
    *("2019-02-01", "2019-03-11", "2019-04-30", "2019-06-01", "2019-08-01", "2019-11-01", "2020-06-01", "2020-09-01"),
    *("2020-10-01", "2020-12-01", "2021-01-01", "2021-02-01", "2021-05-01", "2021-10-01", "2021-11-01", "2023-07-01"),
)
NEWEST = 3
MIN_LEFT_S = 300
MAX_KEPT_TOKENS = 1_024

_AUDIENCE = re.compile(
    r"[a-z][a-z0-9+.-]*:(?://)?[^\s/][^\s]*"  # an address
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",  # an id
    re.ASCII | re.IGNORECASE,
)

NAMED = {"client_id": "client_id", "object_id": "principal_id", "msi_res_id": "resource_id"}


def answer(parts: CloudParts, asked: CloudRequest, machine: VirtualMachine | None) -> Response:
    """Answer what a machine asks; None stands for a host that is not one."""
    if machine is None:
        return token_error(401, "unauthorized_client", "only a machine of this cloud is answered here")
    if asked.headers.get("metadata", "").lower() != "true":
        return token_error(400, "invalid_request", "the header Metadata: true is required")
    if "x-forwarded-for" in asked.headers:
        return token_error(400, "invalid_request", "requests that were passed on are refused")
    if asked.method != "GET":
        return token_error(405, "invalid_request", "metadata is read with GET")
    if asked.path == VERSIONS_PATH:
        return respond(200, {"apiVersions": [*VERSIONS]})
    if asked.parameter("api-version") not in VERSIONS:
        text = f"the parameter api-version is required, such as {TOKEN_VERSION}; others are listed at {VERSIONS_PATH}"
        refused = token_error(400, "invalid_request", text)
        return refused._replace(body={**(refused.body or {}), "newest-versions": [*VERSIONS[: -NEWEST - 1 : -1]]})
    if asked.path == TOKEN_PATH:
        return _token(parts, asked, machine)
    if asked.path.startswith(INSTANCE_PATH):
        return instance_document.answer(machine, asked, asked.path.removeprefix(INSTANCE_PATH))
    return token_error(404, "not_found", "there is a token and an instance document here")


def identities_of(parts: CloudParts, machine: VirtualMachine) -> list[SystemIdentity | ManagedIdentity]:
    """Return the identities that a machine has, its own first."""
    held = parts.inventory.identities
    own: list[SystemIdentity | ManagedIdentity] = [machine.system] if machine.system else []
    return own + [held[principal_id] for principal_id in machine.assigned if principal_id in held]


def _token(parts: CloudParts, asked: CloudRequest, machine: VirtualMachine) -> Response:
    audience = asked.parameter("resource")
    if _AUDIENCE.fullmatch(audience) is None:
        text = (
            "the parameter resource must name the audience of the token: a resource's address, or an application's id"
        )
        return token_error(400, "invalid_resource", text)
    wanted = [(attribute, asked.parameter(name)) for name, attribute in NAMED.items() if asked.parameter(name)]
    identities = identities_of(parts, machine)
    found = [each for each in identities if all(_is(each, *row) for row in wanted)]
    if not found:
        return token_error(400, "invalid_request", "the machine has no such identity")
    if not wanted and not machine.system and len(found) > 1:
        names = ", ".join(NAMED)
        return token_error(400, "invalid_request", f"the machine has several identities: name one with {names}")
    kept = _kept(parts, machine, found[0], audience)
    return respond(
        200,
        {
            "access_token": kept.text,
            "client_id": found[0].client_id,
            "expires_in": str(kept.end_s - parts.now_s),
            "expires_on": str(kept.end_s),
            "not_before": str(kept.begin_s),
            "refresh_token": "",
            "resource": audience,
            "token_type": "Bearer",
        },
    )


def _is(identity: SystemIdentity | ManagedIdentity, attribute: str, wanted: str) -> bool:
    held: str = getattr(identity, attribute, "")
    return folded(held) == folded(wanted)


def _kept(
    parts: CloudParts, machine: VirtualMachine, identity: SystemIdentity | ManagedIdentity, audience: str
) -> KeptToken:
    """Return the token for an audience: the one that is kept, while it lasts, else another.

    One that is not valid yet was issued by a clock that was ahead, and is not handed out any more.
    """
    name, kept = f"{machine.vm_id} {identity.principal_id} {audience}", parts.kept_tokens
    found = kept.get(name)
    if found is not None and found.begin_s <= parts.now_s < found.end_s - MIN_LEFT_S:
        return found
    text, claims = parts.issue(of_machine(parts.inventory, machine, identity), audience)
    kept.pop(name, None)
    while len(kept) >= MAX_KEPT_TOKENS:
        del kept[next(iter(kept))]
    made = kept[name] = KeptToken(text, claims["nbf"], claims["exp"])
    return made
