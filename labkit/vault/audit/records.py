"""Audit records: what is written of a request and of its response.

``Facts`` is what a record says, the same for every device; ``lay_out`` makes the record of one device of it, which
hides values under its own salt.  Members that are empty are left out.  What a request's two records say alike (who asks
for what) is made for the first, and the second repeats it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_instant
from labkit.vault import tokens
from labkit.vault.audit.devices import Device
from labkit.vault.audit.headers import HEADERS, read_headers
from labkit.vault.audit.hiding import (
    hide,
    hide_accessor,
    hide_credentials,
    hide_echoes,
    hide_members,
    hide_token,
)
from labkit.vault.policies import CREATE, DELETE, LIST, PATCH, READ, SUDO, UPDATE
from labkit.vault.policies.store import acl_for
from labkit.vault.storage.barrier import BarrierError

if TYPE_CHECKING:
    from labkit.service.message import Response
    from labkit.vault.context import Caller, Context
    from labkit.vault.mounts import Mount, Namespace
    from labkit.vault.policies import Acl

CAPABILITIES = {"read": READ, "list": LIST, "patch": PATCH, "delete": DELETE, "create": CREATE}


class Facts:
    """What one record says before anything is hidden; made once for all devices."""

    __slots__ = ("ctx", "error", "kind", "mount", "operation", "response", "time")

    def __init__(self, ctx: Context, kind: str, response: Response | None) -> None:
        self.ctx, self.kind = ctx, kind
        self.time = format_instant(ctx.now)
        self.mount = ctx.resolved.mount if ctx.resolved is not None else None
        write = "create" if ctx.is_create else "update"
        self.operation = write if ctx.operation == "write" else ctx.operation
        errors = response.errors if response is not None else []
        self.error = "; ".join(errors + [ctx.audit_reason] * bool(ctx.audit_reason and errors))
        self.response = response if kind == "response" else None

    def __repr__(self) -> str:
        return f"Facts({self.kind}, {self.operation} {self.ctx.path})"

    def properties(self) -> dict[str, str]:
        """Return what a filter looks at."""
        return {
            "mount_point": self.ctx.namespace.path + self.mount.path if self.mount is not None else "",
            "mount_type": self.mount.kind if self.mount is not None else "",
            "namespace": self.ctx.namespace.path,
            "operation": self.operation,
            "path": self.ctx.path,
        }


def lay_out(facts: Facts, device: Device) -> dict[str, Any]:
    """Return a device's record."""
    record: dict[str, Any] = {"time": facts.time, "type": facts.kind}
    if facts.error:
        record["error"] = hide_echoes(device, facts.error, facts.ctx.body)
    kept = facts.ctx.audited
    shown = kept.get(device.path)
    if shown is None:
        credentials = _credentials(facts, device)
        auth = (
            None if facts.ctx.caller is None else {**credentials, **_auth(facts.ctx, facts.ctx.caller, facts.operation)}
        )
        shown = kept[device.path] = (auth, _request(facts, device, credentials))
    auth, request = shown
    if auth is not None:
        record["auth"] = auth
    record["request"] = request
    if facts.response is not None:
        record["response"] = _response(facts, facts.response, device)
    return record


def test_record(ctx: Context, path: str) -> dict[str, Any]:
    """Return the record by which a device is tried when it is enabled."""
    request = {"id": ctx.request_id, "operation": "update", "namespace": _namespace(ctx.namespace), "path": path}
    return {"time": format_instant(ctx.now), "type": "request", "request": request}


def _credentials(facts: Facts, device: Device) -> dict[str, str]:
    """Return the token that was sent and its accessor, hidden; a batch token has no accessor."""
    shown: dict[str, str] = {}
    sent, caller = tokens.sent_token(facts.ctx), facts.ctx.caller
    if sent and facts.mount is not None:
        shown["client_token"] = hide_token(device, sent)
    if caller is not None and caller.token.accessor:
        shown["accessor"] = hide_accessor(device, caller.token.accessor)
    return shown


def _auth(ctx: Context, caller: Caller, operation: str) -> dict[str, Any]:
    """Return what is said of the caller in the clear."""
    token = caller.token
    shown: dict[str, Any] = {
        "display_name": token.display_name,
        "policies": list(token.policies),
        "token_policies": list(token.policies),
        "metadata": dict(token.meta) if token.meta else None,
        "token_type": token.kind,
        "token_ttl": token.ttl_s,
        "token_issue_time": format_instant(token.created_ns) if token.created_ns else "",
        "remaining_uses": max(token.uses, 0),
    }
    shown = {name: value for name, value in shown.items() if value not in (None, "", 0)}
    if ctx.resolved is not None:
        shown["policy_results"] = _policy_results(ctx, caller, operation)
    return shown


def _policy_results(ctx: Context, caller: Caller, operation: str) -> dict[str, Any]:
    """Return whether the caller's policies allow the request, and which of them do so by themselves."""
    if tokens.prefix_of(ctx, caller.token) is None or not _allows(ctx, caller.acl, operation):
        return {"allowed": False}
    granting, home = [], caller.namespace
    for name in caller.token.policies:
        with suppress(BarrierError):  # the memo that let the caller in did not read it again (C12)
            granting += [name] if _allows(ctx, acl_for(ctx, (name,), home), operation) else []
    rows = [{"name": name, "namespace_id": home.id, "type": "acl"} for name in granting]
    return {"allowed": True, "granting_policies": rows} if rows else {"allowed": True}


def _allows(ctx: Context, acl: Acl, operation: str) -> bool:
    if acl.root:
        return True
    assert ctx.resolved is not None
    listing, capability = operation == "list", CAPABILITIES.get(operation, UPDATE)
    judged = ctx.body if operation not in ("list", "delete") else None
    path = ctx.policy_prefix + ctx.path
    allowed = acl.allows(capability, path, parameters=judged, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    if allowed and "sudo" in ctx.resolved.flags:
        return acl.allows(SUDO, path, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    return allowed


def _request(facts: Facts, device: Device, credentials: dict[str, str]) -> dict[str, Any]:
    ctx, mount = facts.ctx, facts.mount
    members: dict[str, Any] = {
        "id": ctx.request_id,
        "operation": facts.operation,
        "namespace": _namespace(ctx.namespace),
        "path": ctx.path,
        "remote_address": ctx.request.remote_address,
    }
    if mount is not None:
        members |= _mount(ctx.namespace, mount)
    if "client_token" in credentials:
        members["client_token"] = credentials["client_token"]
    if "accessor" in credentials:
        members["client_token_accessor"] = credentials["accessor"]
    if ctx.wrap_ttl_ns:
        members["wrap_ttl"] = ctx.wrap_ttl_ns // SECOND_NS
    if ctx.body:
        members["data"] = hide_members(device, ctx.body, mount.audit_non_hmac_request_keys if mount else ())
    if ctx.source.read(HEADERS) is not None:
        shown = _headers(ctx, device)
        if shown:
            members["headers"] = shown
    return members


def _headers(ctx: Context, device: Device) -> dict[str, list[str]]:
    """Return the request's headers that are audited, each hidden where that was asked for."""
    shown = {}
    for name, is_hidden in read_headers(ctx).items():
        value = ctx.headers.get(name)
        if value is not None:
            shown[name] = [hide_token(device, value) if is_hidden else value]
    return shown


def _namespace(namespace: Namespace) -> dict[str, str]:
    return {"id": namespace.id, "path": namespace.path}


def _mount(namespace: Namespace, mount: Mount) -> dict[str, str]:
    return {
        "mount_point": namespace.path + mount.path,
        "mount_type": mount.kind,
        "mount_accessor": mount.accessor,
        "mount_class": "auth" if mount.path.startswith("auth/") else "secret",
    }


def _response(facts: Facts, response: Response, device: Device) -> dict[str, Any]:
    members: dict[str, Any] = {} if facts.mount is None else _mount(facts.ctx.namespace, facts.mount)
    body = response.body or {}
    for name in ("auth", "wrap_info"):
        if body.get(name):
            members[name] = hide_credentials(device, body[name])
    data = body.get("data")
    if data:
        if device.elides_lists and facts.operation == "list":
            data = _elided(data)
        members["data"] = hide_members(device, data, facts.mount.audit_non_hmac_response_keys if facts.mount else ())
    if body.get("warnings"):
        members["warnings"] = hide(device, body["warnings"])
    return members


def _elided(data: dict[str, Any]) -> dict[str, Any]:
    """Return a list's answer with the number of its names in place of them."""
    elided = ("keys", "key_info")
    return {
        name: len(value) if name in elided and isinstance(value, (list, dict)) else value
        for name, value in data.items()
    }
