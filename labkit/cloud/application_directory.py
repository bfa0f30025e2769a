"""Application directory: what the host of the directory answers: applications, and their secrets added and removed.

1. The text of a secret is answered once, by the call that adds it.
2. A new secret is known to the token endpoint after the time that changes take to spread.
"""

from __future__ import annotations

from typing import Any

from labkit.cloud.access_tokens import directory_audience
from labkit.cloud.compute import bearer
from labkit.cloud.inventory import guid
from labkit.cloud.parts import CloudParts, CloudRequest
from labkit.cloud.refusals import api_error
from labkit.cloud.resources import Application, ClientSecret
from labkit.service.cloud_environments import CloudEnvironment
from labkit.service.durations import SECOND_NS, format_instant, parse_instant
from labkit.service.encoding import to_base64url
from labkit.service.message import Response, respond

SECRET_BYTES = 30
LIFETIME_NS = 2 * 365 * 86_400 * SECOND_NS
MAX_SECRETS = 32
APPLICATIONS = ["v1.0", "applications"]


def answer(parts: CloudParts, environment: CloudEnvironment, asked: CloudRequest) -> Response:
    """Answer a request to the host of the directory."""
    claims = bearer(parts, environment, asked, directory_audience(environment))
    if isinstance(claims, Response):
        return claims
    segments = asked.path.strip("/").split("/")
    if segments[:2] != APPLICATIONS or len(segments) > 4:
        return api_error(404, "ResourceNotFound", "the directory shows /v1.0/applications")
    here = [each for each in parts.inventory.applications.values() if each.tenant_id == claims.get("tid")]
    if len(segments) == 2:
        return _list(here, asked) if asked.method == "GET" else _unsupported()
    found = next((each for each in here if each.object_id == segments[2].lower()), None)
    if found is None:
        return api_error(404, "Request_ResourceNotFound", f"no application {segments[2][:64]} in this tenant")
    if len(segments) == 3:
        return respond(200, _shown(found)) if asked.method == "GET" else _unsupported()
    if asked.method != "POST":
        return _unsupported()
    if not _may_change(found, claims):
        return api_error(403, "Authorization_RequestDenied", "the caller may not change this application")
    if segments[3] == "addPassword":
        return _add(parts, found, asked)
    if segments[3] == "removePassword":
        return _remove(parts, found, asked)
    return api_error(404, "ResourceNotFound", "an application's secrets are changed by addPassword and removePassword")


def new_secret(parts: CloudParts, name: str, end_ns: int, spread_ns: int) -> ClientSecret:
    """Make a secret that is valid from now to an instant, and usable once it has spread."""
    now_ns = parts.now()
    text = to_base64url(parts.entropy(SECRET_BYTES))
    return ClientSecret(guid(parts.entropy), name, text, now_ns, end_ns, now_ns + spread_ns)


def _may_change(application: Application, claims: dict[str, Any]) -> bool:
    return application.owns_itself and claims.get("appid") == application.client_id


def _list(here: list[Application], asked: CloudRequest) -> Response:
    """Answer the applications, those of one client id when the filter names it."""
    wanted = asked.parameter("$filter")
    if wanted:
        field, _, value = wanted.partition(" eq ")
        if field.strip() != "appId" or len(value) < 2 or not value[0] == value[-1] == "'" or "'" in value[1:-1]:
            return api_error(400, "BadRequest", "a filter has the form appId eq 'ID'")
        here = [each for each in here if each.client_id == value[1:-1].lower()]
    return respond(200, {"value": [_shown(each) for each in here]})


def _add(parts: CloudParts, application: Application, asked: CloudRequest) -> Response:
    given = asked.body.get("passwordCredential", {})
    if not isinstance(given, dict):
        return api_error(400, "BadRequest", "passwordCredential is an object")
    name, end = given.get("displayName"), given.get("endDateTime")
    now_ns = parts.now()
    try:
        end_ns = now_ns + LIFETIME_NS if end is None else parse_instant(end)
    except (ValueError, TypeError, AttributeError):
        return api_error(400, "BadRequest", "endDateTime is an instant such as 2031-01-31T12:00:00Z")
    if end_ns <= now_ns:
        return api_error(400, "BadRequest", "endDateTime has passed")
    if len(application.secrets) >= MAX_SECRETS:
        return api_error(400, "BadRequest", f"an application has at most {MAX_SECRETS} secrets")
    made = new_secret(parts, name if isinstance(name, str) else "", end_ns, parts.settings.get("spread_ns", 0))
    parts.inventory.keep_secrets(application, (*application.secrets, made))
    return respond(200, {**_secret(made), "secretText": made.text})


def _remove(parts: CloudParts, application: Application, asked: CloudRequest) -> Response:
    kept = tuple([each for each in application.secrets if each.key_id != asked.sent("keyId").lower()])
    if len(kept) == len(application.secrets):
        return api_error(404, "Request_ResourceNotFound", "the application has no secret of that keyId")
    parts.inventory.keep_secrets(application, kept)
    return respond(204)


def _shown(application: Application) -> dict[str, Any]:
    return {
        "id": application.object_id,
        "appId": application.client_id,
        "displayName": application.name,
        "passwordCredentials": [_secret(each) for each in application.secrets],
    }


def _secret(secret: ClientSecret) -> dict[str, Any]:
    """Return what may be seen of a secret."""
    return {
        "customKeyIdentifier": None,
        "displayName": secret.display_name,
        "endDateTime": format_instant(secret.end_ns),
        "hint": secret.text[:3],
        "keyId": secret.key_id,
        "secretText": None,
        "startDateTime": format_instant(secret.start_ns),
    }


def _unsupported() -> Response:
    return api_error(405, "Request_BadRequest", "this is not how it is called")
