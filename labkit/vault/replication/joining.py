"""Joining a replication set: fetch the activation's bundle and keys, validate them, and only then change anything."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.errors import BadRequest, Unavailable
from labkit.service.message import Fetch, Request, Response
from labkit.vault.core import SealKeys
from labkit.vault.identifiers import uuid_text
from labkit.vault.replication import activation
from labkit.vault.replication.activation import Bundle
from labkit.vault.replication.mode import Mode, WrongMode, advance, by_token
from labkit.vault.seal import SEAL_CONFIG, SealConfig
from labkit.vault.storage.barrier import KEYRING, BarrierError, decrypt_keyring
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

# Keys that a wipe keeps: the leader's lease and the number of the newest entry are not part of the data.
UNTOUCHED = ("node/lease", "node/wal")


class BootstrapKeys(NamedTuple):
    """The keys that decrypt a primary's contents, and its seal configuration."""

    root_key: bytes
    keyring: bytes
    seal_config: bytes

    def __repr__(self) -> str:
        return "BootstrapKeys(not shown)"


def new_set(ctx: Context, primary_cluster_addr: str) -> Mode:
    """Return the mode of a cluster that becomes the primary of a new replication set."""
    try:
        return advance(
            ctx.mode,
            "enable_primary",
            cluster_id=uuid_text(ctx.entropy),
            primary_cluster_addr=primary_cluster_addr,
        )
    except WrongMode as error:
        raise BadRequest(str(error)) from None


def fetch_bundle(
    ctx: Context, token: str, primary_api_addr: str, trusted: tuple[str, str]
) -> Generator[Fetch, Response, tuple[Bundle, BootstrapKeys]]:
    """Turn an activation token into its bundle and the primary's keys; a failure changes nothing (decision D4)."""
    if not token:
        raise BadRequest("token must be specified: the activation token that the primary issued for this secondary")
    if any(trusted):
        raise BadRequest(
            f"no file {trusted[0] or trusted[1]} among this cluster's files; leave ca_file and ca_path out to use "
            "the system's roots"
        )
    bundle = activation.open_sealed_bundle(ctx, token)
    if bundle is None:
        bundle = yield from _unwrap(token, primary_api_addr)
    shown = activation.show(bundle, 0, ctx.core.settings.version)
    answer = yield Fetch(bundle.cluster_address, Request("POST", "bootstrap", {}, shown), channel="cluster")
    if not answer.ok:
        refused = f"error fetching secondary bootstrap package from {bundle.cluster_address}: {_error_text(answer)}"
        raise Unavailable(refused)  # the code of another cluster's answer is not this one's own
    return bundle, _read_keys(answer.data)


def _read_keys(data: Any) -> BootstrapKeys:
    """Return the keys of a bootstrap package; raise Unavailable for one that is malformed or does not fit together."""
    try:
        keys = BootstrapKeys(*(bytes.fromhex(data[name]) for name in BootstrapKeys._fields))
        SealConfig(*decode_record(keys.seal_config))
    except (KeyError, TypeError, ValueError):
        raise Unavailable("the bootstrap package is malformed; nothing was changed") from None
    try:
        decrypt_keyring(keys.keyring, keys.root_key)
    except BarrierError:
        raise Unavailable("the bootstrap package's root key does not open its keyring; nothing was changed") from None
    return keys


def _unwrap(token: str, primary_api_addr: str) -> Generator[Fetch, Response, Bundle]:
    from labkit.keymaking import read_claims

    try:
        claims = read_claims(token)
    except ValueError as error:
        raise BadRequest(f"token is not a secondary activation token: {error}") from None
    address = primary_api_addr or str(claims.get("addr", ""))
    sent = {"X-Vault-Token": str(claims.get("jti", ""))}  # the wrapping token is the caller's own
    answer = yield Fetch(address, Request("POST", "/v1/sys/wrapping/unwrap", sent))
    if answer.status == 0:
        refused = f'error unwrapping secondary token: Post "{address}/v1/sys/wrapping/unwrap": {_error_text(answer)}'
        raise Unavailable(refused)
    if not answer.ok:
        raise BadRequest(
            f"error response unwrapping secondary token; status code is {answer.status}, "
            f"message is {_error_text(answer)}"
        )
    return activation.read_bundle(answer)


def _error_text(answer: Response) -> str:
    return "; ".join(answer.errors) or "no text"


def fields_of(bundle: Bundle) -> dict[str, Any]:
    """Return the mode record's fields that a bundle fills in."""
    return {
        "cluster_id": bundle.cluster_id,
        "secondary_id": bundle.secondary_id,
        "primary_cluster_addr": bundle.cluster_address,
        "upstream_api_addr": bundle.api_address,
        "upstream_cluster_addrs": (bundle.cluster_address,),
    }


def repointed(ctx: Context, mode: Mode, bundle: Bundle, keys: BootstrapKeys) -> Mode:
    """Return the mode of a secondary that follows another primary of its own replication set."""
    if bundle.cluster_id != mode.cluster_id or not ctx.source.has_root_key(keys.root_key):
        raise BadRequest(
            "the token is of another replication set, whose data this cluster cannot hold beside its own: "
            "disable this secondary, then enable it with the token (that wipes it)"
        )
    return by_token(mode, **fields_of(bundle))


def first_that_answers(ctx: Context, addresses: tuple[str, ...]) -> Generator[Fetch, Response, tuple[str, ...]]:
    """Ask addresses one at a time; return them with the first that answered in front."""
    stored = ctx.full_storage.get(activation.CREDENTIALS)
    if stored is None:
        raise BadRequest("this secondary has no credentials of a primary; use a secondary activation token")
    shown = activation.show(Bundle(*decode_record(stored)), 0, ctx.core.settings.version)
    for address in addresses:
        answer = yield Fetch(address, Request("POST", "bootstrap", {}, shown), channel="cluster")
        if answer.ok:
            return (address, *(other for other in addresses if other != address))
    raise Unavailable(f"none of {', '.join(addresses)} answered as this secondary's primary; nothing was changed")


def wipe(ctx: Context, keys: BootstrapKeys) -> None:
    """Clear the cluster and take over the primary's seal and keyring; the other nodes then seal themselves.

    The step carries the new keys: its writes from here on are encrypted under them, and they take effect at its commit.
    """
    for key in ctx.full_storage.keys(""):
        if key not in UNTOUCHED:
            ctx.write(key, None)
    ctx.keys = SealKeys.opened(keys.root_key, decrypt_keyring(keys.keyring, keys.root_key))
    ctx.write(KEYRING, keys.keyring)
    ctx.write(SEAL_CONFIG, keys.seal_config)


def store_credentials(ctx: Context, bundle: Bundle) -> None:
    """Store what this secondary connects with; the key pair that the bundle may have been encrypted to is deleted."""
    ctx.full_storage.put(activation.CREDENTIALS, activation.encode_credentials(bundle))
    ctx.full_storage.delete(activation.EXCHANGE_KEY)


def forget(ctx: Context) -> None:
    """Drop authority, activations, credentials and operation token: the cluster leaves its replication set."""
    storage = ctx.full_storage
    for key in (activation.AUTHORITY, activation.CREDENTIALS, activation.EXCHANGE_KEY):
        storage.delete(key)
    storage.delete("node/operation-token")
    storage.delete("node/attempt")
    storage.delete_all(activation.SECONDARIES)
