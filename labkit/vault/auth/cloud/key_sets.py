"""Key sets: the public keys that a tenant's tokens are verified with, fetched from its cloud and kept.

1. A set is used for an hour, then the first login fetches it again while the others go on with the kept one; after a
   day without success it is not used any more.
2. A name that the kept set does not have makes one fetch, none within ``key_cooldown_s`` of the last attempt: who sends
   made-up names causes no more.  A wrong signature never makes one.
3. The set comes from the address that the discovery document names, on the host of the configured cloud only.
4. A key is taken only if it is an RSA key for signatures, public, of 2048 bits or more, and alone with its name; a set
   without any such key leaves the kept one in place.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import from_base64url
from labkit.service.message import Fetch, Request, Response
from labkit.service.record import NamedTuple
from labkit.service.wire_size import wire_size
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.settings import CloudSettings
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

SOFT_NS, HARD_NS = 3_600 * SECOND_NS, 86_400 * SECOND_NS
MAX_DOCUMENT_BYTES = 262_144
MAX_KEYS = 64
MIN_BITS, MAX_BITS = 2_048, 8_192
PRIVATE_MEMBERS = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")

DISCOVERY, KEYS = "discovery", "keys"


class Discovered(NamedTuple):
    """What the discovery document says: who issues tokens, and the path of the key set on the authority's host."""

    issuer: str
    keys_path: str
    fetched_ns: int


class KeySet(NamedTuple):
    """The keys by name, ready to verify with, and who signs with them."""

    fetched_ns: int
    issuer: str
    keys: dict[str, Any]

    def __repr__(self) -> str:
        return f"KeySet({len(self.keys)} keys)"


def find_key(ctx: Context, settings: CloudSettings, key_id: str) -> Generator[Fetch, Response, tuple[str, Any]]:
    """Return a tenant's issuer and its public key of a name; LoginRefused when there is none."""
    kept = _kept(ctx)
    if kept is not None:
        if key_id not in kept.keys:
            if _is_cooling(ctx):
                raise LoginRefused("unknown_key")
        elif not _is_due(ctx, kept):
            return kept.issuer, kept.keys[key_id]
    failed = yield from _fetch(ctx, settings)
    kept = _kept(ctx)
    if kept is not None and key_id in kept.keys:
        return kept.issuer, kept.keys[key_id]
    if failed is not None:
        raise upstream.unavailable(ctx, failed.ended, failed.retry_after_s)
    raise LoginRefused("unknown_key")


def _kept(ctx: Context) -> KeySet | None:
    """Return the kept set while it may be used."""
    kept = upstream.own_storage(ctx).decoded(KEYS, _decode_keys)
    return None if kept is None or ctx.now - kept.fetched_ns >= HARD_NS else kept


def _discovered(ctx: Context) -> Discovered | None:
    return upstream.own_storage(ctx).decoded(DISCOVERY, _decode_discovery)


def _is_due(ctx: Context, kept: KeySet) -> bool:
    """Whether the kept set is to be fetched again by this login: it is old, and nobody fetches it or just has."""
    if ctx.now - kept.fetched_ns < SOFT_NS:
        return False
    return not any(_is_under_way(ctx, name) for name in (DISCOVERY, KEYS)) and not _is_cooling(ctx)


def _is_under_way(ctx: Context, name: str) -> bool:
    attempt = upstream.find_attempt(ctx, name)
    return attempt is not None and not attempt.ended


def _is_cooling(ctx: Context) -> bool:
    """Whether the last attempt, at the one or the other document, has ended and began a short while ago."""
    if any(_is_under_way(ctx, name) for name in (DISCOVERY, KEYS)):
        return False
    attempts = [upstream.find_attempt(ctx, name) for name in (DISCOVERY, KEYS)]
    began_ns = max([attempt.began_ns for attempt in attempts if attempt is not None], default=None)
    return began_ns is not None and ctx.now - began_ns < ctx.core.settings.key_cooldown_s * SECOND_NS


def _fetch(ctx: Context, settings: CloudSettings) -> Generator[Fetch, Response, upstream.FetchAttempt | None]:
    """Fetch the key set, before it the discovery document where that is old; return the attempt that failed."""
    authority = settings.environment.authority
    discovered = _discovered(ctx)
    if discovered is None or ctx.now - discovered.fetched_ns >= SOFT_NS:
        path = f"/{settings.tenant_id}/.well-known/openid-configuration"
        attempt = yield from upstream.fetch_for_all(
            ctx,
            DISCOVERY,
            settings.retries,
            Fetch(authority, Request("GET", path)),
            lambda answer: _take_discovery(ctx, authority, answer),
        )
        discovered = _discovered(ctx)
        if discovered is None or not attempt.succeeded:
            return attempt
    issuer = discovered.issuer
    attempt = yield from upstream.fetch_for_all(
        ctx,
        KEYS,
        settings.retries,
        Fetch(authority, Request("GET", discovered.keys_path)),
        lambda answer: _take_keys(ctx, issuer, answer),
    )
    return None if attempt.succeeded else attempt


def _take_discovery(ctx: Context, authority: str, answer: Response) -> str:
    body = answer.body if type(answer.body) is dict else {}
    issuer, address = body.get("issuer"), body.get("jwks_uri")
    if wire_size(body) > MAX_DOCUMENT_BYTES:
        return "answered with a document that is too large"
    if not isinstance(issuer, str) or not issuer or "{" in issuer:
        return "answered with a document that names no issuer of one tenant"
    if not isinstance(address, str) or not address.startswith(f"{authority}/") or "?" in address or "#" in address:
        return "answered with a document that names no key set on its own host"
    upstream.keep(ctx, DISCOVERY, [issuer, address.removeprefix(authority), ctx.now])
    return ""


def _decode_discovery(stored: bytes) -> Discovered:
    return Discovered(*decode_record(stored))


def _take_keys(ctx: Context, issuer: str, answer: Response) -> str:
    rows = acceptable_keys(answer.body)
    if not rows:
        return "answered with a set of no usable keys"
    upstream.keep(ctx, KEYS, [ctx.now, issuer, rows])
    return ""


def _decode_keys(stored: bytes) -> KeySet:
    fetched_ns, issuer, rows = decode_record(stored)
    return KeySet(fetched_ns, issuer, {key_id: public_key(modulus, exponent) for key_id, modulus, exponent in rows})


def acceptable_keys(document: Any) -> list[tuple[str, str, str]]:
    """Return name, modulus and exponent of the keys of a set that signatures are verified with (rule 4; RFC 7517)."""
    listed = document.get("keys") if type(document) is dict else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS or wire_size(document) > MAX_DOCUMENT_BYTES:
        return []
    names = [key.get("kid") for key in listed if isinstance(key, dict) and isinstance(key.get("kid"), str)]
    return [
        (key["kid"], key["n"], key["e"])
        for key in listed
        if isinstance(key, dict) and key.get("kid") in names and names.count(key["kid"]) == 1 and _is_acceptable(key)
    ]


def _is_acceptable(key: dict[str, Any]) -> bool:
    operations = key.get("key_ops", ["verify"])
    if key.get("kty") != "RSA" or key.get("use", "sig") != "sig" or key.get("alg", "RS256") != "RS256":
        return False
    verifies = isinstance(operations, list) and "verify" in operations
    if not verifies or any(member in key for member in PRIVATE_MEMBERS):
        return False
    try:
        modulus, exponent = [int.from_bytes(from_base64url(key[name]), "big") for name in ("n", "e")]
        if not MIN_BITS <= modulus.bit_length() <= MAX_BITS or not 3 <= exponent < 2**32:
            return False
        public_key(key["n"], key["e"])
    except (KeyError, AttributeError, TypeError, ValueError):
        return False
    return modulus % 2 == 1 and exponent % 2 == 1


def public_key(modulus: str, exponent: str) -> Any:
    """Return the RSA key of a modulus and exponent in base64url."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    n, e = [int.from_bytes(from_base64url(number), "big") for number in (modulus, exponent)]
    return RSAPublicNumbers(e, n).public_key()
