"""``sys/generate-root``: a root token from key shares, for whoever has lost the last one.

The endpoints are open: the shares are the authority (decision C6).  Newer command lines ask for the same ones at
``sys/generate-root-token``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.sealing import token_generation
from labkit.vault.sealing.initialise import ROOT_TOKEN
from labkit.vault.sealing.token_generation import TokenKind

if TYPE_CHECKING:
    from labkit.vault.context import Context


def read_attempt(ctx: Context) -> dict[str, Any]:
    """Return the progress of a root token's generation."""
    return token_generation.status(ctx, ROOT)


def start_attempt(ctx: Context, pgp_key: str | None, otp: str | None) -> dict[str, Any]:
    """Start the generation of a root token."""
    return token_generation.start(ctx, ROOT, otp, pgp_key)


def cancel_attempt(ctx: Context) -> None:
    """Cancel the generation under way."""
    token_generation.cancel(ctx, ROOT)


def update_attempt(ctx: Context, key: str | None, nonce: str | None) -> dict[str, Any]:
    """Take one key share."""
    return token_generation.update(ctx, ROOT, key, nonce)


def _issue(ctx: Context) -> str:
    """Issue a root token that does not end, and return it."""
    text, _ = tokens.issue(ctx, ROOT_TOKEN)
    ctx.observe("root token issued")
    return text


ROOT = TokenKind("node/root-attempt", _issue, is_root=True)

OPEN = ("unauthenticated", "key_shares", "no_envelope")

START = (
    fields.text("pgp_key", "PGP public key (base64) that the token is encrypted to"),
    fields.text("otp", "one-time pad of the token's length; made by the service when left out"),
)
SHARE = (fields.text("key", "one key share, hex or base64"), fields.text("nonce", "nonce of the attempt"))


def _routes(place: str) -> tuple[Route, ...]:
    return (
        Route("read", f"{place}/attempt", read_attempt, (), *OPEN),
        Route("write", f"{place}/attempt", start_attempt, START, *OPEN),
        Route("delete", f"{place}/attempt", cancel_attempt, (), *OPEN),
        Route("write", f"{place}/update", update_attempt, SHARE, *OPEN),
    )


ROUTES = (*_routes("generate-root"), *_routes("generate-root-token"))
