"""Looking tokens up: ``auth/token/lookup``, ``lookup-self`` and ``lookup-accessor``, and the list of accessors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_stored
from labkit.service.errors import Forbidden
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth.token.named_token import ACCESSOR, TOKEN, own_token, token_by_accessor
from labkit.vault.token_record import Token

if TYPE_CHECKING:
    from labkit.vault.context import Context


def lookup(ctx: Context, token: str | None) -> dict[str, Any]:
    """Describe a token, the caller's own when none is named; 403 for one that is not valid."""
    if not token:
        return lookup_self(ctx)
    found = tokens.find_named(ctx, token)
    if found is None:
        raise Forbidden("bad token")
    return describe(ctx, found[0], token)


def lookup_self(ctx: Context) -> dict[str, Any]:
    """Describe the caller's token."""
    return describe(ctx, own_token(ctx)[0], tokens.sent_token(ctx))


def lookup_accessor(ctx: Context, accessor: str | None) -> dict[str, Any]:
    """Describe a token by its accessor, without showing the token."""
    return describe(ctx, token_by_accessor(ctx, accessor)[0], "")


def describe(ctx: Context, token: Token, text: str) -> dict[str, Any]:
    """Lay out what a lookup shows of a token."""
    data: dict[str, Any] = {
        "accessor": token.accessor,
        "creation_time": token.created_ns // SECOND_NS,
        "creation_ttl": token.ttl_s,
        "display_name": token.display_name,
        "entity_id": token.entity_id,
        "expire_time": None,
        "explicit_max_ttl": token.explicit_max_ttl_s,
        "id": text,
        "meta": None if token.meta is None else dict(token.meta),
        "num_uses": token.uses,
        "orphan": token.orphan,
        "path": token.path,
        "policies": list(token.policies),
        "ttl": tokens.remaining_s(token, ctx.now),
        "type": token.kind,
    }
    if token.expires_ns:
        data["expire_time"] = format_stored(token.expires_ns)
        data["issue_time"] = format_stored(token.created_ns)
        data["renewable"] = token.renewable
    if token.renewed_ns:
        data["last_renewal"] = format_stored(token.renewed_ns)
        data["last_renewal_time"] = token.renewed_ns // SECOND_NS
    if token.role and not token.entity_id:
        data["role"] = token.role
    if token.period_s:
        data["period"] = token.period_s
    if token.bound_cidrs:
        data["bound_cidrs"] = list(token.bound_cidrs)
    if token.namespace:
        data["namespace_path"] = token.namespace
    return data


def list_accessors(ctx: Context) -> dict[str, Any]:
    """List the accessors of all tokens of the namespace."""
    return {"keys": tokens.accessors(ctx)}


ROUTES = (
    Route("write", "lookup", lookup, (TOKEN,)),
    Route("read", "lookup", lookup, (TOKEN,)),
    Route("read", "lookup-self", lookup_self),
    Route("write", "lookup-self", lookup_self),
    Route("write", "lookup-accessor", lookup_accessor, (ACCESSOR,)),
    Route("list", "accessors/", list_accessors, (), "sudo"),
)
