"""Keys from a key and a context, and nonces from a plaintext.

1. A derived key never works with the stored key itself: each context has a key of its own.
2. HKDF-SHA256 (RFC 5869) without salt, the context as info, serves every key that the service made.  The counter mode
   (one block of SP 800-108 with HMAC-SHA256, counter 0) serves very old keys and imported ones.
3. Convergent encryption takes its nonce from the caller (version 1), from context and plaintext (2), or from
   plaintext and a second derived key (3); new keys have version 3 only.
"""

from __future__ import annotations

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import HKDF_SHA256, NONCE_BYTES
from labkit.vault.engines.transit.refusals import ListedRefusal

COUNTER_BYTES = 32
NONCE_KEY_BYTES = 32

MISSING_CONTEXT = (
    "missing 'context' for key derivation; the key was created using a derived key, which means additional, "
    "per-request information must be included in order to perform operations with the key"
)


def derive(kdf: int, key: bytes, context: bytes, length: int) -> bytes:
    """Derive ``length`` bytes for a context; raise BadRequest without one, or when the function gives less."""
    if not context:
        raise BadRequest(MISSING_CONTEXT)
    if kdf == HKDF_SHA256:
        return hkdf(key, context, length)
    if length > COUNTER_BYTES:
        raise ListedRefusal("could not derive key, length too small")
    return counter_mode(key, context)[:length]


def hkdf(key: bytes, info: bytes, length: int) -> bytes:
    """Derive bytes with HKDF-SHA256 and no salt (RFC 5869)."""
    from cryptography.hazmat.primitives.hashes import SHA256  # loaded for the first derived key, not for any key
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, None, info).derive(key)


def counter_mode(key: bytes, context: bytes) -> bytes:
    """Derive 32 bytes in counter mode: one block, whose counter is 0, and no label (cf. SP 800-108)."""
    import hmac  # it loads OpenSSL once more: not for keys that are not derived

    counter, bits = (0).to_bytes(4, "big"), (8 * COUNTER_BYTES).to_bytes(4, "big")
    return hmac.digest(key, counter + context + bits, "sha256")


def convergent_nonce(key: bytes, plaintext: bytes) -> bytes:
    """Return the nonce that a plaintext has under a nonce key (versions 2 and 3)."""
    import hmac

    return hmac.digest(key, plaintext, "sha256")[:NONCE_BYTES]
