"""Activation: how a secondary is admitted, and how its connections are checked (decisions D4, D5, D8).

1. A primary has an authority of its own, made when it becomes primary; its keys never leave the cluster.
2. An activation token stands for a bundle: who may connect (a certificate for one id), to which
   addresses, and the authority's certificate.  It is sent as a wrapping token in JWT form, or encrypted to a public key
   of the secondary.
3. A connection shows the certificate and a signature over its own serial; it is accepted until the id is revoked.
4. The bootstrap answer holds the root key and the keyring, with which the replicated ciphertexts are decrypted, and the
   seal configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import from_base64, to_base64
from labkit.service.errors import BadRequest
from labkit.service.message import Response, respond
from labkit.vault import wrapping
from labkit.vault.identifiers import uuid_text
from labkit.vault.replication.mode import Mode
from labkit.vault.seal import SEAL_CONFIG
from labkit.vault.storage.barrier import KEYRING, BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.keymaking import Identity
    from labkit.vault.context import Context
    from labkit.vault.core import Core

AUTHORITY = "node/authority"
SECONDARIES = "node/secondaries/"
SECONDARY_ADDRESSES = "node/secondary-addresses/"
CREDENTIALS = "node/credentials"
EXCHANGE_KEY = "node/exchange-key"

KEY_BYTES = 32
LIFETIME_S = 10 * 365 * 86_400
DEFAULT_TTL_S = 1_800


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
    cluster_address: str
    api_address: str

    def __repr__(self) -> str:
        return f"Bundle({self.secondary_id})"


class SecondaryHeartbeat(NamedTuple):
    """What a primary knows of a secondary from its heartbeats."""

    node_id: str
    address: str
    wall_ns: int
    duration_ms: int
    skew_ms: int
    canary_ms: int


# ---- the primary's side


def make_authority(ctx: Context) -> None:
    """Make a fresh authority: earlier activations become invalid."""
    from labkit.keymaking import make_authority as make
    from labkit.keymaking import make_signing_key

    try:
        identity = make(f"labkit DR {uuid_text(ctx.entropy)}", ctx.entropy, ctx.now, LIFETIME_S)
    except ValueError as error:  # by this node's clock
        raise BadRequest(f"no authority can be made now: {error}") from None
    token_private, token_public = make_signing_key(ctx.entropy)
    row = [identity.private.hex(), identity.certificate, token_private.hex(), token_public]
    ctx.full_storage.put(AUTHORITY, encode_record(row))


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
        mode.primary_cluster_addr or settings.cluster_address,
        settings.api_address,
    )
    storage.put(SECONDARIES + _as_key(secondary_id), encode_record([secondary_id, holder.certificate, ctx.now]))
    if public_key:
        return {"data": {"token": _seal(ctx, bundle, public_key)}}
    body = {"data": {"bundle": list(bundle)}, "auth": None, "warnings": None}
    text, info = wrapping.wrap(ctx, body, ttl_s)
    issued_s = ctx.now // SECOND_NS
    claims = {
        "addr": settings.api_address,
        "accessor": info["accessor"],
        "exp": issued_s + ttl_s,
        "iat": issued_s,
        "jti": text,
        "nbf": issued_s,
        "type": "wrapping",
    }
    return {"wrap_info": {"token": sign_es512(authority.token_private, claims), **info}}


def _certified(ctx: Context, authority: Authority, secondary_id: str) -> Identity:
    """Make the key and certificate of an id; raise BadRequest where this node's clock allows none."""
    from labkit.keymaking import Identity, issue_client_certificate

    issuer = Identity(authority.private, authority.certificate)
    try:
        return issue_client_certificate(issuer, secondary_id, ctx.entropy, ctx.now, LIFETIME_S)
    except ValueError as error:
        raise BadRequest(f"no certificate can be issued to this id: {error}") from None


def revoke(ctx: Context, secondary_id: str) -> None:
    """Revoke an id's activation; its connection is closed at once."""
    key = SECONDARIES + _as_key(secondary_id)
    if ctx.full_storage.get(key) is None:
        raise BadRequest(f"no secondary with id {secondary_id} is known")
    ctx.full_storage.delete(key)
    ctx.full_storage.delete(addresses_key(secondary_id))


def secondary_ids(ctx: Context) -> list[str]:
    """Return the ids of all activations that were not revoked, used or not, sorted."""
    storage = ctx.full_storage
    rows = (storage.get(SECONDARIES + name) for name in storage.list(SECONDARIES))
    return sorted(decode_record(row)[0] for row in rows if row is not None)


def is_known(core: Core, secondary_id: str) -> bool:
    """Whether an id has an activation that was not revoked."""
    return core.storage.get(SECONDARIES + _as_key(secondary_id)) is not None


def check_connection(core: Core, secondary_id: str, serial: int, shown: dict[str, Any]) -> str:
    """Return why a secondary's connection is refused; an empty text when it is accepted."""
    try:
        return _why_refused(core, secondary_id, serial, shown)
    except BarrierError as error:  # what the check rests on is damaged: nobody is admitted (C12)
        return str(error)


def _why_refused(core: Core, secondary_id: str, serial: int, shown: dict[str, Any]) -> str:
    from labkit.keymaking import check_client_certificate, verify

    key = SECONDARIES + _as_key(secondary_id)
    stored = core.storage.get(key)
    if stored is None:
        return "the activation of this id was revoked, or never issued"
    record = decode_record(core.keys.decrypt(key, stored))
    authority = core.storage.get(AUTHORITY)
    if authority is None or record[1] != shown.get("certificate"):
        return "the certificate is not the one that was issued for this id"
    anchor = decode_record(core.keys.decrypt(AUTHORITY, authority))[1]
    if shown.get("cluster_id") != core.replica.mode.cluster_id:
        return "the cluster belongs to another replication set"
    try:
        check_client_certificate(shown["certificate"], anchor, core.now())
        verify(shown["certificate"], _proof(secondary_id, serial), shown["signature"])
    except ValueError as error:
        return str(error)
    if _is_newer(core.settings.version, shown["version"]):
        return (
            f"this upstream runs {core.settings.version}, the secondary the older {shown['version']}: "
            "upgrade the downstream cluster first"
        )
    return ""


def note_heartbeat(core: Core, secondary_id: str, message: dict[str, Any], address: str) -> None:
    """Remember what a secondary's heartbeat reported, for the status."""
    core.replica.secondaries[secondary_id] = SecondaryHeartbeat(
        secondary_id,
        address,
        core.now(),
        message["last_heartbeat_duration_ms"],
        message["clock_skew_ms"],
        message["replication_primary_canary_age_ms"],
    )


def bootstrap(core: Core, shown: dict[str, Any]) -> Response:
    """Answer a secondary's bootstrap request: the keys that decrypt its new contents."""
    if core.keys.sealed or core.replica.mode.mode != "primary":
        return respond(503, {"errors": ["this cluster is not a primary now"]})
    why = check_connection(core, str(shown.get("secondary_id", "")), 0, shown)
    keyring, config = core.storage.get(KEYRING), core.storage.get(SEAL_CONFIG)
    assert core.keys.root_key is not None
    if why or keyring is None or config is None:
        return respond(403, {"errors": [f"bootstrap refused: {why}"]})
    answer = {"root_key": core.keys.root_key.hex(), "keyring": keyring.hex(), "seal_config": config.hex()}
    return respond(200, {"data": answer})


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
    """Return the bundle of a row of texts, its key 32 bytes in hex; ValueError for anything else."""
    if not isinstance(row, list) or len(row) != len(Bundle._fields) or not all(isinstance(item, str) for item in row):
        raise ValueError(f"a bundle is {len(Bundle._fields)} texts")
    bundle = Bundle(*row)
    if len(bytes.fromhex(bundle.private)) != KEY_BYTES:
        raise ValueError(f"the key of a bundle has {KEY_BYTES} bytes")
    return bundle


def encode_credentials(bundle: Bundle) -> bytes:
    """Write a secondary's credentials as they are stored."""
    return encode_record(list(bundle))


def credentials(core: Core, serial: int) -> dict[str, Any]:
    """Return what a secondary shows when it connects: certificate, signature over the serial, version."""
    bundle = held_bundle(core)
    return {} if bundle is None else show(bundle, serial, core.settings.version)


def held_bundle(core: Core) -> Bundle | None:
    """Return the bundle that this secondary was activated with; None without one, or where it does not open."""
    stored = core.storage.get(CREDENTIALS)
    if stored is None:
        return None
    try:
        return Bundle(*decode_record(core.keys.decrypt(CREDENTIALS, stored)))
    except BarrierError:
        core.note_damage(CREDENTIALS)
        return None


def show(bundle: Bundle, serial: int, version: str) -> dict[str, Any]:
    """Return what a connection shows for a bundle."""
    from labkit.keymaking import sign

    return {
        "cluster_id": bundle.cluster_id,
        "secondary_id": bundle.secondary_id,
        "certificate": bundle.certificate,
        "signature": sign(bytes.fromhex(bundle.private), _proof(bundle.secondary_id, serial)),
        "version": version,
    }


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
        box = seal_to(public, encode_record(list(bundle)), ctx.entropy)
    except ValueError as error:
        raise BadRequest(f"secondary_public_key is not what generate-public-key returns: {error}") from None
    return to_base64(box)


def _proof(secondary_id: str, serial: int) -> bytes:
    return f"labkit replication connection {serial} of {secondary_id}".encode()


def _as_key(secondary_id: str) -> str:
    """Return an id as a storage key without slashes: any text may be an id."""
    return secondary_id.encode().hex()


def _is_newer(one: str, other: str) -> bool:
    return version_numbers(one) > version_numbers(other)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a semantic version's numbers, without pre-release and build parts."""
    core = version.partition("+")[0].partition("-")[0]
    return tuple(int(part) if part.isdigit() else 0 for part in core.split("."))
