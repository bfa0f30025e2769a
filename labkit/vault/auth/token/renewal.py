"""Renewing tokens: ``auth/token/renew``, ``renew-self`` and ``renew-accessor``.

A renewal that asks for no time gives what the last one gave, the first one what the token was made with; one of a
login's token gives what the role says now (spec, Shared token fields).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth.lifetime import TtlLimits, asked_seconds, grant_s, mount_limits, no_role
from labkit.vault.auth.token.named_token import ACCESSOR, TOKEN, Found, own_token, token_by_accessor, token_by_text
from labkit.vault.auth.token.roles import find_role
from labkit.vault.mounts import CATALOGUE, read_table
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount
    from labkit.vault.token_record import Token

TOKEN_METHOD = "auth/token/"

INCREMENT = fields.anything("increment", "how long the token is to live from now on")


def renew(ctx: Context, token: str | None, increment: Any) -> Reply | None:
    """Renew a token."""
    return _renew(ctx, token_by_text(ctx, token), token or "", increment)


def renew_self(ctx: Context, increment: Any) -> Reply | None:
    """Renew the caller's token."""
    return _renew(ctx, own_token(ctx), tokens.sent_token(ctx), increment)


def renew_accessor(ctx: Context, accessor: str | None, increment: Any) -> Reply | None:
    """Renew a token by its accessor."""
    return _renew(ctx, token_by_accessor(ctx, accessor), "", increment)


def _renew(ctx: Context, found: Found, text: str, increment: Any) -> Reply | None:
    token, digest = found
    tokens.refuse_batch(token, "renewed")
    if not token.expires_ns:
        raise BadRequest("invalid lease ID")
    if not token.renewable:
        raise BadRequest("lease is not renewable")
    limits = _limits(ctx, token)
    if limits is None:
        return None
    limits = limits._replace(explicit_max_ttl_s=token.explicit_max_ttl_s)
    granted_s = grant_s(limits, asked_seconds(increment, "increment"), ctx.now - token.created_ns, ctx.warn)
    expires_ns = ctx.now + granted_s * SECOND_NS
    token = token._replace(expires_ns=expires_ns, renewed_ns=ctx.now, renewed_ttl_s=granted_s)
    tokens.save(ctx, digest, token)
    return Reply(auth=tokens.auth_block(text, token, granted_s))


def _limits(ctx: Context, token: Token) -> TtlLimits | None:
    """Return what limits the token's next life: its role as it is now, and the mount that it came from.

    None where nothing is to be renewed, as of a user who was deleted.
    """
    mount = _mount_of(ctx, token)
    storage = StorageView(ctx, mount.prefix)
    found, kept = mount_limits(mount), CATALOGUE[mount.kind, mount.version].renewal
    if kept and token.role:
        module, _, name = kept.partition(":")
        limits: TtlLimits | None = getattr(import_module(module), name)(storage, mount, token)
        return limits
    period_s = token.period_s
    if token.role:
        role = find_role(storage, token.role)
        if role is None:
            raise no_role(token.role)
        period_s = role.token_period
    return found._replace(ttl_s=token.renewed_ttl_s or token.ttl_s, max_ttl_s=token.max_ttl_s, period_s=period_s)


def _mount_of(ctx: Context, token: Token) -> Mount:
    """Return the mount whose settings and roles hold for a token: the one of its own namespace that gave it."""
    namespace = tokens.namespace_of(ctx, token) or ctx.namespace
    table = read_table(StorageView(ctx, namespace.prefix))
    given = table.find(token.path)
    if given is not None and CATALOGUE[given.kind, given.version].is_auth:
        return given
    return table.at(TOKEN_METHOD) or ctx.mount


ROUTES = (
    Route("write", "renew", renew, (TOKEN, INCREMENT)),
    Route("write", "renew-self", renew_self, (INCREMENT,)),
    Route("write", "renew-accessor", renew_accessor, (ACCESSOR, INCREMENT)),
)
