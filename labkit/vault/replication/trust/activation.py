"""Activation: how a primary admits a secondary (decisions D4, D5, D17); how it connects then: ``admission``.

1. A primary has an authority of its own, made when it becomes primary; its keys never leave the cluster.
2. An activation token stands for a bundle: who may connect (a certificate for one id), until when it must be used, at
   which addresses (those of every node), and the authority's certificate.  It is sent as a wrapping token in JWT form,
   or encrypted to a public key of the secondary.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import from_base64, to_base64
from labkit.service.errors import BadRequest
from labkit.service.message import Response
from labkit.vault import token_record, tokens, wrapping
from labkit.vault.identifiers import uuid_text
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.shapes import MAX_ADDRESSES
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.keymaking import Identity
    from labkit.vault.context import Context
    from labkit.vault.core import Core, Settings

AUTHORITY = "node/authority"
SECONDARIES = "node/secondaries/"
SECONDARY_ADDRESSES = "node/secondary-addresses/"
CREDENTIALS = "node/credentials"
EXCHANGE_KEY = "node/exchange-key"

KEY_BYTES = 32
MAX_CACHED_KEYS = 4_096
LIFETIME_S = 10 * 365 * 86_400
DEFAULT_TTL_S = 1_800
REIGNS = "node/reigns"

Reigns = tuple[tuple[str, int], ...]
"""Earlier reigns, oldest first: the name of each, and up to which entry this cluster's contents hold it."""


class Authority(NamedTuple):
    """A primary's trust anchor: the key that signs client certificates, and the one that signs activation tokens."""

    private: bytes
    certificate: str
    token_private: bytes
    token_public: str

    def __repr__(self) -> str:
        return "Authority(keys not shown)"


class Bundle(NamedTuple):
    """What an activation token stands for."""

    cluster_id: str
    secondary_id: str
    authority: str
    certificate: str
    private: str
    expires_ns: int
    api_address: str
    cluster_addresses: tuple[str, ...]
    reigns: Reigns = ()

    def __repr__(self) -> str:
        return f"Bundle({self.secondary_id})"

    def row(self) -> list[Any]:
        """Return it as it is stored and sent, without the reigns where there are none."""
        *parts, reigns = self
        return [*parts, [list(reign) for reign in reigns]] if reigns else parts


class IssuedId(NamedTuple):
    """What a primary keeps of an id: the certificate that it issued, and until when its activation must be used.

    ``wrapped_as`` is the digest of the wrapping token that stands for it; empty where it was encrypted to a public key.
    """

    secondary_id: str
    certificate: str
    issued_ns: int
    expires_ns: int
    wrapped_as: str


class SecondaryHeartbeat(NamedTuple):
    """What a primary knows of a secondary from its heartbeats."""

    node_id: str
    address: str
    wall_ns: int
    duration_ms: int
    skew_ms: int
    canary_ms: int
    position: int = 0  # the entry up to which it has applied what it was sent
    steady_ns: int = 0  # when it came, by the clock that nobody sets


# ---- the primary's side


def make_authority(ctx: Context) -> None:
    """Make a fresh authority: earlier activations, and the tokens that stand for them, become invalid."""
    from labkit.keymaking import make_authority as make
    from labkit.keymaking import make_signing_key

    try:
        identity = make(f"labkit DR {uuid_text(ctx.entropy)}", ctx.entropy, ctx.now, LIFETIME_S)
    except ValueError as error:  # by this node's clock
        raise BadRequest(f"no authority can be made now: {error}") from None
    token_private, token_public = make_signing_key(ctx.entropy)
    row = [identity.private.hex(), identity.certificate, token_private.hex(), token_public]
    ctx.full_storage.put(AUTHORITY, encode_record(row))
    ctx.full_storage.put(wrapping.SIGNER, token_public.encode())


def drop_authority(ctx: Context) -> None:
    """Delete the authority of a cluster that is a primary no more."""
    ctx.full_storage.delete(AUTHORITY)
    ctx.full_storage.delete(wrapping.SIGNER)


def issue(ctx: Context, mode: Mode, secondary_id: str, ttl_s: int, public_key: str) -> dict[str, Any]:
    """Issue an activation for a secondary's id; return ``wrap_info``, or ``data`` where a public key was given."""
    from labkit.keymaking import sign_es512

    storage = ctx.full_storage
    if storage.get(SECONDARIES + _as_key(secondary_id)) is not None:
        raise BadRequest(
            f"a secondary with id {secondary_id} is known already; ids are unique: revoke it, or choose another id"
        )
    authority = _authority(ctx)
    holder = _certified(ctx, authority, secondary_id)
    settings = ctx.core.settings
    bundle = Bundle(
        mode.cluster_id,
        secondary_id,
        authority.certificate,
        holder.certificate,
        holder.private.hex(),
        ctx.now + ttl_s * SECOND_NS,
        settings.api_address,
        _cluster_addresses(mode, settings),
        earlier_reigns(ctx),
    )
    kept = IssuedId(secondary_id, holder.certificate, ctx.now, bundle.expires_ns, "")
    if public_key:
        storage.put(SECONDARIES + _as_key(secondary_id), encode_record(list(kept)))
        return {"data": {"token": _seal(ctx, bundle, public_key)}}
    body = {"data": {"bundle": bundle.row()}, "auth": None, "warnings": None}
    text, info = wrapping.wrap(ctx, body, ttl_s)
    kept = kept._replace(wrapped_as=token_record.digest_of(text))
    storage.put(SECONDARIES + _as_key(secondary_id), encode_record(list(kept)))
    claims = {"accessor": info["accessor"], "jti": text, **_where_and_when(ctx, ttl_s)}
    return {"wrap_info": {"token": sign_es512(authority.token_private, claims), **info}}


def _where_and_when(ctx: Context, ttl_s: int) -> dict[str, Any]:
    """Return the claims of a token that say at which nodes, and from when until when, it can be unwrapped."""
    settings, issued_s = ctx.core.settings, ctx.now // SECOND_NS
    return {
        "addr": settings.api_address,
        "addrs": [settings.api_address, *settings.peer_api_addresses],
        "exp": issued_s + ttl_s,
        "iat": issued_s,
        "nbf": issued_s,
        "type": "wrapping",
    }


def _cluster_addresses(mode: Mode, settings: Settings) -> tuple[str, ...]:
    """Return where the nodes of this primary answer secondaries; the address that was configured for them first."""
    own = (mode.primary_cluster_addr, settings.cluster_address, *settings.peer_cluster_addresses)
    return tuple(dict.fromkeys(address for address in own if address))[:MAX_ADDRESSES]


def _certified(ctx: Context, authority: Authority, secondary_id: str) -> Identity:
    """Make the key and certificate of an id; raise BadRequest where this node's clock allows none."""
    from labkit.keymaking import Identity, issue_client_certificate

    issuer = Identity(authority.private, authority.certificate)
    try:
        return issue_client_certificate(issuer, secondary_id, ctx.entropy, ctx.now, LIFETIME_S)
    except ValueError as error:
        raise BadRequest(f"no certificate can be issued to this id: {error}") from None


def revoke(ctx: Context, secondary_id: str) -> None:
    """Revoke an id's activation, with the token that stands for it; its connection is closed at once."""
    key = SECONDARIES + _as_key(secondary_id)
    stored = ctx.full_storage.get(key)
    if stored is None:
        raise BadRequest(f"no secondary with id {secondary_id} is known")
    token = _issued_id(stored).wrapped_as
    if token:
        tokens.revoke(ctx, token)
    ctx.full_storage.delete(key)
    ctx.full_storage.delete(addresses_key(secondary_id))


def secondary_ids(ctx: Context) -> list[str]:
    """Return the ids of all activations that were not revoked, used or not, sorted."""
    storage = ctx.full_storage
    rows = [storage.decoded(SECONDARIES + name, _issued_id) for name in storage.list(SECONDARIES)]
    return sorted([row.secondary_id for row in rows if row is not None])


def _issued_id(stored: bytes) -> IssuedId:
    return IssuedId(*decode_record(stored))


def unknown_ids(core: Core, secondary_ids: Iterable[str]) -> list[str]:
    """Return those of some ids that have no activation, or a revoked one, sorted."""
    stored = core.storage.get
    return [secondary_id for secondary_id in sorted(secondary_ids) if stored(known_key(secondary_id)) is None]


@lru_cache(MAX_CACHED_KEYS)
def known_key(secondary_id: str) -> str:
    """Return the storage key of what a primary keeps of an id; asked for each that is connected, at many writes."""
    return SECONDARIES + _as_key(secondary_id)


def issued(core: Core, secondary_id: str) -> IssuedId | None:
    """Return what was issued for an id that was not revoked; raise BarrierError where that does not open."""
    key = SECONDARIES + _as_key(secondary_id)
    stored = core.storage.get(key)
    return None if stored is None else _issued_id(core.keys.decrypt(key, stored))


def note_heartbeat(core: Core, secondary_id: str, message: dict[str, Any], address: str) -> None:
    """Remember what a secondary's heartbeat reported, for the status."""
    core.replica.secondaries[secondary_id] = SecondaryHeartbeat(
        secondary_id,
        address,
        core.now(),
        message["last_heartbeat_duration_ms"],
        message["clock_skew_ms"],
        message["replication_primary_canary_age_ms"],
        message["position"],
        core.steady(),
    )


# ---- the secondary's side


def make_exchange_key(ctx: Context) -> str:
    """Make the key pair that a bundle can be encrypted to; return the public half in base64."""
    from labkit.sealed_box import make_exchange_key as make

    private, public = make(ctx.entropy)
    ctx.full_storage.put(EXCHANGE_KEY, private)
    return to_base64(public)


def open_sealed_bundle(ctx: Context, token: str) -> Bundle | None:
    """Decrypt a bundle that was encrypted to this cluster's public key; None for any other token."""
    from labkit.sealed_box import open_sealed

    private = ctx.full_storage.get(EXCHANGE_KEY)
    if private is None:
        return None
    try:
        return _bundle(decode_record(open_sealed(private, from_base64(token))))
    except ValueError:
        return None


def read_bundle(answer: Response) -> Bundle:
    """Return the bundle of an unwrapped activation token; raise BadRequest for anything else."""
    data = answer.data
    try:
        return _bundle(data.get("bundle") if isinstance(data, dict) else None)
    except ValueError:
        raise BadRequest("the token was unwrapped, but it is not a secondary activation token") from None


def _bundle(row: Any) -> Bundle:
    """Return the bundle of a row, its key 32 bytes in hex, with at least one address; ValueError for anything else."""
    kinds = [str, str, str, str, str, int, str, list]
    if not isinstance(row, list) or [type(item) for item in row] not in (kinds, [*kinds, list]):
        raise ValueError(f"a bundle has {len(kinds)} parts, and perhaps reigns")
    bundle = Bundle._make([*row[:7], tuple(row[7]), _reigns(row[8] if len(row) > len(kinds) else [])])
    addresses = bundle.cluster_addresses
    if not 1 <= len(addresses) <= MAX_ADDRESSES or not all(isinstance(item, str) for item in addresses):
        raise ValueError(f"a bundle names the addresses of a primary, {MAX_ADDRESSES} at most")
    if len(bytes.fromhex(bundle.private)) != KEY_BYTES:
        raise ValueError(f"the key of a bundle has {KEY_BYTES} bytes")
    return bundle


def _reigns(rows: list[Any]) -> Reigns:
    """Return reigns of rows; ValueError for anything else."""
    for row in rows:
        if not isinstance(row, list) or [type(item) for item in row] != [str, int]:
            raise ValueError("a reign has a name and a number")
    return tuple([(name, number) for name, number in rows])


def encode_credentials(bundle: Bundle) -> bytes:
    """Write a secondary's credentials as they are stored."""
    return encode_record(bundle.row())


def decode_credentials(stored: bytes) -> Bundle:
    """Read a secondary's credentials as they are stored."""
    return _bundle(decode_record(stored))


def held_bundle(core: Core) -> Bundle | None:
    """Return the bundle that this secondary was activated with; None without one, or where it does not open."""
    stored = core.storage.get(CREDENTIALS)
    if stored is None:
        return None
    try:
        return decode_credentials(core.keys.decrypt(CREDENTIALS, stored))
    except BarrierError:
        core.note_damage(CREDENTIALS)
        return None


def earlier_reigns(ctx: Context) -> Reigns:
    """Return the reigns that this cluster's contents come from, before its own (``index_state``)."""
    stored = ctx.full_storage.get(REIGNS)
    return () if stored is None else _reigns(decode_record(stored))


def authority_key(ctx: Context) -> bytes:
    """Return the private key of this primary's authority."""
    return _authority(ctx).private


def addresses_key(secondary_id: str) -> str:
    """Return the storage key of the node addresses that a secondary showed (``announcement``)."""
    return SECONDARY_ADDRESSES + _as_key(secondary_id)


def _authority(ctx: Context) -> Authority:
    stored = ctx.full_storage.get(AUTHORITY)
    assert stored is not None, "a primary always has an authority"
    private, certificate, token_private, token_public = decode_record(stored)
    return Authority(bytes.fromhex(private), certificate, bytes.fromhex(token_private), token_public)


def _seal(ctx: Context, bundle: Bundle, public_key: str) -> str:
    from labkit.sealed_box import seal_to

    try:
        public = from_base64(public_key)
        box = seal_to(public, encode_record(bundle.row()), ctx.entropy)
    except ValueError as error:
        raise BadRequest(f"secondary_public_key is not what generate-public-key returns: {error}") from None
    return to_base64(box)


def _as_key(secondary_id: str) -> str:
    """Return an id as a storage key without slashes: any text may be an id."""
    return secondary_id.encode().hex()


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a semantic version's numbers, without pre-release and build parts."""
    core = version.partition("+")[0].partition("-")[0]
    return tuple([int(part) if part.isdigit() else 0 for part in core.split(".")])
