"""The operation token of a disaster-recovery secondary: issued, checked and deleted.

1. ``sealing.token_generation`` generates it from key shares, as it does a root token.
2. The token is stored as a digest only; a new one replaces the old.  It never expires: delete it after use.
3. A batch token whose policies allow update on the path is accepted too; it is made on the primary before the disaster.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from labkit.service.errors import Forbidden
from labkit.vault import token_record, tokens
from labkit.vault.identifiers import base62
from labkit.vault.policies import UPDATE
from labkit.vault.policies.store import acl_for
from labkit.vault.sealing.token_generation import TokenKind

if TYPE_CHECKING:
    from labkit.vault.context import Context

TOKEN = "node/operation-token"

INVALID = "dr operation token is missing or invalid"


def _issue(ctx: Context) -> str:
    """Store a new token, in place of any before it, and return it."""
    token = "hvs." + base62(ctx.entropy, 24)
    ctx.full_storage.put(TOKEN, token_record.digest_of(token).encode())
    ctx.observe("operation token issued")
    return token


OPERATION = TokenKind("node/attempt", _issue)


def check(ctx: Context, token: str | None) -> None:
    """Raise Forbidden unless the token is the operation token, or a batch token whose policies allow the path."""
    text = token or ""
    stored = ctx.full_storage.get(TOKEN)
    if stored is not None and hmac.compare_digest(stored, token_record.digest_of(text).encode()):
        return
    if text.startswith("hvb."):
        known = tokens.find(ctx, text)
        own = known is not None and not known[0].namespace  # of the root namespace, as its policies are
        if known and own and acl_for(ctx, known[0].policies).allows(UPDATE, ctx.path, parameters=ctx.body):
            return
    raise Forbidden(INVALID)


def delete(ctx: Context) -> None:
    """Delete the operation token."""
    ctx.full_storage.delete(TOKEN)
