"""Key sets: the public keys that a tenant's tokens are verified with, fetched from its cloud and kept.

1. A set is used for an hour.  Then the first login makes one attempt to refresh it, without retries, of two seconds at
   most, while the others go on with the kept one; so does that login where the attempt fails.  After a day without
   success the set is not used any more (decision A13).
2. A set is kept with the configuration that it was fetched for and with when (decision A12).  One of another term is to
   be refreshed, whatever the clock says; one that is younger than nothing by more than clocks differ is not used.
3. A name that the kept set does not have makes one fetch, none within ``key_cooldown_s`` of the last attempt: who sends
   made-up names causes no more.  A wrong signature never makes one.  Where that attempt failed, the cloud could not be
   asked: the answer says so, and refuses nobody.
4. The set comes from the address that the discovery document names, on the host of the configured cloud only.
5. A key is taken only if it is an RSA key for signatures, public, of 2048 bits or more, and alone with its name; a set
   without any such key leaves the kept one in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import from_base64url
from labkit.service.message import Fetch, Request, Response
from labkit.service.record import NamedTuple
from labkit.service.wire_size import wire_size
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.settings import CloudSettings, RetryPolicy

if TYPE_CHECKING:
    from labkit.vault.context import Context

SOFT_NS, HARD_NS = 3_600 * SECOND_NS, 86_400 * SECOND_NS
MAX_DOCUMENT_BYTES = 262_144
MIN_BITS, MAX_BITS = 2_048, 8_192
PRIVATE_MEMBERS = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")

DISCOVERY, KEYS, REFRESH = "discovery", "keys", "refresh"
REFRESH_NS = 2 * SECOND_NS
MAX_ROUNDS = 4  # of one login, whose attempts may all be over before their end


class Discovered(NamedTuple):
    """What the discovery document says: who issues tokens, and the path of the key set on the authority's host."""

    kept: upstream.Kept
    issuer: str
    keys_path: str


class KeySet(NamedTuple):
    """The keys by name, ready to verify with, who signs with them, and of when they are."""

    kept: upstream.Kept
    issuer: str
    keys: dict[str, Any]

    def __repr__(self) -> str:
        return f"KeySet({len(self.keys)} keys)"


def find_key(ctx: Context, settings: CloudSettings, key_id: str) -> Generator[Fetch, Response, tuple[str, Any]]:
    """Return a tenant's issuer and its public key of a name; LoginRefused when there is none."""
    for _ in range(MAX_ROUNDS):
        kept = _kept(ctx, settings)
        if kept is not None and key_id in kept.keys:
            if not _is_due(ctx, kept):
                return kept.issuer, kept.keys[key_id]
            ended = yield from _refresh(ctx, settings)
            kept = _kept(ctx, settings)
            if ended and kept is not None and key_id in kept.keys:
                return kept.issuer, kept.keys[key_id]
            continue
        failed = yield from _fetch(ctx, settings, _retries(ctx, settings, kept))
        kept = _kept(ctx, settings)
        if kept is not None and key_id in kept.keys:
            continue
        if failed is not None:
            raise upstream.unavailable(ctx, failed.ended, failed.retry_after_s)
        raise LoginRefused("unknown_key")
    raise upstream.unavailable(ctx, upstream.OVERDUE)


def _kept(ctx: Context, settings: CloudSettings) -> KeySet | None:
    """Return the kept set while it may be used."""
    kept = upstream.own_storage(ctx).decoded(KEYS, _decode_keys)
    if kept is None or kept.kept.wanted != settings.fingerprint(KEYS):
        return None
    return kept if upstream.is_usable(ctx, kept.kept, HARD_NS) else None


def _discovered(ctx: Context, settings: CloudSettings) -> Discovered | None:
    """Return what is known of a tenant for less than an hour."""
    kept = upstream.own_storage(ctx).decoded(DISCOVERY, _decode_discovery)
    if kept is None or kept.kept.wanted != settings.fingerprint(DISCOVERY):
        return None
    return kept if upstream.is_fresh(ctx, kept.kept, SOFT_NS) else None


def _is_due(ctx: Context, kept: KeySet) -> bool:
    """Whether the kept set is to be refreshed by this login: it is old, and nobody refreshes it or just could not."""
    if upstream.is_fresh(ctx, kept.kept, SOFT_NS):
        return False
    attempt = upstream.find_attempt(ctx, REFRESH, kept.kept.wanted)
    if attempt is None or upstream.is_alive(ctx, attempt, REFRESH_NS):
        return attempt is None
    return not attempt.is_recent(ctx.now, _cooldown_ns(ctx))


def _cooldown_ns(ctx: Context) -> int:
    return ctx.core.settings.key_cooldown_s * SECOND_NS


def _retries(ctx: Context, settings: CloudSettings, kept: KeySet | None) -> RetryPolicy:
    """Return how often to ask for a set that has an unknown name; raise where that was done just now (rule 3).

    Without any set it is done each time; but while that fails, nobody waits for more than one answer.
    """
    ended = [
        attempt
        for name in (DISCOVERY, KEYS)
        if (attempt := upstream.find_attempt(ctx, name, settings.fingerprint(name))) is not None
    ]
    if any(upstream.is_alive(ctx, attempt) for attempt in ended):
        return settings.retries
    recent = [attempt for attempt in ended if attempt.is_recent(ctx.now, _cooldown_ns(ctx))]
    failed = next((attempt for attempt in recent if not attempt.succeeded), None)
    if kept is None:
        return settings.retries if failed is None else upstream.NO_RETRY
    if failed is not None:
        left_ns = failed.began_ns + _cooldown_ns(ctx) - ctx.now
        raise upstream.unavailable(ctx, failed.ended, -(-left_ns // SECOND_NS))
    if recent or upstream.is_fresh(ctx, kept.kept, _cooldown_ns(ctx)):
        raise LoginRefused("unknown_key")
    return settings.retries


def _fetch(
    ctx: Context, settings: CloudSettings, retries: RetryPolicy
) -> Generator[Fetch, Response, upstream.FetchAttempt | None]:
    """Fetch the key set, before it the discovery document where that is old; return the attempt that failed."""
    discovered = _discovered(ctx, settings)
    if discovered is None:
        attempt = yield from upstream.fetch_for_all(ctx, _wanted_document(ctx, settings), retries)
        discovered = _discovered(ctx, settings)
        if discovered is None or not attempt.succeeded:
            return attempt
    attempt = yield from upstream.fetch_for_all(ctx, _wanted_keys(ctx, settings, discovered), retries)
    return None if attempt.succeeded else attempt


def _refresh(ctx: Context, settings: CloudSettings) -> Generator[Fetch, Response, bool]:
    """Ask once for the key set, and before it for the discovery document where that is old (rule 1).

    Return whether the attempt came to an end, a good one or not: it did not where another has taken its place by now.
    """
    begun = upstream.begin_attempt(ctx, REFRESH, settings.fingerprint(KEYS))
    answer_by_ns = begun.began_ns + REFRESH_NS
    for document in (DISCOVERY, KEYS):
        discovered = _discovered(ctx, settings)
        if document == DISCOVERY and discovered is not None:
            continue
        want = _wanted_document(ctx, settings)
        if document == KEYS:
            assert discovered is not None, "it was kept just now"
            want = _wanted_keys(ctx, settings, discovered)
        asked = begun._replace(wanted=want.wanted)  # what it brings is as old as the attempt
        left_ns = max(answer_by_ns - ctx.now, 0)
        answer = yield want.fetch._replace(not_before_ns=ctx.now, timeout_ns=min(left_ns, REFRESH_NS))
        noted = upstream.find_attempt(ctx, REFRESH, begun.wanted)
        if noted != begun or not upstream.is_alive(ctx, begun, REFRESH_NS):
            return False
        ended = upstream.ended(ctx, asked, want, answer)
        if document == KEYS or not ended.succeeded:
            upstream.note_attempt(ctx, REFRESH, ended._replace(not_before_ns=begun.not_before_ns, wanted=begun.wanted))
            break
    return True


def _wanted_document(ctx: Context, settings: CloudSettings) -> upstream.Want:
    authority = settings.environment.authority
    path = f"/{settings.tenant_id}/.well-known/openid-configuration"
    return upstream.Want(
        DISCOVERY,
        settings.fingerprint(DISCOVERY),
        Fetch(authority, Request("GET", path)),
        lambda attempt, answer: _take_discovery(ctx, authority, attempt, answer),
    )


def _wanted_keys(ctx: Context, settings: CloudSettings, discovered: Discovered) -> upstream.Want:
    return upstream.Want(
        KEYS,
        settings.fingerprint(KEYS),
        Fetch(settings.environment.authority, Request("GET", discovered.keys_path)),
        lambda attempt, answer: _take_keys(ctx, discovered.issuer, attempt, answer),
    )


def _take_discovery(ctx: Context, authority: str, attempt: upstream.FetchAttempt, answer: Response) -> str:
    body = answer.body if type(answer.body) is dict else {}
    issuer, address = body.get("issuer"), body.get("jwks_uri")
    if wire_size(body) > MAX_DOCUMENT_BYTES:
        return "answered with a document that is too large"
    if not isinstance(issuer, str) or not issuer or "{" in issuer:
        return "answered with a document that names no issuer of one tenant"
    if not isinstance(address, str) or not address.startswith(f"{authority}/") or "?" in address or "#" in address:
        return "answered with a document that names no key set on its own host"
    upstream.keep_fetched(ctx, DISCOVERY, attempt, issuer, address.removeprefix(authority))
    return ""


def _decode_discovery(stored: bytes) -> Discovered:
    kept = upstream.read_kept(stored)
    return Discovered(kept, *(kept.row or ("", "")))


def _take_keys(ctx: Context, issuer: str, attempt: upstream.FetchAttempt, answer: Response) -> str:
    rows = acceptable_keys(answer.body)
    if not rows:
        return "answered with a set of no usable keys"
    upstream.keep_fetched(ctx, KEYS, attempt, issuer, rows)
    return ""


def _decode_keys(stored: bytes) -> KeySet:
    kept = upstream.read_kept(stored)
    issuer, rows = kept.row or ("", [])
    keys = {key_id: public_key(modulus, exponent) for key_id, modulus, exponent in rows}
    return KeySet(kept._replace(row=()), issuer, keys)


def acceptable_keys(document: Any) -> list[tuple[str, str, str]]:
    """Return name, modulus and exponent of the keys of a set that signatures are verified with (rule 5; RFC 7517)."""
    listed = document.get("keys") if type(document) is dict else None
    if not isinstance(listed, list) or wire_size(document) > MAX_DOCUMENT_BYTES:
        return []
    named = [key for key in listed if isinstance(key, dict) and isinstance(key.get("kid"), str)]
    times = Counter([key["kid"] for key in named])
    return [(key["kid"], key["n"], key["e"]) for key in named if times[key["kid"]] == 1 and _is_acceptable(key)]


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
