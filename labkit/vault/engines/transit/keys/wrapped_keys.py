"""Wrapped keys: key material on its way between two services, readable only with the private key of the receiver.

1. A wrapped key is an RSA-OAEP block (RFC 8017), as long as the receiver's modulus, that holds a 256-bit AES key used
   once, and the material under that key (AES-KWP: RFC 5649, NIST SP 800-38F).
2. Both hashes of OAEP are the same one; its label is empty.
3. What OAEP gives cannot be seeded: a wrapped key is an answer and never stored (R8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.padding import OAEP
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

HASHES = ("SHA1", "SHA224", "SHA256", "SHA384", "SHA512")
DEFAULT_HASH = "SHA256"

AES_KEY_BYTES = 32
KWP_BLOCK_BYTES = 8
MIN_MATERIAL_BYTES, MAX_MATERIAL_BYTES = 16, 8192


def check_hash(named: str) -> str:
    """Return a hash's own name for one in any case; raise BadRequest for an unknown one."""
    name = named.upper()
    if name not in HASHES:
        raise BadRequest(f"unknown hash function: {named}")
    return name


def wrap(receiver: RSAPublicKey, material: bytes, hash_name: str, entropy: Callable[[int], bytes]) -> bytes:
    """Wrap key material for the holder of a private key."""
    from cryptography.hazmat.primitives.keywrap import aes_key_wrap_with_padding

    key = entropy(AES_KEY_BYTES)
    return receiver.encrypt(key, _padding(hash_name)) + aes_key_wrap_with_padding(key, material)


def unwrap(private: RSAPrivateKey, wrapped: bytes, hash_name: str) -> bytes:
    """Return the key material; raise BadRequest for what was not wrapped for this key with this hash, or altered."""
    block_bytes = private.key_size // 8
    if len(wrapped) <= block_bytes:
        raise ListedRefusal("provided ciphertext is too short")
    try:
        key = private.decrypt(wrapped[:block_bytes], _padding(hash_name))
    except ValueError:
        raise ListedRefusal("crypto/rsa: decryption error") from None
    if len(key) != AES_KEY_BYTES:
        raise ListedRefusal("expected ephemeral AES key to be 256-bit")
    return _unwrap_material(key, wrapped[block_bytes:])


def _unwrap_material(key: bytes, wrapped: bytes) -> bytes:
    from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap_with_padding

    if len(wrapped) < MIN_MATERIAL_BYTES + KWP_BLOCK_BYTES:
        raise ListedRefusal("kwp: wrapped key size too small")
    if len(wrapped) > MAX_MATERIAL_BYTES + KWP_BLOCK_BYTES:
        raise ListedRefusal("kwp: wrapped key size too large")
    if len(wrapped) % KWP_BLOCK_BYTES:
        raise ListedRefusal("kwp: wrapped key size must be a multiple of 8 bytes")
    try:
        return aes_key_unwrap_with_padding(key, wrapped)
    except InvalidUnwrap:
        raise ListedRefusal("kwp: unwrap failed integrity check") from None


def _padding(hash_name: str) -> OAEP:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP

    algorithm = getattr(hashes, hash_name)()
    return OAEP(MGF1(algorithm), algorithm, None)
