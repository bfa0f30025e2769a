"""Key material: what a version's key is, read from the form in which it is imported or stands in a backup."""

from __future__ import annotations

from collections.abc import Callable

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.algorithms import MAX_HMAC_KEY_BYTES, MIN_HMAC_KEY_BYTES, KeyType
from labkit.vault.engines.transit.keyring import HMAC_KEY_BYTES, Keyring, KeyVersion
from labkit.vault.engines.transit.keys import pair_material


class Material(NamedTuple):
    """A key as it is stored; of a pair the private half, empty where it is not known, and the public one."""

    key: bytes
    public: bytes = b""

    def __repr__(self) -> str:
        return "Material()"


def private_material(key_type: KeyType, raw: bytes) -> Material:
    """Read a symmetric key or the private half of a pair; raise BadRequest when the type has no such keys."""
    if key_type.pair is not None:
        return Material(*pair_material.read_private(key_type, raw))
    sizes = range(MIN_HMAC_KEY_BYTES, MAX_HMAC_KEY_BYTES + 1) if key_type.is_hmac else (key_type.key_bytes,)
    if len(raw) not in sizes:
        raise BadRequest(f"invalid key size {len(raw)} bytes for key type {key_type.name}")
    return Material(raw)


def public_material(key_type: KeyType, text: str) -> Material:
    """Read the public half of a pair; raise BadRequest when the type has no such keys."""
    return Material(b"", pair_material.read_public(key_type, text))


def private_text(key_type: KeyType, stored: bytes) -> str:
    """Write a stored key as export shows it; nothing for a private half that is not known."""
    if key_type.pair is None:
        return to_base64(stored)
    return pair_material.private_text(key_type.pair.private_key(stored)) if stored else ""


def wrapped_form(key_type: KeyType, stored: bytes) -> bytes:
    """Return a stored key in the form in which import takes it."""
    if key_type.pair is None:
        return stored
    return pair_material.to_pkcs8(key_type.pair.private_key(stored))


def with_material(keyring: Keyring, material: Material, entropy: Callable[[int], bytes], now_ns: int) -> Keyring:
    """Return the keyring with a new latest version of imported material, and an HMAC key of its own."""
    is_hmac = keyring.key_type.is_hmac
    hmac_key = material.key if is_hmac else entropy(HMAC_KEY_BYTES)
    entry = KeyVersion(material.key, hmac_key, now_ns, public=material.public)
    changed = keyring._replace(versions=(*keyring.versions, entry))
    return changed._replace(key_size=len(material.key)) if is_hmac else changed


def completed(keyring: Keyring, version: int, material: Material) -> Keyring | None:
    """Return the keyring with the private half of a version that had only the public one; None if they are no pair."""
    entry = keyring.live(version)
    if entry.key or entry.public != material.public:
        return None
    entries = list(keyring.versions)
    entries[version - keyring.oldest_version] = entry._replace(key=material.key)
    return keyring._replace(versions=tuple(entries))
