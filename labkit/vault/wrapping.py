"""Response wrapping: an answer is stored under a token that reads it once.

The wrapped answer is stored until its token is used or expires; the token is an ordinary service token with the one
policy ``response-wrapping``.  In the JWT form (what a disaster-recovery activation uses, and who sends the header
``X-Vault-Wrap-Format: jwt``) the token's text is the claim ``jti``, beside where it can be unwrapped.  A JWT counts as
a whole (decision D17): one that was altered, or is over, or that another cluster signed, holds no token.  Activations
are signed with the authority's key; the key of all others is made when it is first needed, and replicated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_instant, parse_duration
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault import token_record, tokens
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

POLICY = "response-wrapping"
WRAPPED = "cubbyhole/"
SIGNER = "node/token-signer"
"""Where the public key (PEM) of what signs this cluster's tokens in JWT form is stored."""

KEY = "core/wrapping-key"
"""Where the key pair that signs answers wrapped in JWT form is stored, once one was."""

INVALID = "wrapping token is not valid or does not exist"
CANNOT_WRAP = "a DR secondary cannot wrap an answer, as it stores none of its own; leave X-Vault-Wrap-TTL out"


class WrappedAnswer(NamedTuple):
    """A stored answer: what to return, and where it came from."""

    body: dict[str, Any]
    status: int
    path: str
    ttl_s: int
    created_ns: int

    def __repr__(self) -> str:
        return f"WrappedAnswer({self.path})"


def parse_wrap_ttl(text: str) -> int:
    """Read the header's duration in nanoseconds; raise BadRequest for a negative one or garbage."""
    try:
        ttl = parse_duration(text)
    except ValueError as error:
        raise BadRequest(f"error parsing X-Vault-Wrap-TTL header: {error}") from None
    if ttl < 0:
        raise BadRequest("requested wrap ttl cannot be negative")
    return ttl


def wrap_answer(ctx: Context, body: dict[str, Any], accessor: str = "") -> dict[str, Any]:
    """Wrap an answer's envelope for the TTL in the request's header; return the block that names the token.

    ``accessor`` is that of its contents, where these are not a token.  Raises BadRequest on a secondary, which stores
    nothing but what its primary sends.
    """
    if ctx.mode.mode == "secondary":
        raise BadRequest(CANNOT_WRAP)
    accessor = body["auth"]["accessor"] if body["auth"] else accessor
    text, info = wrap(ctx, body, -(-ctx.wrap_ttl_ns // SECOND_NS))  # rounded up: 0 would mean no expiry
    ctx.warnings = []
    if accessor:
        info["wrapped_accessor"] = accessor
    return {"token": in_asked_form(ctx, text, info), **info}


def in_asked_form(ctx: Context, text: str, info: dict[str, Any]) -> str:
    """Return a wrapping token in the form that the request asks for: as it is, or as a JWT."""
    if ctx.headers.get("x-vault-wrap-format", "").lower() != "jwt":
        return text
    from labkit.keymaking import make_signing_key, sign_es512

    stored = ctx.full_storage.get(KEY)
    if stored is None:
        private, public = make_signing_key(ctx.entropy)
        ctx.full_storage.put(KEY, encode_record([private.hex(), public]))
    else:
        private = bytes.fromhex(decode_record(stored)[0])
    issued_s, ends_ns = ctx.now // SECOND_NS, ctx.now + info["ttl"] * SECOND_NS
    claims = {
        "accessor": info["accessor"],
        "addr": ctx.core.settings.api_address,
        "exp": -(-ends_ns // SECOND_NS),
        "iat": issued_s,
        "jti": text,
        "nbf": issued_s,
        "type": "wrapping",
    }
    return sign_es512(private, claims)


def public_key(ctx: Context) -> str | None:
    """Return the public key (PEM) of what signs answers wrapped in JWT form; None while there is none."""
    stored = ctx.full_storage.get(KEY)
    return None if stored is None else decode_record(stored)[1]


def wrap(
    ctx: Context, body: dict[str, Any], ttl_s: int, path: str = "", status: int = 200
) -> tuple[str, dict[str, Any]]:
    """Store an answer under a fresh wrapping token; return the token and the rest of ``wrap_info``.

    ``path`` is where the answer came from, by default this request's own.
    """
    path = path or ctx.path
    token = token_record.Token("", (POLICY,), path, "", ttl_s=ttl_s, uses=1, orphan=True)
    text, issued = tokens.issue(ctx, token)
    row = [body, status, path, ttl_s, ctx.now]
    ctx.full_storage.put(f"{WRAPPED}{token_record.digest_of(text)}/response", encode_record(row))
    info = {
        "accessor": issued.accessor,
        "ttl": ttl_s,
        "creation_time": format_instant(ctx.now),
        "creation_path": path,
    }
    return text, info


def read_wrapped(ctx: Context, text: str) -> WrappedAnswer:
    """Return what a wrapping token holds without using it up; raise BadRequest for a bad, used or expired one."""
    return _opened(ctx, text)[0]


def wrapped_by(ctx: Context) -> WrappedAnswer | None:
    """Return what the caller's own token holds, if it is a wrapping token."""
    assert ctx.caller is not None
    if ctx.caller.token.policies != (POLICY,):
        return None
    stored = ctx.full_storage.get(f"{WRAPPED}{ctx.caller.digest}/response")
    return None if stored is None else WrappedAnswer(*decode_record(stored))


def unwrap(ctx: Context, text: str) -> WrappedAnswer:
    """Return what a wrapping token holds, and use the token up."""
    wrapped, digest = _opened(ctx, text)
    tokens.revoke(ctx, digest)
    return wrapped


def _opened(ctx: Context, text: str) -> tuple[WrappedAnswer, str]:
    """Return what a wrapping token holds, and the token's digest; raise BadRequest for any other."""
    caller = ctx.caller
    if caller is not None and text == tokens.sent_token(ctx):  # found already, and a JWT proven
        policies, digest = caller.token.policies, caller.digest
    else:
        text = token_of(ctx, text)
        known = tokens.find(ctx, text) if text else None
        if known is None:
            raise BadRequest(INVALID)
        policies, digest = known[0].policies, known[1]
    stored = ctx.full_storage.get(f"{WRAPPED}{digest}/response") if policies == (POLICY,) else None
    if stored is None:
        raise BadRequest(INVALID)
    return WrappedAnswer(*decode_record(stored)), digest


def token_of(ctx: Context, text: str) -> str:
    """Return the token's text itself, also out of the JWT form; an empty text for a JWT that does not count."""
    if text.count(".") != 2 or text.startswith(("hvs.", "hvb.")):
        return text
    from labkit.keymaking import verify_es512

    signer, own = ctx.full_storage.get(SIGNER), public_key(ctx)
    for public in (None if signer is None else signer.decode(), own):
        if public is None:
            continue
        try:
            claims = verify_es512(public, text, ctx.now)
        except ValueError:
            continue
        token = claims.get("jti")
        return token if claims.get("type") == "wrapping" and isinstance(token, str) else ""
    return ""
