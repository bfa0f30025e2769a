"""The token auth method: looking tokens up, renewing and revoking them, and the list of accessors.

An accessor stands for a token that its holder need not know: everything but using the token can be done with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.errors import BadRequest, Forbidden, one_error
from labkit.service.message import Reply
from labkit.service.routing import Route, Table
from labkit.vault import tokens
from labkit.vault.auth import creation, roles
from labkit.vault.auth.lifetime import asked_seconds, grant_s, mount_bounds
from labkit.vault.tokens import Token

if TYPE_CHECKING:
    from labkit.vault.context import Context

Found = tuple[Token, str]

TOKEN = fields.text("token", "the token")
ACCESSOR = fields.text("accessor", "accessor of the token")
INCREMENT = fields.anything("increment", "how long the token is to live from now on")

MISSING = "missing token ID"
TIDY_STARTED = "Tidy operation successfully started. Nothing more is told of it; it is over with this answer."


def lookup(ctx: Context, token: str | None) -> dict[str, Any]:
    """Describe a token, the caller's own when none is named; 403 for one that is not valid."""
    if not token:
        return lookup_self(ctx)
    found = tokens.find(ctx, token)
    if found is None:
        raise Forbidden("bad token")
    return describe(ctx, found[0], token)


def lookup_self(ctx: Context) -> dict[str, Any]:
    """Describe the caller's token."""
    return describe(ctx, _own(ctx)[0], tokens.sent_token(ctx))


def lookup_accessor(ctx: Context, accessor: str | None) -> dict[str, Any]:
    """Describe a token by its accessor, without telling the token."""
    return describe(ctx, _by_accessor(ctx, accessor)[0], "")


def describe(ctx: Context, token: Token, text: str) -> dict[str, Any]:
    """Lay out what a lookup tells of a token."""
    data: dict[str, Any] = {
        "accessor": token.accessor,
        "creation_time": token.created_ns // SECOND_NS,
        "creation_ttl": token.ttl_s,
        "display_name": token.display_name,
        "entity_id": "",
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
        data["expire_time"] = format_instant(token.expires_ns)
        data["issue_time"] = format_instant(token.created_ns)
        data["renewable"] = token.renewable
    if token.renewed_ns:
        data["last_renewal"] = format_instant(token.renewed_ns)
        data["last_renewal_time"] = token.renewed_ns // SECOND_NS
    if token.role:
        data["role"] = token.role
    if token.period_s:
        data["period"] = token.period_s
    if token.bound_cidrs:
        data["bound_cidrs"] = list(token.bound_cidrs)
    return data


def renew(ctx: Context, token: str | None, increment: Any) -> Reply:
    """Renew a token."""
    return _renew(ctx, _existing(ctx, token), token or "", increment)


def renew_self(ctx: Context, increment: Any) -> Reply:
    """Renew the caller's token."""
    return _renew(ctx, _own(ctx), tokens.sent_token(ctx), increment)


def renew_accessor(ctx: Context, accessor: str | None, increment: Any) -> Reply:
    """Renew a token by its accessor."""
    return _renew(ctx, _by_accessor(ctx, accessor), "", increment)


def _renew(ctx: Context, found: Found, text: str, increment: Any) -> Reply:
    token, digest = found
    tokens.refuse_batch(token, "renewed")
    if not token.expires_ns:
        raise BadRequest("invalid lease ID")
    if not token.renewable:
        raise BadRequest("lease is not renewable")
    period_s = token.period_s
    if token.role and token.path.startswith(ctx.mount.path):
        role = roles.find_role(ctx, token.role)
        if role is None:
            raise BadRequest(f'original token role "{token.role}" could not be found, not renewing')
        period_s = role.token_period
    bounds = mount_bounds(ctx.mount)._replace(
        ttl_s=token.ttl_s,
        max_ttl_s=token.max_ttl_s,
        explicit_max_ttl_s=token.explicit_max_ttl_s,
        period_s=period_s,
    )
    granted_s = grant_s(bounds, asked_seconds(increment, "increment"), ctx.now - token.created_ns, ctx.warn)
    token = token._replace(expires_ns=ctx.now + granted_s * SECOND_NS, renewed_ns=ctx.now)
    tokens.save(ctx, digest, token)
    return Reply(auth=tokens.auth_block(text, token, granted_s))


def revoke(ctx: Context, token: str | None) -> None:
    """Revoke a token and its descendants; one that is not there is no error."""
    if not token:
        raise BadRequest(MISSING)
    found = tokens.find(ctx, token)
    if found is not None:
        _revoke(ctx, found)


def revoke_self(ctx: Context) -> None:
    """Revoke the caller's token and its descendants."""
    _revoke(ctx, _own(ctx))


def revoke_accessor(ctx: Context, accessor: str | None) -> None:
    """Revoke a token and its descendants by its accessor; an unknown one is told in a warning."""
    if not accessor:
        raise BadRequest("missing accessor")
    found = tokens.find_accessor(ctx, accessor)
    if found is None:
        ctx.warn("No token found with this accessor")
        return
    _revoke(ctx, found)


def revoke_orphan(ctx: Context, token: str | None) -> None:
    """Revoke a token alone: its children become orphans."""
    if not token:
        raise BadRequest(MISSING)
    found = tokens.find(ctx, token)
    if found is None:
        raise BadRequest("token to revoke not found")
    tokens.refuse_batch(found[0], "revoked")
    tokens.revoke(ctx, found[1], descendants=False)


def _revoke(ctx: Context, found: Found) -> None:
    tokens.refuse_batch(found[0], "revoked")
    tokens.revoke(ctx, found[1])


def list_accessors(ctx: Context) -> dict[str, Any]:
    """List the accessors of all tokens."""
    return {"keys": ctx.everything.list(tokens.ACCESSORS)}


def tidy(ctx: Context) -> Reply:
    """Delete what is left of tokens that are gone."""
    tokens.tidy(ctx)
    ctx.warn(TIDY_STARTED)
    return Reply(status=202)


def _own(ctx: Context) -> Found:
    """Return the caller's token as stored now: this request's use is off it already."""
    assert ctx.caller is not None
    token, digest = ctx.caller.token, ctx.caller.digest
    if token.uses == 0:
        return token, digest
    return ctx.everything.decoded(tokens.IDS + digest, tokens.decode_token) or token, digest


def _existing(ctx: Context, text: str | None) -> Found:
    if not text:
        raise BadRequest(MISSING)
    found = tokens.find(ctx, text)
    if found is None:
        raise BadRequest("token not found")
    return found


def _by_accessor(ctx: Context, accessor: str | None) -> Found:
    if not accessor:
        raise BadRequest("missing accessor")
    found = tokens.find_accessor(ctx, accessor)
    if found is None:
        raise BadRequest(one_error("invalid accessor"))
    return found


ROUTES = (
    Route("write", "lookup", lookup, (TOKEN,)),
    Route("read", "lookup", lookup, (TOKEN,)),
    Route("read", "lookup-self", lookup_self),
    Route("write", "lookup-self", lookup_self),
    Route("write", "lookup-accessor", lookup_accessor, (ACCESSOR,)),
    Route("write", "renew", renew, (TOKEN, INCREMENT)),
    Route("write", "renew-self", renew_self, (INCREMENT,)),
    Route("write", "renew-accessor", renew_accessor, (ACCESSOR, INCREMENT)),
    Route("write", "revoke", revoke, (TOKEN,)),
    Route("write", "revoke-self", revoke_self),
    Route("write", "revoke-accessor", revoke_accessor, (ACCESSOR,)),
    Route("write", "revoke-orphan", revoke_orphan, (TOKEN,), "sudo"),
    Route("list", "accessors/", list_accessors, (), "sudo"),
    Route("write", "tidy", tidy),
)

TABLE = Table((*creation.ROUTES, *ROUTES, *roles.ROUTES))
