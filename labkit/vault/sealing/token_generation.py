"""Generating a powerful token from key shares: a root token, or the operation token of a DR secondary.

1. ``ATTEMPT`` is the whole table of states, and ``_check_event`` runs on it.  There is one attempt of each kind at a
   time.  It is stored, so it survives a change of the active node.
2. When the shares at the threshold give the root key, the token is issued and the attempt ends; when they do not, the
   progress goes back to 0 and the attempt goes on (``given_shares``).
3. The last answer shows the token masked with an OTP, or encrypted to a PGP key.

Shapes and texts: spec, DR replication; the answers are bare objects without the envelope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.encoding import to_base64
from labkit.service.errors import ATTEMPT_IN_PROGRESS, BadRequest
from labkit.vault.identifiers import base62, uuid_text
from labkit.vault.sealing import given_shares, pgp
from labkit.vault.sealing.otp import encode
from labkit.vault.sealing.seal import parse_share
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

ATTEMPT: dict[str, dict[str, str]] = {
    "none": {"start": "in progress", "cancel": "none"},
    "in progress": {
        "share": "in progress",
        "wrong": "in progress",
        "threshold": "none",
        "cancel": "none",
    },
}

REFUSALS = {
    "start": ("root generation already in progress", ATTEMPT_IN_PROGRESS),
    "share": ("no root generation in progress", ""),
}
"""{event: (text, reason code)} of what an event is refused with in a state that does not have it."""

TOKEN_CHARACTERS = 28  # "hvs." and 24 of base62


class Attempt(NamedTuple):
    """An attempt under way: its nonce, what hides the token in the last answer, and the shares given so far (hex).

    That is the OTP that masks it, or the PGP key, with its fingerprint, that it is encrypted to.
    """

    nonce: str
    otp: str
    shares: tuple[str, ...] = ()
    pgp_key: str = ""
    pgp_fingerprint: str = ""

    def __repr__(self) -> str:
        return f"Attempt(progress={len(self.shares)})"


class TokenKind(NamedTuple):
    """One kind of token that is generated: where its attempt is stored, what issues it, and whether it is a root token.

    ``issue(ctx)`` stores a token and returns its text.
    """

    record: str
    issue: Callable[[Context], str]
    is_root: bool = False


def decode_attempt(stored: bytes) -> Attempt:
    """Read a stored attempt."""
    nonce, otp, shares, *key = decode_record(stored)
    return Attempt(nonce, otp, tuple(shares), *key)


def read_attempt(ctx: Context, kind: TokenKind) -> Attempt | None:
    """Return the attempt under way, or None."""
    return ctx.full_storage.decoded(kind.record, decode_attempt)


def status(ctx: Context, kind: TokenKind) -> dict[str, Any]:
    """Return the attempt's status object."""
    return _describe(ctx, kind, read_attempt(ctx, kind))


def _describe(
    ctx: Context, kind: TokenKind, attempt: Attempt | None, *, otp: str = "", encoded_token: str = ""
) -> dict[str, Any]:
    """Build the status object; only the answer that starts an attempt shows its OTP, if made here (decision C7)."""
    return {
        "nonce": attempt.nonce if attempt else "",
        "started": attempt is not None,
        "progress": len(attempt.shares) if attempt else 0,
        "required": given_shares.seal_config(ctx).threshold,
        "complete": bool(encoded_token),
        "encoded_token": encoded_token,
        "encoded_root_token": encoded_token if kind.is_root else "",
        "pgp_fingerprint": attempt.pgp_fingerprint if attempt else "",
        "otp": otp,
        "otp_length": TOKEN_CHARACTERS,
    }


def start(ctx: Context, kind: TokenKind, otp: str | None, pgp_key: str | None) -> dict[str, Any]:
    """Start an attempt with the caller's OTP or PGP key, else with an OTP made here; an OTP is used before a key."""
    _check_event(read_attempt(ctx, kind), "start")
    if otp and len(otp) != TOKEN_CHARACTERS:
        raise BadRequest(f"OTP string is wrong length: {TOKEN_CHARACTERS} characters are wanted, {len(otp)} came")
    if otp and not otp.isascii():
        raise BadRequest("OTP string holds characters that are not ASCII")
    if pgp_key and not otp:
        attempt = Attempt(uuid_text(ctx.entropy), "", (), pgp_key, pgp.fingerprint(pgp_key))
    else:
        attempt = Attempt(uuid_text(ctx.entropy), otp or base62(ctx.entropy, TOKEN_CHARACTERS))
    ctx.full_storage.put(kind.record, encode_record(list(attempt)))
    return _describe(ctx, kind, attempt, otp="" if otp else attempt.otp)


def _check_event(attempt: Attempt | None, event: str) -> None:
    """Raise BadRequest for an event that the table does not have in the present state."""
    if event not in ATTEMPT["none" if attempt is None else "in progress"]:
        text, code = REFUSALS[event]
        raise BadRequest(text, code=code)


def cancel(ctx: Context, kind: TokenKind) -> None:
    """End the attempt under way, if there is one."""
    if read_attempt(ctx, kind) is not None:
        ctx.full_storage.delete(kind.record)


def update(ctx: Context, kind: TokenKind, key: Any, nonce: str | None) -> dict[str, Any]:
    """Take one key share; at the threshold return the token, masked or encrypted."""
    parse_share(key)  # a malformed share is refused first
    attempt = read_attempt(ctx, kind)
    _check_event(attempt, "share")
    assert attempt is not None
    given_shares.check_nonce(nonce, attempt.nonce, "root generation")
    given = attempt._replace(shares=given_shares.with_share(attempt.shares, key))
    if len(given.shares) < given_shares.seal_config(ctx).threshold:
        ctx.full_storage.put(kind.record, encode_record(list(given)))
        return _describe(ctx, kind, given)
    emptied = encode_record(list(given._replace(shares=())))
    given_shares.prove(ctx, given.shares, "root generation", (kind.record, emptied))
    ctx.full_storage.delete(kind.record)
    token = kind.issue(ctx)
    hidden = to_base64(pgp.encrypt(given.pgp_key, token)) if given.pgp_key else encode(token, given.otp)
    return _describe(ctx, kind, given, encoded_token=hidden)
