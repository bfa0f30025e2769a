"""Which token a request is about: the caller's own, one named by its text, or one named by its accessor.

An accessor stands for a token that its holder need not know: everything but using the token can be done with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service import fields
from labkit.service.errors import BadRequest, one_error
from labkit.vault import token_record, tokens
from labkit.vault.token_record import Token

if TYPE_CHECKING:
    from labkit.vault.context import Context

Found = tuple[Token, str]
"""A token's record, and the digest that it is stored under."""

TOKEN = fields.text("token", "the token")
ACCESSOR = fields.text("accessor", "accessor of the token")

MISSING = "missing token ID"


def own_token(ctx: Context) -> Found:
    """Return the caller's token as stored now: this request's use is off it already."""
    assert ctx.caller is not None
    token, digest = ctx.caller.token, ctx.caller.digest
    if token.uses == 0:
        return token, digest
    return ctx.full_storage.decoded(token_record.IDS + digest, token_record.decode_token) or token, digest


def token_by_text(ctx: Context, text: str | None) -> Found:
    """Return the token of a text; raise BadRequest when there is none."""
    if not text:
        raise BadRequest(MISSING)
    found = tokens.find_named(ctx, text)
    if found is None:
        raise BadRequest("token not found")
    return found


def token_by_accessor(ctx: Context, accessor: str | None) -> Found:
    """Return the token of an accessor; raise BadRequest when there is none."""
    if not accessor:
        raise BadRequest("missing accessor")
    found = tokens.find_accessor(ctx, accessor)
    if found is None:
        raise BadRequest(one_error("invalid accessor"))
    return found
