"""Ed25519 (RFC 8032): keys, signatures, and the pair that a context derives.

The private half is the seed and the public half behind it, 64 bytes, as backups and exports of the API have it.  The
algorithm has a hash of its own: neither a request's hash nor ``prehashed`` changes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.derivation import derive
from labkit.vault.engines.transit.pairs.key_pairs import KeySource, Scheme

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SEED_BYTES = 32


class Ed25519:
    """The one type of its kind."""

    shown_name = "ed25519"

    def make(self, source: KeySource) -> tuple[bytes, bytes]:
        """Make a pair from 32 drawn bytes."""
        return pair_of(source.entropy(SEED_BYTES))

    def private_key(self, stored: bytes) -> Ed25519PrivateKey:
        """Load a private half."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(stored[:SEED_BYTES])

    def public_key(self, stored: bytes) -> Ed25519PublicKey:
        """Load a public half."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(stored)

    def public_text(self, stored: bytes) -> str:
        """Write a public half as the API shows it: base64."""
        return to_base64(stored)

    def sign(self, key: Ed25519PrivateKey, message: bytes, scheme: Scheme) -> bytes:
        """Sign a message."""
        return key.sign(message)

    def verify(self, key: Ed25519PublicKey, signature: bytes, message: bytes, scheme: Scheme) -> bool:
        """Whether a signature was made over a message."""
        from cryptography.exceptions import InvalidSignature

        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def derive(self, kdf: int, stored: bytes, context: bytes) -> tuple[bytes, bytes]:
        """Derive the pair of a context: the derived bytes are its seed."""
        return pair_of(derive(kdf, stored, context, SEED_BYTES))


PAIR_TYPES = {"ed25519": Ed25519()}


def pair_of(seed: bytes) -> tuple[bytes, bytes]:
    """Return private and public half of the key with a seed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return seed + public, public
