"""Joining a replication set: fetch the activation's bundle and keys, validate them, and only then change anything."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.errors import BadRequest, Forbidden, ServiceError, Unavailable
from labkit.service.message import Fetch, Request, Response, respond
from labkit.vault.identifiers import uuid_text
from labkit.vault.replication import reindex
from labkit.vault.replication.mode import Mode, WrongMode, advance, by_token
from labkit.vault.replication.trust import activation, admission, api_certificate
from labkit.vault.replication.trust.activation import Bundle
from labkit.vault.seal_keys import SealKeys
from labkit.vault.sealing.seal import SEAL_CONFIG, SealConfig
from labkit.vault.storage.barrier import KEYRING, BarrierError, decrypt_keyring
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

# Keys that a wipe keeps: the leader's lease and the number of the newest entry are not part of the data.
UNTOUCHED = ("node/lease", "node/wal")

UNWRAP = "/v1/sys/wrapping/unwrap"
REDIRECTED, MAX_REDIRECTIONS = 307, 2
MAX_ADDRESSES = 16
TRIP_NS = 8 * SECOND_NS
NONCE_BYTES = 16

MAY_PASS = (0, 307, 429, 472, 473, 503)
"""What a node answers that does not serve now; every other refusal is final."""

SPENT = "the token is spent: revoke {} on the primary, and issue another one"


class Trusted(NamedTuple):
    """Whose certificates of a primary's API are trusted: files by name, each PEM; none: every one (the system's)."""

    ca_file: str
    ca_path: str


class BootstrapKeys(NamedTuple):
    """The keys that decrypt a primary's contents, and its seal configuration."""

    root_key: bytes
    keyring: bytes
    seal_config: bytes

    def __repr__(self) -> str:
        return "BootstrapKeys(not shown)"


class Fetched(NamedTuple):
    """What a token leads to: its bundle, the primary's keys, and that it is spent, where that is so."""

    bundle: Bundle
    keys: BootstrapKeys
    spent: str

    def __repr__(self) -> str:
        return f"Fetched({self.bundle!r})"  # never the keys


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
    ctx: Context, token: str, primary_api_addr: str, trusted: Trusted
) -> Generator[Fetch, Response, Fetched]:
    """Turn an activation token into its bundle and the primary's keys; a failure changes nothing (decision D4)."""
    if not token:
        raise BadRequest("token must be specified: the activation token that the primary issued for this secondary")
    authorities = _read_authorities(ctx, trusted)
    bundle = activation.open_sealed_bundle(ctx, token)
    if bundle is not None:
        if ctx.is_past(bundle.expires_ns):
            raise BadRequest(f"the token is over: {admission.EXPIRED.format(format_instant(bundle.expires_ns))}")
        return Fetched(*(yield from _fetch_keys(ctx, bundle, bundle.cluster_addresses)), "")
    bundle, host = yield from _unwrap(ctx, token, primary_api_addr, authorities)
    with saying(spent := SPENT.format(bundle.secondary_id)):
        return Fetched(*(yield from _fetch_keys(ctx, bundle, _nearest_first(bundle, host))), spent)


def _nearest_first(bundle: Bundle, host: str) -> tuple[str, ...]:
    """Return a bundle's addresses, that of a host first, but an address that the primary was given before it."""
    first = bundle.cluster_addresses[0]
    given = "" if _host_of(first) == _host_of(bundle.api_address) else first
    return tuple(sorted(bundle.cluster_addresses, key=lambda each: (each != given, _host_of(each) != host)))


@contextmanager
def saying(spent: str) -> Iterator[None]:
    """Let a refusal say too that the token is spent, if it is: it is final then."""
    try:
        yield
    except ServiceError as error:
        if not spent:
            raise
        kind = Forbidden if isinstance(error, Forbidden) else BadRequest
        raise kind(f"{error.errors[0]}; {spent}") from None


def _read_authorities(ctx: Context, trusted: Trusted) -> tuple[str, ...]:
    """Return the authorities in the cluster's files that were named; none when none was."""
    found: list[str] = []
    if trusted.ca_file:
        content = ctx.source.read_file(trusted.ca_file)
        if content is None:
            raise BadRequest(f"ca_file: {_missing(f'file {trusted.ca_file}')}")
        found += _authorities_in(f"ca_file: {trusted.ca_file}", content)
    if trusted.ca_path:
        names = ctx.source.file_names(trusted.ca_path)
        contents = [(name, ctx.source.read_file(name) or b"") for name in names]
        holding = [(name, content) for name, content in contents if api_certificate.BEGIN_CERTIFICATE in content]
        if not holding:
            raise BadRequest(f"ca_path: {_missing(f'file with a certificate in PEM form below {trusted.ca_path}')}")
        for name, content in holding:
            found += _authorities_in(f"ca_path: {name}", content)
    return tuple(dict.fromkeys(found))


def _missing(what: str) -> str:
    return f"no {what} among this cluster's files; put one there, or leave it out to use the system's trust"


def _authorities_in(named: str, content: bytes) -> tuple[str, ...]:
    try:
        return api_certificate.authorities_in(content)
    except ValueError as error:
        raise BadRequest(f"{named} holds no authority to trust: {error}") from None


def _fetch_keys(
    ctx: Context, bundle: Bundle, addresses: tuple[str, ...]
) -> Generator[Fetch, Response, tuple[Bundle, BootstrapKeys]]:
    """Ask a primary's nodes for its keys, one after another until one gives or refuses them; that one comes first."""
    failures = []
    for address in addresses:
        shown, answer = yield from _prove(ctx, bundle, address)
        if shown:
            answer = yield _fetch(address, admission.BOOTSTRAP, shown)
            if answer.ok:
                serving = (address, *(other for other in bundle.cluster_addresses if other != address))
                return bundle._replace(cluster_addresses=serving), _read_keys(answer.data)
        text = f"error fetching secondary bootstrap package from {address}: {_error_text(answer)}"
        if answer.status not in MAY_PASS:  # the code of another cluster's answer is not this one's own
            raise Forbidden(text) if answer.status == 403 else BadRequest(text)
        failures.append(text)
    raise Unavailable("; ".join(failures))


def _prove(
    ctx: Context, bundle: Bundle, address: str
) -> Generator[Fetch, Response, tuple[dict[str, Any] | None, Response]]:
    """Ask an address for a challenge; return what is shown to it there, None when that is not the bundle's primary."""
    asked = {"cluster_id": bundle.cluster_id, "secondary_id": bundle.secondary_id}
    answer = yield _fetch(address, admission.CHALLENGE, asked)
    if not answer.ok:
        return None, answer
    try:
        return admission.show(bundle, admission.read_challenge(answer.data), ctx.core.settings), answer
    except ValueError as error:
        ctx.observe("upstream_refused", address=address, reason=str(error))
        return None, respond(503, {"errors": [f"this is not the primary: {error}"]})


def _fetch(address: str, operation: str, body: dict[str, Any]) -> Fetch:
    return Fetch(address, Request("POST", operation, {}, body), TRIP_NS, channel="cluster")


def _read_keys(data: Any) -> BootstrapKeys:
    """Return the keys of a bootstrap package; raise BadRequest for one that is malformed or does not fit together."""
    try:
        keys = BootstrapKeys(*(bytes.fromhex(data[name]) for name in BootstrapKeys._fields))
        SealConfig(*decode_record(keys.seal_config))
    except (KeyError, TypeError, ValueError):
        raise BadRequest("the bootstrap package is malformed; nothing was changed") from None
    try:
        decrypt_keyring(keys.keyring, keys.root_key)
    except BarrierError:
        raise BadRequest("the bootstrap package's root key does not open its keyring; nothing was changed") from None
    return keys


def _unwrap(
    ctx: Context, token: str, primary_api_addr: str, authorities: tuple[str, ...]
) -> Generator[Fetch, Response, tuple[Bundle, str]]:
    """Unwrap an activation token at the first node of the primary that answers; return its bundle and that node."""
    from labkit.keymaking import read_claims

    try:
        claims = read_claims(token)
    except ValueError as error:
        raise BadRequest(f"token is not a secondary activation token: {error}") from None
    addresses = [primary_api_addr] if primary_api_addr else _api_addresses(claims)
    failures = []
    for address in addresses:
        address, answer = yield from _post_unwrap(ctx, address, token, authorities)
        if answer.ok:
            return activation.read_bundle(answer), _host_of(address)
        text = _error_text(answer)
        if answer.status:
            refused = f"error response unwrapping secondary token; status code is {answer.status}, message is {text}"
            raise Unavailable(refused) if answer.status in MAY_PASS else BadRequest(refused)
        failures.append(_not_unwrapped(address, text))
    raise Unavailable("; ".join(failures))


def _api_addresses(claims: dict[str, Any]) -> list[str]:
    """Return where a token says that it is unwrapped: at its issuer, else at another node of the issuer's cluster."""
    others = claims.get("addrs")
    named = [claims.get("addr"), *(others if isinstance(others, list) else ())]
    texts = [address for address in named if isinstance(address, str) and address]
    if not texts:
        raise BadRequest("the token names no address; give primary_api_addr")
    return list(dict.fromkeys(texts))[:MAX_ADDRESSES]


def _post_unwrap(
    ctx: Context, address: str, token: str, authorities: tuple[str, ...]
) -> Generator[Fetch, Response, tuple[str, Response]]:
    """Present a token as a whole, and follow a standby's redirection; return the address that answered, and how."""
    sent = {"X-Vault-Token": token}  # the wrapping token is the caller's own
    for _ in range(MAX_REDIRECTIONS + 1):
        if authorities:
            answer = yield from _check_api(ctx, address, authorities)
            if not answer.status:
                break
        answer = yield Fetch(address, Request("POST", UNWRAP, sent), TRIP_NS)
        location = answer.headers.get("Location", "")
        if answer.status != REDIRECTED or not location.endswith(UNWRAP):
            break
        address = location.removesuffix(UNWRAP)
    return address, answer


def _check_api(ctx: Context, address: str, authorities: tuple[str, ...]) -> Generator[Fetch, Response, Response]:
    """Ask an address for its API's certificate before a token goes there; raise BadRequest for one not trusted."""
    nonce = ctx.entropy(NONCE_BYTES).hex()
    answer = yield _fetch(address, api_certificate.PRESENT, {"nonce": nonce})
    if not answer.status:
        return answer
    parties = (_host_of(address), ctx.core.settings.node)
    try:
        if not answer.ok:
            raise ValueError(_error_text(answer))
        ctx.core.time_decided = True
        api_certificate.check(answer.data, nonce, parties, authorities, ctx.now)
    except ValueError as error:
        reason = f"tls: failed to verify certificate: {error}; the token was not sent"
        raise BadRequest(_not_unwrapped(address, reason)) from None
    return answer


def _not_unwrapped(address: str, reason: str) -> str:
    return f'error unwrapping secondary token: Post "{address}{UNWRAP}": {reason}'


def _host_of(address: str) -> str:
    return address.partition("//")[2].rpartition(":")[0]


def _error_text(answer: Response) -> str:
    return "; ".join(answer.errors) or "no text"


def fields_of(bundle: Bundle) -> dict[str, Any]:
    """Return the mode record's fields that a bundle fills in."""
    return {
        "cluster_id": bundle.cluster_id,
        "secondary_id": bundle.secondary_id,
        "primary_cluster_addr": bundle.cluster_addresses[0],
        "upstream_api_addr": bundle.api_address,
        "upstream_cluster_addrs": bundle.cluster_addresses,
    }


def repointed(mode: Mode, bundle: Bundle) -> Mode:
    """Return the mode of a secondary that follows another primary of its own replication set."""
    if bundle.cluster_id != mode.cluster_id:
        raise BadRequest(
            "the token is of another replication set, whose data this cluster cannot hold beside its own: "
            "disable this secondary, then enable it with the token (that wipes it)"
        )
    return by_token(mode, **fields_of(bundle))


def first_that_answers(ctx: Context, addresses: tuple[str, ...]) -> Generator[Fetch, Response, tuple[str, ...]]:
    """Ask addresses one at a time for a challenge; return them with the first in front that is this one's primary's.

    No key is asked for, and any node of the primary answers for its cluster.
    """
    stored = ctx.full_storage.get(activation.CREDENTIALS)
    if stored is None:
        raise BadRequest("this secondary has no credentials of a primary; use a secondary activation token")
    bundle = activation.decode_credentials(stored)
    for address in addresses:
        shown, _ = yield from _prove(ctx, bundle, address)
        if shown:
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
    """Drop authority, activations, credentials, operation token and reindex: the cluster leaves its replication set."""
    storage = ctx.full_storage
    activation.drop_authority(ctx)
    for key in (activation.CREDENTIALS, activation.EXCHANGE_KEY):
        storage.delete(key)
    storage.delete("node/operation-token")
    storage.delete("node/attempt")
    storage.delete(activation.REIGNS)
    storage.delete_all(activation.SECONDARIES)
    reindex.forget(ctx)
