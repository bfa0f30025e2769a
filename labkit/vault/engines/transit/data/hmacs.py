"""``hmac/<name>``: keyed digests of data (RFC 2104), which ``verify`` compares.

1. Every version of every key has an HMAC key of its own; the version's envelope is before the digest.
2. Digests are compared in constant time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.fields import text
from labkit.service.message import Reply
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import batch
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, split_signed
from labkit.vault.engines.transit.hash_algorithms import KEYED_ALGORITHMS, check_certified
from labkit.vault.engines.transit.keyring import Keyring, existing_keyring
from labkit.vault.engines.transit.pairs.key_pairs import DEFAULT_HASH
from labkit.vault.engines.transit.parameters import BATCH_INPUT, INPUT, KEY_VERSION, NAME, REFERENCE, URL_ALGORITHM
from labkit.vault.engines.transit.signatures import message_of

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

MISSING_INPUT = "missing input for HMAC"

Item = Mapping[str, Any]


class HmacRequest(NamedTuple):
    """The fields of an HMAC request: one input or a batch."""

    name: str
    key_version: int
    algorithm: str | None
    input: str | None
    reference: str | None
    batch_input: Any
    urlalgorithm: str | None = None

    def __repr__(self) -> str:
        return f"HmacRequest({self.name})"  # never what is sent with it


def generate_hmac(ctx: EngineContext, asked: HmacRequest) -> dict[str, Any] | Reply:
    """Compute the keyed digest of one input, or of each item of a batch."""
    keyring = existing_keyring(ctx.storage, asked.name)
    version = keyring.version_to_hmac(asked.key_version)
    key = keyring.live(version).hmac_key
    digest_name = digest_named(asked.urlalgorithm or asked.algorithm or "", fips=ctx.fips)
    head = f"{ENVELOPE}{version}:"

    def one(item: Item, position: int = 0) -> batch.Result:
        if item.get("input") is None:
            raise BadRequest(MISSING_INPUT)
        return {"hmac": head + to_base64(_digest(key, message_of(item), digest_name))}

    if asked.batch_input is not None:
        items = batch.read_texts(asked.batch_input, batch.HMAC_MEMBERS)
        return batch.answer(ctx, *batch.work(items, one, {}))
    return one({"input": asked.input})


def digest_named(name: str, *, fips: bool) -> str:
    """Return the standard library's name of a hash algorithm; raise BadRequest for one that HMAC cannot use."""
    if name not in KEYED_ALGORITHMS:
        raise BadRequest(f"unsupported algorithm '{name}'")
    check_certified(name, fips=fips)
    return KEYED_ALGORITHMS[name].lower()


def _digest(key: bytes, message: bytes, digest_name: str) -> bytes:
    import hmac  # it loads OpenSSL once more: not for what needs none

    return hmac.digest(key, message, digest_name)


def verify(keyring: Keyring, digest_name: str, item: Item) -> bool:
    """Whether an item's digest is that of its input under one of the keyring's live versions; raise BadRequest."""
    import hmac

    message = message_of(item)
    version, coded = split_signed(item["hmac"], "HMAC", "HMAC to verify")
    try:
        digest = from_base64(coded)
    except BadRequest as error:
        raise BadRequest(f"unable to decode verification HMAC as base64: {error.errors[0]}") from None
    keyring.check_hmac_verification(version)
    return hmac.compare_digest(digest, _digest(keyring.live(version).hmac_key, message, digest_name))


ALGORITHM = text("algorithm", "sha2-224, -256, -384 or -512, sha3- the same, or sha1", DEFAULT_HASH)
FIELDS = (NAME, KEY_VERSION, ALGORITHM, INPUT, REFERENCE, BATCH_INPUT)

ROUTES = (
    Route("write", "hmac/<name>", generate_hmac, Form(HmacRequest, FIELDS)),
    Route("write", "hmac/<name>/<urlalgorithm>", generate_hmac, Form(HmacRequest, (*FIELDS, URL_ALGORITHM))),
)
