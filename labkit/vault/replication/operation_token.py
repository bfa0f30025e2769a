"""The operation token of a disaster-recovery secondary: generated from key shares, one attempt at a time.

1. ``ATTEMPT`` is the whole table of states, and ``_check_event`` runs on it.  An attempt is stored, so it survives a
   change of the active node.
2. When the shares at the threshold give the root key, the token is issued and the attempt ends; when they do not, the
   progress goes back to 0 and the attempt goes on: the only effect of a refused share (R4).
3. The token is stored as a digest only; a new one replaces the old.  It never expires: delete it after use.
4. A batch token whose policies allow update on the path is accepted too; it is made on the primary before the disaster.

Shapes and texts: spec, DR replication; the answers are bare objects without the envelope.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.encoding import to_base64
from labkit.service.errors import ATTEMPT_IN_PROGRESS, BadRequest, Forbidden
from labkit.vault import pgp, token_record, tokens
from labkit.vault.identifiers import base62, uuid_text
from labkit.vault.policies import UPDATE
from labkit.vault.policies.store import acl_for
from labkit.vault.replication.otp import encode
from labkit.vault.seal import check_root_key, combine_shares, parse_share, read_config
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

RECORD = "node/attempt"
TOKEN = "node/operation-token"
TOKEN_CHARACTERS = 28  # "hvs." and 24 of base62

INVALID = "dr operation token is missing or invalid"


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


def decode_attempt(stored: bytes) -> Attempt:
    """Read a stored attempt."""
    nonce, otp, shares, *key = decode_record(stored)
    return Attempt(nonce, otp, tuple(shares), *key)


def read_attempt(ctx: Context) -> Attempt | None:
    """Return the attempt under way, or None."""
    return ctx.full_storage.decoded(RECORD, decode_attempt)


def describe(ctx: Context, attempt: Attempt | None, *, otp: str = "", encoded_token: str = "") -> dict[str, Any]:
    """Build the status object; only the answer that starts an attempt shows its OTP, if made here (decision C7)."""
    config = read_config(ctx.core)
    assert config is not None, "an unsealed node has a seal configuration"
    complete = bool(encoded_token)
    return {
        "nonce": attempt.nonce if attempt else "",
        "started": attempt is not None,
        "progress": len(attempt.shares) if attempt else 0,
        "required": config.threshold,
        "complete": complete,
        "encoded_token": encoded_token,
        "encoded_root_token": "",
        "pgp_fingerprint": attempt.pgp_fingerprint if attempt else "",
        "otp": otp,
        "otp_length": TOKEN_CHARACTERS,
    }


def start(ctx: Context, otp: str | None, pgp_key: str | None) -> dict[str, Any]:
    """Start an attempt with the caller's OTP or PGP key, else with an OTP made here; an OTP is used before a key."""
    _check_event(read_attempt(ctx), "start")
    if otp and len(otp) != TOKEN_CHARACTERS:
        raise BadRequest(f"OTP string is wrong length: {TOKEN_CHARACTERS} characters are wanted, {len(otp)} came")
    if otp and not otp.isascii():
        raise BadRequest("OTP string holds characters that are not ASCII")
    if pgp_key and not otp:
        attempt = Attempt(uuid_text(ctx.entropy), "", (), pgp_key, pgp.fingerprint(pgp_key))
    else:
        attempt = Attempt(uuid_text(ctx.entropy), otp or base62(ctx.entropy, TOKEN_CHARACTERS))
    ctx.full_storage.put(RECORD, encode_record(list(attempt)))
    return describe(ctx, attempt, otp="" if otp else attempt.otp)


def _check_event(attempt: Attempt | None, event: str) -> None:
    """Raise BadRequest for an event that the table does not have in the present state."""
    if event not in ATTEMPT["none" if attempt is None else "in progress"]:
        text, code = REFUSALS[event]
        raise BadRequest(text, code=code)


def cancel(ctx: Context) -> None:
    """End the attempt under way, if there is one."""
    if read_attempt(ctx) is not None:
        ctx.full_storage.delete(RECORD)


def update(ctx: Context, key: Any, nonce: str | None) -> dict[str, Any]:
    """Take one key share; at the threshold return the token, masked or encrypted."""
    share = parse_share(key)
    attempt = read_attempt(ctx)
    config = read_config(ctx.core)
    _check_event(attempt, "share")
    assert attempt is not None
    assert config is not None
    if nonce != attempt.nonce:
        raise BadRequest(f'incorrect nonce supplied; nonce for this root generation operation is "{attempt.nonce}"')
    if share.hex() in attempt.shares:
        raise BadRequest("given key has already been provided during this generation operation")
    given = attempt._replace(shares=(*attempt.shares, share.hex()))
    if len(given.shares) < config.threshold:
        ctx.full_storage.put(RECORD, encode_record(list(given)))
        return describe(ctx, given)
    _prove(ctx, given)
    ctx.full_storage.delete(RECORD)
    token = "hvs." + base62(ctx.entropy, 24)
    ctx.full_storage.put(TOKEN, token_record.digest_of(token).encode())
    ctx.observe("operation token issued")
    hidden = to_base64(pgp.encrypt(given.pgp_key, token)) if given.pgp_key else encode(token, given.otp)
    return describe(ctx, given, encoded_token=hidden)


def _prove(ctx: Context, given: Attempt) -> None:
    """Check that the shares combine to the root key; if not, the progress goes back to 0 (rule 2)."""
    prefix = "root generation aborted: unable to authenticate: "
    try:
        root_key = combine_shares(tuple(map(bytes.fromhex, given.shares)), lambda why: f"{prefix}{why}")
        check_root_key(ctx.core, root_key, f"{prefix}invalid key: ")
    except BadRequest:
        emptied = encode_record(list(given._replace(shares=())))
        ctx.write_even_if_refused(RECORD, ctx.keys.encrypt(RECORD, emptied, ctx.entropy))
        raise


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
