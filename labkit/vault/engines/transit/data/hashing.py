"""``hash``: digests of data that the caller sends; no key takes part.

The same handlers answer below the engine's mount and at ``sys/tools/hash``, where no input is an empty one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.engines.transit.data.random_bytes import ENCODINGS, FORMAT
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.hash_algorithms import ALGORITHMS, algorithm, check_certified

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def hash_input(ctx: EngineContext, input: str | None, algorithm: str | None, format: str | None) -> dict[str, Any]:  # noqa: A002 - the fields' own names
    """Hash base64-encoded input."""
    if input is None:
        raise BadRequest("input missing")
    try:
        value = from_base64(input)
    except BadRequest as error:
        raise BadRequest(f"unable to decode input as base64: {error.errors[0]}") from None
    encode = ENCODINGS.get("hex" if format is None else format)
    if encode is None:
        raise BadRequest(f'unsupported encoding format {format}; must be "hex" or "base64"')
    name = "sha2-256" if algorithm is None else algorithm
    if name not in ALGORITHMS:
        raise BadRequest(f"unsupported algorithm {name}")
    check_certified(name, fips=ctx.fips)
    return {"sum": encode(_digest(name, value))}


def hash_named(
    ctx: EngineContext,
    urlalgorithm: str,
    input: str | None,  # noqa: A002 - the field's own name
    algorithm: str | None,
    format: str | None,  # noqa: A002 - the field's own name
) -> dict[str, Any]:
    """Hash base64-encoded input with the algorithm that the path names."""
    return hash_input(ctx, input, urlalgorithm, format)


def _digest(name: str, value: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes  # few requests need them (R24)

    digest = hashes.Hash(algorithm(name))
    digest.update(value)
    return digest.finalize()


INPUT = fields.text("input", "what to hash, as base64")
ALGORITHM = fields.text("algorithm", "sha2-224, -256, -384 or -512, or sha3-; sha2-256 when left out")
URL_ALGORITHM = fields.segment("urlalgorithm", "the algorithm")

ROUTES = (
    Route("write", "hash", hash_input, (INPUT, ALGORITHM, FORMAT)),
    Route("write", "hash/<urlalgorithm>", hash_named, (URL_ALGORITHM, INPUT, ALGORITHM, FORMAT)),
)
