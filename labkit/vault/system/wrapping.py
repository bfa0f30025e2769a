"""Response wrapping: ``sys/wrapping``, to wrap, look up, unwrap and rewrap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import format_instant
from labkit.service.errors import BadRequest, NotFound
from labkit.service.message import Reply, Response, respond
from labkit.service.routing import Route
from labkit.vault import tokens, wrapping

if TYPE_CHECKING:
    from labkit.vault.context import Context

NOT_WRAPPED = "endpoint requires response wrapping to be used"


def wrap(ctx: Context) -> dict[str, Any]:
    """Wrap the body as it is: every member is data."""
    if not ctx.wrap_ttl_ns:
        raise BadRequest(NOT_WRAPPED)
    ctx.warnings.clear()  # of members that no field names: all of them are data
    return dict(ctx.body)


def lookup(ctx: Context, token: str | None) -> dict[str, Any]:
    """Return when and where a wrapping token was made, without using it up."""
    wrapped = wrapping.read_wrapped(ctx, token or tokens.sent_token(ctx))
    return {
        "creation_ttl": wrapped.ttl_s,
        "creation_time": format_instant(wrapped.created_ns),
        "creation_path": wrapped.path,
    }


def unwrap(ctx: Context, token: str | None) -> Response:
    """Return the wrapped answer as it was, and use the token up."""
    wrapped = wrapping.unwrap(ctx, token or tokens.sent_token(ctx))
    return respond(wrapped.status, wrapped.body)


def rewrap(ctx: Context, token: str | None) -> Reply:
    """Wrap what a token holds under a new one, with the same time to live and path; the old one is used up."""
    wrapped = wrapping.unwrap(ctx, token or tokens.sent_token(ctx))
    text, info = wrapping.wrap(ctx, wrapped.body, wrapped.ttl_s, wrapped.path)
    return Reply(wrap_info={"token": wrapping.in_asked_form(ctx, text, info), **info})


def read_public_key(ctx: Context) -> dict[str, Any]:
    """Return the point on the curve that verifies wrapping tokens in JWT form, in decimal digits."""
    public = wrapping.public_key(ctx)
    if public is None:
        raise NotFound
    from labkit.keymaking import point_of

    x, y = point_of(public)
    return {"jwt_curve": "p521", "jwt_x": str(x), "jwt_y": str(y)}


TOKEN = fields.text("token", "wrapping token; the caller's own when left out")

ROUTES = (
    Route("write", "wrapping/wrap", wrap),
    Route("write", "wrapping/lookup", lookup, (TOKEN,), "unauthenticated"),
    Route("read", "wrapping/lookup", lookup, (TOKEN,), "unauthenticated"),
    Route("write", "wrapping/unwrap", unwrap, (TOKEN,), "invalid_token_is_400"),
    Route("read", "wrapping/pubkey", read_public_key, (), "unauthenticated"),
    Route("write", "wrapping/rewrap", rewrap, (TOKEN,), "invalid_token_is_400"),
)
