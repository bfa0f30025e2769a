"""Keyrings of external keys: made and rotated once the store has the key; each version names a managed key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.external.external_keys import Asking, ensure_stored, managed_key
from labkit.vault.engines.transit.keyring import (
    HMAC_KEY_BYTES,
    Keyring,
    KeyVersion,
    empty_keyring,
    read_keyring,
    write_keyring,
)
from labkit.vault.engines.transit.shown_keys import describe
from labkit.vault.managed_keys import ManagedKey

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def check_request(ctx: EngineContext, asked: Any) -> ManagedKey:
    """Return the managed key that a new key uses; raise BadRequest for what such a key cannot be."""
    if ctx.edition == "community":
        raise BadRequest("enterprise-only feature")
    for name in ("derived", "exportable", "allow_plaintext_backup", "key_size", "auto_rotate_period"):
        if getattr(asked, name):
            raise BadRequest(f"{name} is not possible for keys of type {asked.type}: their bytes stay in the key store")
    return managed_key(ctx, asked.managed_key_name, asked.managed_key_id)


def create(ctx: EngineContext, asked: Any) -> Asking:
    """Create a key of one version, the managed key that is named; one that exists stays as it is."""
    return _create(ctx, asked, check_request(ctx, asked))


def _create(ctx: EngineContext, asked: Any, key: ManagedKey) -> Asking:
    yield from ensure_stored(key)
    existing = read_keyring(ctx.storage, asked.name)  # read after the fetch: somebody may have been first
    if existing is not None:
        ctx.warn(f"key {asked.name} already existed")
        return describe(asked.name, existing)
    empty = empty_keyring(asked.type, derived=False, convergent=False, service_version=ctx.service_version)
    return _with_version(ctx, asked.name, empty, key)


def rotate(ctx: EngineContext, name: str, managed_key_name: str, managed_key_id: str) -> Asking:
    """Add a version, the managed key that is named."""
    return _rotate(ctx, name, managed_key(ctx, managed_key_name, managed_key_id))


def _rotate(ctx: EngineContext, name: str, key: ManagedKey) -> Asking:
    yield from ensure_stored(key)
    keyring = read_keyring(ctx.storage, name)
    if keyring is None or not keyring.key_type.external:
        raise BadRequest("key not found")
    return _with_version(ctx, name, keyring, key)


def _with_version(ctx: EngineContext, name: str, keyring: Keyring, key: ManagedKey) -> dict[str, Any]:
    """Store a keyring with one more version; its HMAC key is of this service (spec, Transit engine)."""
    entry = KeyVersion(b"", ctx.entropy(HMAC_KEY_BYTES), ctx.now, managed_id=key.id)
    keyring = keyring._replace(versions=(*keyring.versions, entry))
    write_keyring(ctx.storage, name, keyring)
    return describe(name, keyring)


def refuse(keyring: Keyring, work: str) -> None:
    """Raise BadRequest when a keyring's keys are external, for work that needs their bytes."""
    if keyring.key_type.external:
        raise BadRequest(f"{work} is not possible for keys of type {keyring.type}: their bytes stay in the key store")
