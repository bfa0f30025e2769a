"""Renewing tokens: ``auth/token/renew``, ``renew-self`` and ``renew-accessor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth.lifetime import asked_seconds, grant_s, mount_limits
from labkit.vault.auth.token.named_token import ACCESSOR, TOKEN, Found, own_token, token_by_accessor, token_by_text
from labkit.vault.auth.token.roles import find_role

if TYPE_CHECKING:
    from labkit.vault.context import Context

INCREMENT = fields.anything("increment", "how long the token is to live from now on")


def renew(ctx: Context, token: str | None, increment: Any) -> Reply:
    """Renew a token."""
    return _renew(ctx, token_by_text(ctx, token), token or "", increment)


def renew_self(ctx: Context, increment: Any) -> Reply:
    """Renew the caller's token."""
    return _renew(ctx, own_token(ctx), tokens.sent_token(ctx), increment)


def renew_accessor(ctx: Context, accessor: str | None, increment: Any) -> Reply:
    """Renew a token by its accessor."""
    return _renew(ctx, token_by_accessor(ctx, accessor), "", increment)


def _renew(ctx: Context, found: Found, text: str, increment: Any) -> Reply:
    token, digest = found
    tokens.refuse_batch(token, "renewed")
    if not token.expires_ns:
        raise BadRequest("invalid lease ID")
    if not token.renewable:
        raise BadRequest("lease is not renewable")
    period_s = token.period_s
    if token.role and token.path.startswith(ctx.mount.path):
        role = find_role(ctx, token.role)
        if role is None:
            raise BadRequest(f'original token role "{token.role}" could not be found, not renewing')
        period_s = role.token_period
    limits = mount_limits(ctx.mount)._replace(
        ttl_s=token.ttl_s,
        max_ttl_s=token.max_ttl_s,
        explicit_max_ttl_s=token.explicit_max_ttl_s,
        period_s=period_s,
    )
    granted_s = grant_s(limits, asked_seconds(increment, "increment"), ctx.now - token.created_ns, ctx.warn)
    token = token._replace(expires_ns=ctx.now + granted_s * SECOND_NS, renewed_ns=ctx.now)
    tokens.save(ctx, digest, token)
    return Reply(auth=tokens.auth_block(text, token, granted_s))


ROUTES = (
    Route("write", "renew", renew, (TOKEN, INCREMENT)),
    Route("write", "renew-self", renew_self, (INCREMENT,)),
    Route("write", "renew-accessor", renew_accessor, (ACCESSOR, INCREMENT)),
)
