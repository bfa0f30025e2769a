"""Revoking tokens: ``auth/token/revoke``, ``revoke-self``, ``-accessor`` and ``-orphan``, and ``tidy``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth.token.named_token import ACCESSOR, MISSING, TOKEN, Found, own_token

if TYPE_CHECKING:
    from labkit.vault.context import Context

TIDY_STARTED = "Tidy operation successfully started. It is complete with this answer."


def revoke(ctx: Context, token: str | None) -> None:
    """Revoke a token and its descendants; one that does not exist is not an error."""
    if not token:
        raise BadRequest(MISSING)
    found = tokens.find_named(ctx, token)
    if found is not None:
        _revoke(ctx, found)


def revoke_self(ctx: Context) -> None:
    """Revoke the caller's token and its descendants."""
    _revoke(ctx, own_token(ctx))


def revoke_accessor(ctx: Context, accessor: str | None) -> None:
    """Revoke a token and its descendants by its accessor; an unknown one makes a warning."""
    if not accessor:
        raise BadRequest("missing accessor")
    found = tokens.find_accessor(ctx, accessor)
    if found is None:
        ctx.warn("No token found with this accessor")
        return
    _revoke(ctx, found)


def revoke_orphan(ctx: Context, token: str | None) -> None:
    """Revoke only the token: its children become orphans."""
    if not token:
        raise BadRequest(MISSING)
    found = tokens.find_named(ctx, token)
    if found is None:
        raise BadRequest("token to revoke not found")
    tokens.refuse_batch(found[0], "revoked")
    tokens.revoke(ctx, found[1], descendants=False)


def _revoke(ctx: Context, found: Found) -> None:
    tokens.refuse_batch(found[0], "revoked")
    tokens.revoke(ctx, found[1])


def tidy(ctx: Context) -> Reply:
    """Delete what is left of tokens that no longer exist."""
    tokens.tidy(ctx)
    ctx.warn(TIDY_STARTED)
    return Reply(status=202)


ROUTES = (
    Route("write", "revoke", revoke, (TOKEN,)),
    Route("write", "revoke-self", revoke_self),
    Route("write", "revoke-accessor", revoke_accessor, (ACCESSOR,)),
    Route("write", "revoke-orphan", revoke_orphan, (TOKEN,), "sudo"),
    Route("write", "tidy", tidy, (), "accepted"),
)
