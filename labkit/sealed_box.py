"""Sealed boxes: a message encrypted for the holder of an exchange key, from entropy bytes (HPKE, RFC 9180).

1. Entropy is an argument: the same entropy bytes, plaintext, key and context give the same box.  Entropy used
   twice would encrypt two plaintexts under one key and nonce, so every box draws its own.
2. A box is a version byte 0x01, then what single-shot sealing in RFC 9180's base mode gives: the public half
   of an ephemeral X25519 key (32 bytes), the AES-256-GCM ciphertext, its tag (16 bytes).  The suite is
   DHKEM(X25519, HKDF-SHA256) 0x0020, HKDF-SHA256 0x0001, AES-256-GCM 0x0002; the context is ``info``; the
   associated data is empty.
3. Key and nonce depend on both public keys and on the context: decryption needs the private key and the same
   context.  A box does not authenticate its sender.
4. A box that cannot be decrypted raises ValueError with the reason.  No message shows a key or a plaintext.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Entropy: TypeAlias = Callable[[int], bytes]

VERSION = b"\x01"
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16

# The suite by its numbers (RFC 9180, 7.1 to 7.3), as the labels of the key derivation hold it (4 and 5.1).
KEM_SUITE = b"KEM\x00\x20"
SUITE = b"HPKE\x00\x20\x00\x01\x00\x02"
BASE_MODE = b"\x00"


def make_exchange_key(entropy: Entropy) -> tuple[bytes, bytes]:
    """Make an X25519 key (RFC 7748): private and public half, 32 bytes each."""
    private = entropy(KEY_BYTES)
    return private, _public_half(private)


def seal_to(public: bytes, plaintext: bytes, entropy: Entropy, context: bytes = b"") -> bytes:
    """Encrypt for the holder of an exchange key; the box is 49 bytes longer than the plaintext."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    ephemeral, encapsulated = make_exchange_key(entropy)
    key, nonce = _key_and_nonce(_exchange(ephemeral, public), encapsulated + public, context)
    return VERSION + encapsulated + AESGCM(key).encrypt(nonce, plaintext, None)


def open_sealed(private: bytes, box: bytes, context: bytes = b"") -> bytes:
    """Decrypt a box; ValueError for another key or context, and for any altered byte."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    min_bytes = len(VERSION) + KEY_BYTES + TAG_BYTES
    if not box.startswith(VERSION) or len(box) < min_bytes:
        raise ValueError(f"a sealed box begins with the byte 1 and has at least {min_bytes} bytes; this one does not")
    encapsulated, ciphertext = box[1 : 1 + KEY_BYTES], box[1 + KEY_BYTES :]
    public_keys = encapsulated + _public_half(private)
    key, nonce = _key_and_nonce(_exchange(private, encapsulated), public_keys, context)
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, None)
    except InvalidTag:
        raise ValueError("the box cannot be decrypted: it was sealed for another key or context, or altered") from None


def _public_half(private: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def _exchange(private: bytes, public: bytes) -> bytes:
    """Return the 32 shared bytes; ValueError for a public key with which they are always zeros (RFC 7748, 6.1)."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    if len(public) != KEY_BYTES:
        raise ValueError(f"a public exchange key has {KEY_BYTES} bytes, not {len(public)}")
    own, other = X25519PrivateKey.from_private_bytes(private), X25519PublicKey.from_public_bytes(public)
    try:
        return own.exchange(other)
    except ValueError:
        raise ValueError("this public exchange key gives no secrecy: it is of small order") from None


def _key_and_nonce(shared_key: bytes, public_keys: bytes, context: bytes) -> tuple[bytes, bytes]:
    """Derive a box's key and nonce: ExtractAndExpand, then KeySchedule of base mode (RFC 9180, 4.1, 5.1)."""
    extracted = _extract(KEM_SUITE, b"", b"eae_prk", shared_key)
    shared = _expand(KEM_SUITE, extracted, b"shared_secret", public_keys, KEY_BYTES)
    no_psk = _extract(SUITE, b"", b"psk_id_hash", b"")
    schedule = BASE_MODE + no_psk + _extract(SUITE, b"", b"info_hash", context)
    secret = _extract(SUITE, shared, b"secret", b"")
    key = _expand(SUITE, secret, b"key", schedule, KEY_BYTES)
    return key, _expand(SUITE, secret, b"base_nonce", schedule, NONCE_BYTES)


def _extract(suite: bytes, salt: bytes, label: bytes, value: bytes) -> bytes:
    """LabeledExtract (RFC 9180, 4) over the first half of HKDF (RFC 5869, 2.2)."""
    from hmac import digest

    return digest(salt, b"HPKE-v1" + suite + label + value, "sha256")


def _expand(suite: bytes, secret: bytes, label: bytes, context: bytes, size_bytes: int) -> bytes:
    """LabeledExpand (RFC 9180, 4) over the second half of HKDF (RFC 5869, 2.3)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

    label = size_bytes.to_bytes(2, "big") + b"HPKE-v1" + suite + label
    return HKDFExpand(SHA256(), size_bytes, label + context).derive(secret)
