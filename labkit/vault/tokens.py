"""Tokens: how they are sent, issued, found, used, revoked, and which have expired.

1. A token is stored under the SHA-256 of its text, never as text, in one record (``token_index``).
2. A token is invalid from ``expires_ns`` on; ``scheduled_work`` then deletes it and all of its descendants (R5).
3. Every request whose token was looked up takes one use off a token that counts them, once and at its start, whatever
   becomes of it (C15).  After the last use the token is revoked at the end of the last request that took one (R4).
4. Batch tokens are not stored: the record itself, encrypted under the keyring, is the token.
5. A token belongs to the namespace of the request that made it, whose id ends its text and accessor.  It is used in
   that namespace and below it; only from that namespace and above it can it be named by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, Forbidden
from labkit.vault.context import own_work
from labkit.vault.identifiers import base62
from labkit.vault.mounts import QUOTAS, ROOT, Namespace, namespace_at
from labkit.vault.storage.barrier import NONCE_BYTES, BarrierError
from labkit.vault.token_record import (
    IDS,
    OLD_ACCESSORS,
    OLD_CHILDREN,
    Token,
    decode_token,
    digest_of,
    encode_token,
)

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core
    from labkit.vault.storage.storage_view import StorageView
    from labkit.vault.token_index import TokenIndex
    from labkit.vault.token_record import Caller

SYSTEM_TTL_S = 2_764_800
DIGITS = 24
"""How many digits a token's text has, and its accessor."""

UNCLEAN = "\0"
"""What stands for a token that is not text: no token has this text (decision C13)."""

DENIED = "1 error occurred:\n\t* permission denied\n\n"
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
    if not is_within(address, token.bound_cidrs):
        raise Forbidden("permission denied")


def is_within(address: str, blocks: tuple[str, ...]) -> bool:
    """Whether an address is in one of the blocks; a text that is not an address is in no block."""
    from ipaddress import ip_address, ip_network

    try:
        client_address = ip_address(address)
    except ValueError:
        return False
    return any(client_address in ip_network(block, strict=False) for block in blocks)


def find(ctx: Context, text: str) -> tuple[Token, str] | None:
    """Return the record and hash of a token that is valid now, or None."""
    if text.startswith("hvb."):
        return _open_batch(ctx, text)
    digest = digest_of(text)
    token = ctx.full_storage.decoded(IDS + digest, decode_token)
    if token is None or (token.expires_ns and ctx.is_past(token.expires_ns)):
        return None
    return token, digest


def namespace_of(ctx: Context, token: Token) -> Namespace | None:
    """Return the namespace that a token belongs to; None when that does not exist any more."""
    if not token.namespace:
        return ROOT
    found = namespace_at(ctx, token.namespace)
    return found if found is not None and found.id == token.namespace_id else None


def prefix_of(ctx: Context, token: Token) -> str | None:
    """Return what a token's policies put in front of the request's path; None where the token cannot be used."""
    path = ctx.namespace.path
    return path[len(token.namespace) :] if path.startswith(token.namespace) else None


def reach(ctx: Context, caller: Caller, *, anywhere: bool = False) -> None:
    """Put the request's path below what the caller's policies name; raise Forbidden in a namespace not below its own.

    ``anywhere`` is for what a wrapping token is made for: that is the same in every namespace.
    """
    if anywhere and caller.token.policies == ("response-wrapping",):
        return
    prefix = prefix_of(ctx, caller.token)
    if prefix is None:
        raise Forbidden(DENIED)
    ctx.policy_prefix = prefix


def find_named(ctx: Context, text: str) -> tuple[Token, str] | None:
    """Return the record and hash of a valid token that another one names, of this namespace or below it, or None."""
    return _named(ctx, find(ctx, text))


def _named(ctx: Context, found: tuple[Token, str] | None) -> tuple[Token, str] | None:
    if found is None or not found[0].namespace.startswith(ctx.namespace.path):
        return None
    return found


def still_valid(core: Core, token: Token, digest: str) -> bool:
    """Whether a caller's token is valid at this instant, by the node's own store: for a request that goes on (R4)."""
    if token.kind == "batch":
        orphaned = bool(token.parent) and core.storage.get(IDS + token.parent) is None
        known = namespace_of(own_work(core), token) is not None
        return not core.is_past(token.expires_ns) and not orphaned and known
    stored = core.storage.get(IDS + digest)
    if stored is None:
        return False
    expires_ns = decode_token(core.keys.decrypt(IDS + digest, stored)).expires_ns
    return not (expires_ns and core.is_past(expires_ns))


def _index_of(ctx: Context) -> TokenIndex:
    """Return the index of the tokens, by what is not their text; it is loaded where that is asked for (R24)."""
    from labkit.vault.token_index import index_of

    return index_of(ctx)


def find_accessor(ctx: Context, accessor: str) -> tuple[Token, str] | None:
    """Return the record and hash of a valid token of this namespace or below it, by its accessor, or None."""
    digest = _index_of(ctx).by_accessor(accessor)
    if digest is None:
        return None
    token = ctx.full_storage.decoded(IDS + digest, decode_token)
    if token is None or (token.expires_ns and ctx.is_past(token.expires_ns)):
        return None
    return _named(ctx, (token, digest))


def accessors(ctx: Context) -> list[str]:
    """Return the accessors of the namespace's stored tokens, sorted."""
    namespace_id = "" if ctx.namespace is ROOT else ctx.namespace.id
    return [accessor for accessor, _ in _index_of(ctx).of_namespace(namespace_id)]


def digests_of(ctx: Context, namespace: Namespace) -> list[str]:
    """Return the hashes under which a namespace's tokens are stored."""
    return [digest for _, digest in _index_of(ctx).of_namespace(namespace.id)]


def issue(ctx: Context, token: Token, text: str = "") -> tuple[str, Token]:
    """Store a new token of the request's namespace; return its text and record (accessor and times filled in)."""
    if ctx.source.read(QUOTAS) is not None:
        from labkit.vault.quotas import lease_counts

        lease_counts.check(ctx, token)
    namespace, ending = ctx.namespace, ""
    if namespace is not ROOT:
        ending = f".{namespace.id}"
        token = token._replace(namespace=namespace.path, namespace_id=namespace.id)
    if token.kind == "batch":
        text, token = _seal_batch(ctx, token)
        return text + ending, token
    drawn = base62(ctx.source.entropy, 2 * DIGITS)
    text = text or f"hvs.{drawn[:DIGITS]}{ending}"
    expires_ns = ctx.now + token.ttl_s * SECOND_NS if token.ttl_s else 0
    token = token.issued(drawn[DIGITS:] + ending, ctx.now, expires_ns)
    save(ctx, digest_of(text), token)
    return text, token


def save(ctx: Context, digest: str, token: Token) -> None:
    """Store a new or changed record of a token."""
    ctx.put(IDS + digest, encode_token(token), token.expires_ns, token.label)


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
    stored = ctx.keys.encrypt_labelled(ctx.entropy(NONCE_BYTES), key, encode_token(used), used.label)
    ctx.write_even_if_refused(key, stored)
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


def revoke(ctx: Context, *digests: str, descendants: bool = True) -> None:
    """Delete tokens, and their descendants unless these are to be orphans.

    All keys are collected before the first delete: reads through a step's own writes get slower as these grow.
    """
    storage, index = ctx.full_storage, _index_of(ctx)
    family, known = [*digests], {*digests}
    orphans: list[str] = []
    to_delete: list[str] = []
    for member in family:
        children = index.children_of(member)
        (family if descendants else orphans).extend([child for child in children if child not in known])
        known.update(children)
        try:
            token = _stored(storage, member)
        except BarrierError:  # a record that does not open must not keep its family alive
            token = None
            to_delete += [IDS + member, *storage.keys(f"cubbyhole/{member}/")]
        if token is not None:
            to_delete += [IDS + member, *_old_entries(ctx, member, token), *storage.keys(f"cubbyhole/{member}/")]
            ctx.observe("token revoked", accessor=token.accessor)
    for key in to_delete:
        storage.delete(key)
    for child in orphans:
        orphan = _stored(storage, child)
        if orphan is not None:
            for key in _old_entries(ctx, child, orphan):
                storage.delete(key)
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
    """Delete what earlier versions kept beside the records of tokens; return how many entries that were."""
    return sum(map(ctx.full_storage.delete_all, (OLD_ACCESSORS, OLD_CHILDREN)))


def _old_entries(ctx: Context, digest: str, token: Token) -> list[str]:
    """Return the keys under which an earlier version kept something beside a token's record."""
    keys = (OLD_ACCESSORS + token.accessor, f"{OLD_CHILDREN}{token.parent}/{digest}")
    return [key for key in keys if ctx.read(key) is not None]


def auth_block(text: str, token: Token, seconds: int) -> dict[str, Any]:
    """Build the envelope's ``auth`` block of a token that was created, renewed or logged in with."""
    policies, meta = token.policies, token.meta
    block = {
        "client_token": text,
        "accessor": token.accessor,
        "policies": [*policies],
        "token_policies": [*policies],
        "metadata": None if meta is None else dict(meta),
        "lease_duration": seconds,
        "renewable": token.renewable,
        "entity_id": token.entity_id,
        "token_type": token.kind,
        "orphan": token.orphan,
        "mfa_requirement": None,
        "num_uses": token.uses,
    }
    if not policies:
        del block["token_policies"]
    return block


def remaining_s(token: Token, now_ns: int) -> int:
    """Return a token's remaining TTL in whole seconds, rounded up; 0 for one that never expires."""
    return -(-(token.expires_ns - now_ns) // SECOND_NS) if token.expires_ns else 0


def _seal_batch(ctx: Context, token: Token) -> tuple[str, Token]:
    from labkit.service.encoding import to_base64url  # of batch tokens only (R24)

    token = token._replace(
        accessor="", created_ns=ctx.now, expires_ns=ctx.now + token.ttl_s * SECOND_NS, renewable=False
    )
    sealed = ctx.keys.encrypt("token/batch", encode_token(token), ctx.entropy)
    return "hvb." + to_base64url(sealed), token


def _open_batch(ctx: Context, text: str) -> tuple[Token, str] | None:
    from labkit.service.encoding import from_base64url, to_base64url

    sent, _, ending = text[4:].partition(".")
    try:
        sealed = from_base64url(sent)
        token = decode_token(ctx.decrypt("token/batch", sealed))
    except (ValueError, BarrierError):
        return None
    if (
        to_base64url(sealed) != sent or ending != token.namespace_id
    ):  # one token has one text: another spelling of its bytes is another text
        return None
    if ctx.is_past(token.expires_ns):
        return None
    if token.parent and ctx.full_storage.get(IDS + token.parent) is None:
        return None
    return None if namespace_of(ctx, token) is None else (token, digest_of(text))


def refuse_batch(token: Token, action: str) -> None:
    """Raise BadRequest for what cannot be done with a batch token."""
    if token.kind == "batch":
        raise BadRequest(f"batch tokens cannot be {action}")
