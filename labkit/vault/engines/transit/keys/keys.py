"""``keys/`` and ``keys/<name>``: create, read, list and delete keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, NotFound
from labkit.service.fields import duration, flag, integer, text
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import external
from labkit.vault.engines.transit.algorithms import (
    DEFAULT_TYPE,
    KEY_TYPES,
    MAX_HMAC_KEY_BYTES,
    MIN_HMAC_KEY_BYTES,
    KeyType,
    type_for_new_key,
)
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.external import external_keyrings
from labkit.vault.engines.transit.keyring import (
    FOLDER,
    check_rotation_period,
    empty_keyring,
    read_keyring,
    rotate,
    write_keyring,
)
from labkit.vault.engines.transit.nonces import forget_counts
from labkit.vault.engines.transit.parameters import CONTEXT, CONVERGENT, MANAGED_ID, MANAGED_NAME, NAME
from labkit.vault.engines.transit.refusals import ListedRefusal
from labkit.vault.engines.transit.shown_keys import describe

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


class KeyRequest(NamedTuple):
    """The fields of a request to create a key."""

    name: str
    convergent_encryption: bool
    derived: bool
    exportable: bool
    allow_plaintext_backup: bool
    type: str
    key_size: int
    auto_rotate_period: int | None
    managed_key_name: str
    managed_key_id: str


def create_key(ctx: EngineContext, asked: KeyRequest) -> Any:
    """Create a key; one that exists stays as it is, and a warning says so.  For an external key it fetches."""
    period_s = asked.auto_rotate_period or 0
    check_rotation_period(period_s)
    if asked.convergent_encryption and not asked.derived:
        raise BadRequest("convergent encryption requires derivation to be enabled")
    key_type = type_for_new_key(asked.type, fips=ctx.fips, external=True)
    if key_type.external:
        return external_keyrings.create(ctx, asked)
    _check_key_size(key_type, asked.key_size)
    existing = read_keyring(ctx.storage, asked.name)
    if existing is not None:
        ctx.warn(f"key {asked.name} already existed")
        return describe(asked.name, existing)
    if asked.convergent_encryption and key_type.derives and not key_type.symmetric:
        raise ListedRefusal(f"convergent encryption not supported for keys of type {asked.type}")
    if asked.derived and not key_type.derives:
        raise ListedRefusal(f"key derivation and convergent encryption not supported for keys of type {asked.type}")
    keyring = empty_keyring(
        asked.type,
        derived=asked.derived,
        convergent=asked.convergent_encryption,
        service_version=ctx.service_version,
    )._replace(
        exportable=asked.exportable,
        allow_plaintext_backup=asked.allow_plaintext_backup,
        auto_rotate_period_s=period_s,
        key_size=asked.key_size or MIN_HMAC_KEY_BYTES if key_type.is_hmac else 0,
    )
    keyring = rotate(keyring, ctx, ctx.now)
    write_keyring(ctx.storage, asked.name, keyring)
    return describe(asked.name, keyring)


def _check_key_size(key_type: KeyType, size_bytes: int) -> None:
    if not size_bytes:
        return
    if not key_type.is_hmac:
        raise BadRequest(f"key_size is not valid for algorithm {key_type.name}")
    if not MIN_HMAC_KEY_BYTES <= size_bytes <= MAX_HMAC_KEY_BYTES:  # spec, Limits
        raise BadRequest(f"invalid key_size {size_bytes}")


def read_key(ctx: EngineContext, name: str, context: str | None) -> dict[str, Any]:
    """Return what a key is: its type, settings and live versions, never a secret key."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise NotFound
    try:
        return describe(name, keyring, from_base64(context) if context else b"")
    except BadRequest:
        raise BadRequest("failed to base64-decode context") from None


def list_keys(ctx: EngineContext) -> dict[str, Any]:
    """Return the names of all keys, sorted."""
    names = ctx.storage.list(FOLDER)
    if not names:
        raise NotFound
    return {"keys": names}


def delete_key(ctx: EngineContext, name: str) -> None:
    """Delete a key with all its versions; its settings must allow that."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise BadRequest(f"error deleting policy {name}: could not delete key; not found")
    if not keyring.deletion_allowed:
        raise BadRequest(f"error deleting policy {name}: deletion is not allowed for this key")
    ctx.storage.delete(FOLDER + name)
    forget_counts(ctx.storage, name)


TYPE = text("type", "type of the key", DEFAULT_TYPE, choices=tuple(sorted(KEY_TYPES)))
CREATE = (
    NAME,
    CONVERGENT,
    flag("derived", "whether each context has a key of its own; every request must then carry one", False),
    flag("exportable", "whether the key may be exported; cannot be taken back", False),
    flag("allow_plaintext_backup", "whether the key may be backed up in plaintext; cannot be taken back", False),
    TYPE,
    integer("key_size", "size of the key in bytes, 32 to 512; only for type hmac, which has 32 otherwise", 0),
    duration("auto_rotate_period", "after which time the key rotates by itself; 0 for never, else at least 1h", 0),
    MANAGED_NAME,
    MANAGED_ID,
)

ROUTES = (
    Route("list", "keys/", list_keys),
    # Lists end in a slash: this one never lists, but makes other operations on the bare path 405.
    Route("list", "keys", list_keys),
    Route("write", "keys/<name>", create_key, Form(KeyRequest, CREATE)).fetching_if(external.fetches_to_create),
    Route("read", "keys/<name>", read_key, (NAME, CONTEXT)),
    Route("delete", "keys/<name>", delete_key, (NAME,)),
)
