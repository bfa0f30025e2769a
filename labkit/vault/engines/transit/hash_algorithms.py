"""The hash algorithms: their names in the API, and the library's classes for them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.hashes import HashAlgorithm

ALGORITHMS = {
    **{f"sha2-{bits}": f"SHA{bits}" for bits in (224, 256, 384, 512)},
    **{f"sha3-{bits}": f"SHA3_{bits}" for bits in (224, 256, 384, 512)},
}
"""{name in the API: name in the library} of what hashes data."""

KEYED_ALGORITHMS = {"sha1": "SHA1", **ALGORITHMS}
"""The same of what works with a key, in HMAC and signatures: there SHA-1 is still known, for what was made long ago."""

NO_HASH = "none"


@cache
def algorithm(name: str) -> HashAlgorithm:
    """Return the library's object for a name that ``KEYED_ALGORITHMS`` has."""
    from cryptography.hazmat.primitives import hashes

    found: HashAlgorithm = getattr(hashes, KEYED_ALGORITHMS[name])()
    return found


def check_certified(name: str, *, fips: bool) -> None:
    """Raise BadRequest for an algorithm that FIPS 140-2 mode bars (decision C8)."""
    if fips and name.startswith("sha3"):
        certified = ", ".join(known for known in ALGORITHMS if known.startswith("sha2"))
        raise BadRequest(f"{name} is not certified for FIPS 140-2 mode, which is on; certified: {certified}")
