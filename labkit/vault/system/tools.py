"""Tools that touch nothing stored: ``sys/tools/random`` and ``sys/tools/hash``.

Random bytes come from the node's entropy: of a vault with a seed, they are a function of the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.engines.transit.encoding import from_base64

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.hashes import HashAlgorithm

    from labkit.vault.context import Context

SOURCES = ("platform", "seal", "all")
MAX_BYTES = 131_072
DEFAULT_BYTES = 32

NO_SEAL_ENTROPY = "no seal/entropy augmentation available, using platform entropy source"

ENCODINGS: dict[str, Callable[[bytes], str]] = {"hex": bytes.hex, "base64": to_base64}

ALGORITHMS = {
    **{f"sha2-{bits}": f"SHA{bits}" for bits in (224, 256, 384, 512)},
    **{f"sha3-{bits}": f"SHA3_{bits}" for bits in (224, 256, 384, 512)},
}
"""{name in the API: name in the library} of each hash algorithm."""


def random(ctx: Context, bytes: int | None, format: str | None, source: str | None) -> dict[str, Any]:  # noqa: A002 - the fields' own names
    """Draw random bytes."""
    count = DEFAULT_BYTES if bytes is None else bytes
    if count < 1:
        raise BadRequest('"bytes" cannot be less than 1')
    if count > MAX_BYTES:
        raise BadRequest(f'"bytes" should be less than {MAX_BYTES}')
    encode = ENCODINGS.get(format or "base64")
    if encode is None:
        raise BadRequest(f'unsupported encoding format "{format}"; must be "hex" or "base64"')
    if (source or "platform") not in SOURCES:
        raise BadRequest(f'unsupported entropy source "{source}"; must be "platform" or "seal", or "all"')
    if source == "seal":
        ctx.warn(NO_SEAL_ENTROPY)
    return {"random_bytes": encode(ctx.entropy(count))}


def random_named(ctx: Context, place: str, bytes: int | None, format: str | None, source: str | None) -> dict[str, Any]:  # noqa: A002 - the fields' own names
    """Draw random bytes, from the source or as many as the path says."""
    if place in SOURCES:
        return random(ctx, bytes, format, place)
    return random(ctx, _count(place), format, source)


def random_from(ctx: Context, place: str, urlbytes: str, format: str | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Draw as many random bytes as the path says from the source that it names."""
    return random(ctx, _count(urlbytes), format, place)


def _count(text: str) -> int:
    sign, digits = text[:1] in ("+", "-"), text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) != sign:
        raise BadRequest(f'error parsing url-set byte count: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text) if len(digits) <= len(str(MAX_BYTES)) else MAX_BYTES + 1 if text[0] != "-" else -1


def hash_input(ctx: Context, input: str | None, algorithm: str | None, format: str | None) -> dict[str, Any]:  # noqa: A002 - the fields' own names
    """Hash base64-encoded input."""
    if input is None:
        raise BadRequest("input missing")
    try:
        value = from_base64(input)
    except BadRequest as error:
        raise BadRequest(f"unable to decode input as base64: {error.errors[0]}") from None
    encode = ENCODINGS.get(format or "hex")
    if encode is None:
        raise BadRequest(f'unsupported encoding format {format}; must be "hex" or "base64"')
    name = algorithm or "sha2-256"
    if name not in ALGORITHMS:
        raise BadRequest(f"unsupported algorithm {name}")
    if ctx.fips and name.startswith("sha3"):  # decision C8
        certified = ", ".join(known for known in ALGORITHMS if known.startswith("sha2"))
        raise BadRequest(f"{name} is not certified for FIPS 140-2 mode, which is on; certified: {certified}")
    return {"sum": encode(_digest(ALGORITHMS[name], value))}


def hash_named(
    ctx: Context,
    urlalgorithm: str,
    input: str | None,  # noqa: A002 - the field's own name
    algorithm: str | None,
    format: str | None,  # noqa: A002 - the field's own name
) -> dict[str, Any]:
    """Hash base64-encoded input with the algorithm that the path names."""
    return hash_input(ctx, input, urlalgorithm, format)


def _digest(name: str, value: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes  # few requests need them (R24)

    algorithm: HashAlgorithm = getattr(hashes, name)()
    digest = hashes.Hash(algorithm)
    digest.update(value)
    return digest.finalize()


BYTES = fields.integer("bytes", "how many, 1 to 131072; 32 when left out")
FORMAT = fields.text("format", "hex or base64")
SOURCE = fields.text("source", "platform, seal or all: all are the node's entropy")
PLACE = fields.segment("place", "platform, seal or all; or how many bytes")
INPUT = fields.text("input", "what to hash, as base64")
ALGORITHM = fields.text("algorithm", "sha2-224, -256, -384 or -512, or sha3-; sha2-256 when left out")

ROUTES = (
    Route("write", "tools/random", random, (BYTES, FORMAT, SOURCE)),
    Route("write", "tools/random/<place>", random_named, (PLACE, BYTES, FORMAT, SOURCE)),
    Route(
        "write",
        "tools/random/<place>/<urlbytes>",
        random_from,
        (PLACE, fields.segment("urlbytes", "how many bytes"), FORMAT),
    ),
    Route("write", "tools/hash", hash_input, (INPUT, ALGORITHM, FORMAT)),
    Route(
        "write",
        "tools/hash/<urlalgorithm>",
        hash_named,
        (fields.segment("urlalgorithm", "the algorithm"), INPUT, ALGORITHM, FORMAT),
    ),
)
