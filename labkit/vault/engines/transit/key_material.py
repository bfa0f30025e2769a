"""Key material: what a version's key is, read from the form in which it is imported.

Symmetric keys are their bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.algorithms import MAX_HMAC_KEY_BYTES, MIN_HMAC_KEY_BYTES, KeyType
from labkit.vault.engines.transit.keyring import HMAC_KEY_BYTES, Keyring, KeyVersion


class Material(NamedTuple):
    """What was imported: a key, or of a key pair the public half and, where that was sent, the private one."""

    key: bytes
    public: bytes = b""

    def __repr__(self) -> str:
        return "Material()"


def private_material(key_type: KeyType, raw: bytes) -> Material:
    """Read a symmetric key or the private half of a pair; raise BadRequest when the type has no such keys."""
    fits = (
        len(raw) == key_type.key_bytes if key_type.key_bytes else MIN_HMAC_KEY_BYTES <= len(raw) <= MAX_HMAC_KEY_BYTES
    )
    if not fits:
        raise BadRequest(f"invalid key size {len(raw)} bytes for key type {key_type.name}")
    return Material(raw)


def public_material(key_type: KeyType, text: str) -> Material:
    """Read the public half of a pair from PEM; raise BadRequest when the type has no such keys."""
    raise BadRequest(f"keys of type {key_type.name} have no public half")


def completed(keyring: Keyring, version: int, material: Material) -> Keyring | None:
    """Return the keyring with the private half of a version that had only the public one; None if they are no pair."""
    return None


def with_material(keyring: Keyring, material: Material, entropy: Callable[[int], bytes], now_ns: int) -> Keyring:
    """Return the keyring with a new latest version of imported material, and an HMAC key of its own."""
    if keyring.key_type.key_bytes:
        entry = KeyVersion(material.key, entropy(HMAC_KEY_BYTES), now_ns)
        return keyring._replace(versions=(*keyring.versions, entry))
    entry = KeyVersion(material.key, material.key, now_ns)
    return keyring._replace(versions=(*keyring.versions, entry), key_size=len(material.key))
