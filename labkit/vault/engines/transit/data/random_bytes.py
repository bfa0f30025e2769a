"""``random``: random bytes from the node's entropy; of a vault with a seed, they are a function of the seed.

The same handlers answer below the engine's mount and at ``sys/tools/random``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.routing import Route

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

SOURCES = ("platform", "seal", "all")
MAX_BYTES = 131_072
DEFAULT_BYTES = 32

NO_SEAL_ENTROPY = "no seal/entropy augmentation available, using platform entropy source"

ENCODINGS: dict[str, Callable[[bytes], str]] = {"hex": bytes.hex, "base64": to_base64}


def random(ctx: EngineContext, bytes: int | None, format: str | None, source: str | None) -> dict[str, Any]:  # noqa: A002 - the fields' own names
    """Draw random bytes."""
    count = DEFAULT_BYTES if bytes is None else bytes
    if count < 1:
        raise BadRequest('"bytes" cannot be less than 1')
    if count > MAX_BYTES:
        raise BadRequest(f'"bytes" should be less than {MAX_BYTES}')
    encode = ENCODINGS.get("base64" if format is None else format)
    if encode is None:
        raise BadRequest(f'unsupported encoding format "{format}"; must be "hex" or "base64"')
    if (source or "platform") not in SOURCES:
        raise BadRequest(f'unsupported entropy source "{source}"; must be "platform" or "seal", or "all"')
    if source == "seal":
        if ctx.edition == "community":  # decision C5
            raise BadRequest("enterprise-only feature")
        ctx.warn(NO_SEAL_ENTROPY)
    return {"random_bytes": encode(ctx.entropy(count))}


def random_named(
    ctx: EngineContext,
    place: str,
    bytes: int | None,  # noqa: A002 - the field's own name
    format: str | None,  # noqa: A002 - the field's own name
    source: str | None,
) -> dict[str, Any]:
    """Draw random bytes, from the source or as many as the path says."""
    if place in SOURCES:
        return random(ctx, bytes, format, place)
    return random(ctx, _count(place), format, source)


def random_from(ctx: EngineContext, place: str, urlbytes: str, format: str | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Draw as many random bytes as the path says from the source that it names."""
    return random(ctx, _count(urlbytes), format, place)


def _count(text: str) -> int:
    sign, digits = text[:1] in ("+", "-"), text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) != sign:
        raise BadRequest(f'error parsing url-set byte count: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text) if len(digits) <= len(str(MAX_BYTES)) else MAX_BYTES + 1 if text[0] != "-" else -1


BYTES = fields.integer("bytes", "how many, 1 to 131072; 32 when left out")
FORMAT = fields.text("format", "hex or base64")
SOURCE = fields.text("source", "platform, seal or all: all are the node's entropy")
PLACE = fields.segment("place", "platform, seal or all; or how many bytes")
URL_BYTES = fields.segment("urlbytes", "how many bytes")

ROUTES = (
    Route("write", "random", random, (BYTES, FORMAT, SOURCE)),
    Route("write", "random/<place>", random_named, (PLACE, BYTES, FORMAT, SOURCE)),
    Route("write", "random/<place>/<urlbytes>", random_from, (PLACE, URL_BYTES, FORMAT)),
)
