"""Tokens: how they are sent, issued, found, used, revoked, and which have expired.

1. A token is stored under the SHA-256 of its text, never as text.
2. A token is invalid from ``expires_ns`` on; ``scheduled_work`` then deletes it and all of its descendants (R5).
3. Every request whose token was looked up takes one use off a token that counts them, once and at its start, whatever
   becomes of it (C15).  After the last use the token is revoked at the end of the last request that took one (R4).
4. Batch tokens are not stored: the record itself, encrypted under the keyring, is the token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import from_base64url, to_base64url
from labkit.service.errors import BadRequest, Forbidden
from labkit.vault.identifiers import base62
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import ACCESSORS, CHILDREN, IDS, Token, decode_token, digest_of, encode_token

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core
    from labkit.vault.storage.storage_view import StorageView

SYSTEM_TTL_S = 2_764_800

UNCLEAN = "\0"
"""What stands for a token that is not text: no token has this text (decision C13)."""

INVALID_TOKEN = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"


def sent_token(ctx: Context) -> str:
    """Return the token that came with the request, or an empty text (decision C2)."""
    text = ctx.headers.get("x-vault-token")
    if text:
        return text
    scheme, _, bearer = ctx.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else ""


def check_address(token: Token, address: str) -> None:
    """Raise Forbidden when a request does not come from an address that the token is bound to."""
    from ipaddress import ip_address, ip_network

    try:
        client_address = ip_address(address)
    except ValueError:
        raise Forbidden("permission denied") from None
    if not any(client_address in ip_network(block, strict=False) for block in token.bound_cidrs):
        raise Forbidden("permission denied")


def find(ctx: Context, text: str) -> tuple[Token, str] | None:
    """Return the record and hash of a token that is valid now, or None."""
    if text.startswith("hvb."):
        return _open_batch(ctx, text)
    digest = digest_of(text)
    token = ctx.full_storage.decoded(IDS + digest, decode_token)
    if token is None or (token.expires_ns and ctx.now >= token.expires_ns):
        return None
    return token, digest


def still_valid(core: Core, token: Token, digest: str) -> bool:
    """Whether a caller's token is valid at this instant, by the node's own store: for a request that goes on (R4)."""
    if token.kind == "batch":
        orphaned = bool(token.parent) and core.storage.get(IDS + token.parent) is None
        return core.now() < token.expires_ns and not orphaned
    stored = core.storage.get(IDS + digest)
    if stored is None:
        return False
    expires_ns = decode_token(core.keys.decrypt(IDS + digest, stored)).expires_ns
    return not expires_ns or core.now() < expires_ns


def find_accessor(ctx: Context, accessor: str) -> tuple[Token, str] | None:
    """Return the record and hash of a valid token by its accessor, or None."""
    stored = ctx.full_storage.get(ACCESSORS + accessor) if accessor else None
    if stored is None:
        return None
    digest = stored.decode()
    token = ctx.full_storage.decoded(IDS + digest, decode_token)
    if token is None or (token.expires_ns and ctx.now >= token.expires_ns):
        return None
    return token, digest


def issue(ctx: Context, token: Token, text: str = "") -> tuple[str, Token]:
    """Store a new token; return its text and record (accessor and times filled in)."""
    if token.kind == "batch":
        return _seal_batch(ctx, token)
    text = text or "hvs." + base62(ctx.entropy, 24)
    token = token._replace(
        accessor=base62(ctx.entropy, 24),
        created_ns=ctx.now,
        expires_ns=ctx.now + token.ttl_s * SECOND_NS if token.ttl_s else 0,
    )
    storage, digest = ctx.full_storage, digest_of(text)
    storage.put(IDS + digest, encode_token(token), due_ns=token.expires_ns)
    storage.put(ACCESSORS + token.accessor, digest.encode())
    if token.parent:
        storage.put(f"{CHILDREN}{token.parent}/{digest}", b"")
    return text, token


def save(ctx: Context, digest: str, token: Token) -> None:
    """Store a changed record of a token."""
    ctx.full_storage.put(IDS + digest, encode_token(token), due_ns=token.expires_ns)


def admit(ctx: Context, token: Token, digest: str) -> None:
    """Take one use off the caller's token, then judge where it was sent from: a wrong address costs a use too (C15).

    A secondary takes none: what it stores of a token is its primary's.
    """
    if token.uses > 0 and ctx.mode.mode != "secondary":
        use(ctx, token, digest)
    if token.bound_cidrs:
        check_address(token, ctx.request.remote_address)


def use(ctx: Context, token: Token, digest: str) -> None:
    """Take one use off a token that counts them; it is stored even when the request is refused (rule 3)."""
    used = token._replace(uses=token.uses - 1 if token.uses > 1 else -1)
    key = IDS + digest
    ctx.write_even_if_refused(key, ctx.keys.encrypt(key, encode_token(used), ctx.entropy))
    ctx.use_spent = True


def end_last_use(ctx: Context) -> None:
    """Revoke the caller's token when no use is left and no other request waits whose use was taken (rule 3)."""
    if not ctx.use_spent or ctx.caller is None or ctx.keys.sealed:
        return
    digest = ctx.caller.digest
    if digest in ctx.core.waiting.values():
        return
    try:
        token = _stored(ctx.full_storage, digest)
    except BarrierError:  # altered while the request waited: nothing can be said of its uses
        return
    if token is not None and token.uses < 0:
        revoke(ctx, digest)


def revoke(ctx: Context, digest: str, *, descendants: bool = True) -> None:
    """Delete a token, and its descendants unless they are to be orphans.

    All keys are collected before the first delete: reads through a step's own writes get slower as these grow.
    """
    storage = ctx.full_storage
    family = [digest]
    orphans: list[str] = []
    to_delete: list[str] = []
    for member in family:
        children = storage.list(f"{CHILDREN}{member}/")
        to_delete += [f"{CHILDREN}{member}/{child}" for child in children]
        (family if descendants else orphans).extend(children)
        try:
            token = _stored(storage, member)
        except BarrierError:  # a record that does not open must not keep its family alive; tidy finds the accessor
            token = None
            to_delete += [IDS + member, *storage.keys(f"cubbyhole/{member}/")]
        if token is not None:
            to_delete += [IDS + member, ACCESSORS + token.accessor, *storage.keys(f"cubbyhole/{member}/")]
            if token.parent:
                to_delete.append(f"{CHILDREN}{token.parent}/{member}")
            ctx.observe("token revoked", accessor=token.accessor)
    for key in to_delete:
        storage.delete(key)
    for child in orphans:
        orphan = _stored(storage, child)
        if orphan is not None:
            save(ctx, child, orphan._replace(parent="", orphan=True))


def due_ns(ctx: Context, storage: StorageView, digest: str) -> int:
    """Return when a stored token is to be deleted, in nanoseconds since the epoch; 0 for never.

    One without a use left is due at once, unless a request waits that took one: its own end deletes it.
    """
    token = _stored(storage, digest)
    if token is None:
        return 0
    if token.uses < 0 and digest not in ctx.core.waiting.values():
        return ctx.now
    return token.expires_ns


def carry_out(ctx: Context, storage: StorageView, digest: str) -> None:
    """Delete a token that is due."""
    revoke(ctx, digest)


def _stored(storage: StorageView, digest: str) -> Token | None:
    return storage.decoded(IDS + digest, decode_token)


def tidy(ctx: Context) -> int:
    """Delete accessor and child entries whose token does not exist; return how many that were."""
    storage = ctx.full_storage
    deleted = 0
    for accessor in storage.list(ACCESSORS):
        try:
            digest = storage.get(ACCESSORS + accessor)
        except BarrierError:  # whose it was cannot be read: it stays
            continue
        if digest is not None and ctx.read(IDS + digest.decode()) is None:
            storage.delete(ACCESSORS + accessor)
            deleted += 1
    for folder in storage.list(CHILDREN):
        for child in storage.list(CHILDREN + folder):
            if ctx.read(IDS + child) is None:
                storage.delete(CHILDREN + folder + child)
                deleted += 1
    return deleted


def auth_block(text: str, token: Token, seconds: int) -> dict[str, Any]:
    """Build the envelope's ``auth`` block of a token that was created, renewed or logged in with."""
    return {
        "client_token": text,
        "accessor": token.accessor,
        "policies": list(token.policies),
        "token_policies": list(token.policies),
        "metadata": None if token.meta is None else dict(token.meta),
        "lease_duration": seconds,
        "renewable": token.renewable,
        "entity_id": "",
        "token_type": token.kind,
        "orphan": token.orphan,
        "mfa_requirement": None,
        "num_uses": token.uses,
    }


def remaining_s(token: Token, now_ns: int) -> int:
    """Return a token's remaining TTL in whole seconds, rounded up; 0 for one that never expires."""
    return -(-(token.expires_ns - now_ns) // SECOND_NS) if token.expires_ns else 0


def _seal_batch(ctx: Context, token: Token) -> tuple[str, Token]:
    token = token._replace(
        accessor="", created_ns=ctx.now, expires_ns=ctx.now + token.ttl_s * SECOND_NS, renewable=False
    )
    sealed = ctx.keys.encrypt("token/batch", encode_token(token), ctx.entropy)
    return "hvb." + to_base64url(sealed), token


def _open_batch(ctx: Context, text: str) -> tuple[Token, str] | None:
    try:
        sealed = from_base64url(text[4:])
        token = decode_token(ctx.decrypt("token/batch", sealed))
    except (ValueError, BarrierError):
        return None
    if to_base64url(sealed) != text[4:]:  # one token has one text: another spelling of its bytes is another text
        return None
    if ctx.now >= token.expires_ns:
        return None
    if token.parent and ctx.full_storage.get(IDS + token.parent) is None:
        return None
    return token, digest_of(text)


def refuse_batch(token: Token, action: str) -> None:
    """Raise BadRequest for what cannot be done with a batch token."""
    if token.kind == "batch":
        raise BadRequest(f"batch tokens cannot be {action}")
