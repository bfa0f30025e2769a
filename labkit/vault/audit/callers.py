"""Callers: what an audit record says of who asks, as members of its ``auth`` and of its ``request``.

1. Shown are the token that was sent and its accessor, hidden; in the clear what the token's record says, and which of
   its policies allow the request.
2. What a device shows of a caller is kept with the device, by the hash of the token, and holds while the token's record
   says the same (R21).  Nothing is kept where the device shows the token itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from labkit.service.durations import format_instant
from labkit.service.record import NamedTuple
from labkit.vault import tokens
from labkit.vault.audit.devices import Device
from labkit.vault.audit.hiding import hide_accessor, hide_token
from labkit.vault.policies import CREATE, DELETE, LIST, PATCH, READ, SUDO, UPDATE
from labkit.vault.policies.store import acl_for
from labkit.vault.storage.records import encode_text, to_json

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Namespace
    from labkit.vault.policies.access_list import Access
    from labkit.vault.token_record import Caller, Token

CAPABILITIES = {"read": READ, "list": LIST, "patch": PATCH, "delete": DELETE, "create": CREATE}

OTHER_FORMS = "invalid_token_is_400"
"""The flag of routes to which a token may be sent in another form than the one that its hash stands for."""

MAX_KEPT_CALLERS, MAX_KEPT_CHARACTERS = 1_024, 4_096


class ShownCaller(NamedTuple):
    """What a device shows of who asks: members of ``auth`` and of ``request``; ``token`` is what they were made of.

    Each member has a comma in front (``records``, rule 3).
    ``allowed`` is what it says of whatever is allowed to a caller with one policy: that this one allows it.
    """

    token: Token | None
    auth: str
    request: str
    allowed: str

    def __repr__(self) -> str:
        return "ShownCaller()"


def shown_caller(ctx: Context, device: Device) -> ShownCaller:
    """Return what a device shows of who asks, as kept where it can be (rule 2)."""
    caller, resolved = ctx.caller, ctx.resolved
    if caller is None or resolved is None or resolved.mount is None or device.log_raw or OTHER_FORMS in resolved.flags:
        return _show_caller(ctx, device)
    kept: ShownCaller | None = device.callers.get(caller.digest)
    if kept is not None and kept.token == caller.token:
        return kept
    shown = _show_caller(ctx, device)
    if len(device.callers) >= MAX_KEPT_CALLERS:
        device.callers.clear()
    if len(shown.auth) <= MAX_KEPT_CHARACTERS:
        device.callers[caller.digest] = shown
    return shown


def _show_caller(ctx: Context, device: Device) -> ShownCaller:
    """Hide the token that was sent, where a mount was found, and its accessor; a batch token has no accessor."""
    sent, caller = tokens.sent_token(ctx), ctx.caller
    auth: dict[str, Any] = {}
    request: dict[str, Any] = {}
    if sent and ctx.resolved is not None and ctx.resolved.mount is not None:
        auth["client_token"] = request["client_token"] = hide_token(device, sent)
    if caller is None:
        return ShownCaller(None, "", _members(request), "")
    token = caller.token
    if token.accessor:
        auth["accessor"] = request["client_token_accessor"] = hide_accessor(device, token.accessor)
    allowed = _allowed(token.policies, caller.namespace) if len(token.policies) == 1 else ""
    return ShownCaller(token, _members({**auth, **_token(token)}), _members(request), allowed)


def _token(token: Token) -> dict[str, Any]:
    """Return what is said of a token in the clear."""
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
    return {name: value for name, value in shown.items() if value not in (None, "", 0)}


def policy_results(ctx: Context, caller: Caller, operation: str, shown: ShownCaller) -> str:
    """Return whether the caller's policies allow the request, and which of them do so by themselves."""
    is_elsewhere = caller.token.namespace and tokens.prefix_of(ctx, caller.token) is None
    if is_elsewhere or not _allows(ctx, caller.acl, operation):
        return ',"policy_results":{"allowed":false}'
    if shown.allowed:
        return shown.allowed
    granting = []
    for name in caller.token.policies:
        granting += [name] if _allows(ctx, acl_for(ctx, (name,), caller.namespace), operation) else []
    return _allowed(granting, caller.namespace)


def _allowed(granting: Iterable[str], home: Namespace) -> str:
    rows = [f'{{"name":{encode_text(name)},"namespace_id":{encode_text(home.id)},"type":"acl"}}' for name in granting]
    policies = f',"granting_policies":[{",".join(rows)}]' if rows else ""
    return f',"policy_results":{{"allowed":true{policies}}}'


def _allows(ctx: Context, acl: Access, operation: str) -> bool:
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


def _members(members: dict[str, Any]) -> str:
    """Write the members of an object without its braces, with a comma in front."""
    return f",{to_json(members)[1:-1]}" if members else ""
