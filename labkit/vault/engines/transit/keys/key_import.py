"""``keys/<name>/import`` and ``/import_version``: keys from material that was made elsewhere.

1. Private and symmetric material comes wrapped for the mount's wrapping key.
2. An imported key is as any other, but rotates only where that was allowed, and is an imported one until it did.
3. Of a derived key imported here, contexts derive in counter mode, as on real servers; of an Ed25519 key with HKDF,
   because real servers can do nothing with such a key (decision T11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.fields import duration, flag, integer, text
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit.algorithms import COUNTER_MODE, HKDF_SHA256, KEY_TYPES, KeyType, type_for_new_key
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import (
    Keyring,
    check_rotation_period,
    read_keyring,
    write_keyring,
)
from labkit.vault.engines.transit.keys.key_material import (
    Material,
    completed,
    private_material,
    public_material,
    with_material,
)
from labkit.vault.engines.transit.keys.wrapped_keys import DEFAULT_HASH, check_hash, unwrap
from labkit.vault.engines.transit.keys.wrapping_key import wrapping_key
from labkit.vault.engines.transit.parameters import CONTEXT, NAME
from labkit.vault.engines.transit.refusals import ListedRefusal, item_text

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

PUBLIC_OF_DERIVED = (
    "unable to import only public key for derived Ed25519 key: imported key should not be an Ed25519 key pair "
    "but is instead an HKDF key"
)


class ImportRequest(NamedTuple):
    """The fields of a request to import a key."""

    name: str
    ciphertext: str
    hash_function: str
    type: str
    public_key: str
    allow_rotation: bool
    derived: bool
    context: str
    exportable: bool
    allow_plaintext_backup: bool
    auto_rotate_period: int | None

    def __repr__(self) -> str:
        return f"ImportRequest({self.name})"


def import_key(ctx: EngineContext, asked: ImportRequest) -> None:
    """Create a key from imported material."""
    if "convergent_encryption" in ctx.body:
        raise ListedRefusal("import cannot be used on keys with convergent encryption enabled")
    period_s = asked.auto_rotate_period or 0
    if period_s and not asked.allow_rotation:
        raise ListedRefusal("allow_rotation must be set to true if auto-rotation is enabled")
    check_rotation_period(period_s)
    key_type = _importable_type(asked.type, fips=ctx.fips)
    if asked.derived:
        _check_derived(key_type, asked.context)
    if read_keyring(ctx.storage, asked.name) is not None:
        raise ListedRefusal(
            "the import path cannot be used with an existing key; use import-version to rotate an existing imported key"
        )
    raw = _raw_material(ctx, key_type, asked.ciphertext, asked.public_key, asked.hash_function)
    material = _read(key_type, raw, asked.public_key, "error importing key: ")
    if asked.derived and not material.key:
        raise ListedRefusal(f"error importing key: {PUBLIC_OF_DERIVED}")
    keyring = Keyring(
        key_type.name,
        derived=asked.derived,
        kdf=HKDF_SHA256 if asked.derived and key_type.pair is not None else COUNTER_MODE,
        exportable=asked.exportable,
        allow_plaintext_backup=asked.allow_plaintext_backup,
        auto_rotate_period_s=period_s,
        imported=True,
        allow_rotation=asked.allow_rotation,
    )
    write_keyring(ctx.storage, asked.name, with_material(keyring, material, ctx.entropy, ctx.now))


def _importable_type(named: str, *, fips: bool) -> KeyType:
    name = named.lower()
    if not name:
        importable = sorted(each.name for each in KEY_TYPES.values() if not each.external)
        raise BadRequest("missing type: say what kind of key is imported, one of " + ", ".join(importable))
    if name not in KEY_TYPES:
        raise BadRequest(f"unknown key type: {named}")
    return type_for_new_key(name, fips=fips)


def _check_derived(key_type: KeyType, context: str) -> None:
    if not key_type.derives:
        raise ListedRefusal(f"key derivation and convergent encryption not supported for keys of type {key_type.name}")
    if not context:  # decision T10
        raise BadRequest("missing context: a key that is imported with derived needs one")
    try:
        from_base64(context)
    except BadRequest:
        raise BadRequest("failed to base64-decode context") from None


def _raw_material(ctx: EngineContext, key_type: KeyType, ciphertext: str, public_key: str, hash_function: str) -> bytes:
    """Unwrap what a request imports; nothing when that is only a public half."""
    hash_name = check_hash(hash_function)
    if ciphertext:
        return unwrap(wrapping_key(ctx), _wrapped(ciphertext), hash_name)
    if not public_key:
        raise BadRequest("missing ciphertext or public_key: the key to import, wrapped, or its public half")
    if key_type.pair is None:
        raise ListedRefusal("provided type does not support public_key import")
    return b""


def _read(key_type: KeyType, raw: bytes, public_key: str, prefix: str) -> Material:
    """Read imported material; where a private half came with a public one, the private half counts."""
    try:
        return private_material(key_type, raw) if raw else public_material(key_type, public_key)
    except BadRequest as refused:
        raise ListedRefusal(prefix + item_text(refused)) from None


def _wrapped(ciphertext: str) -> bytes:
    try:
        return from_base64(ciphertext)
    except BadRequest as refused:
        raise ListedRefusal(item_text(refused)) from None


def import_version(
    ctx: EngineContext, name: str, ciphertext: str, hash_function: str, public_key: str, version: int | None
) -> None:
    """Give an imported key another version, or a version that has only a public half its private one."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise ListedRefusal(f"no key found with name {name}; to import a new key, use the import/ endpoint")
    if not keyring.imported:
        raise ListedRefusal("the import_version endpoint can only be used with an imported key")
    if keyring.convergent_encryption:
        raise ListedRefusal("import_version cannot be used on keys with convergent encryption enabled")
    key_type = type_for_new_key(keyring.type, fips=ctx.fips)
    raw = _raw_material(ctx, key_type, ciphertext, public_key, hash_function)
    if version is not None:
        _check_completion(keyring, version, private=bool(ciphertext))
    material = _read(key_type, raw, public_key, "")
    if version is not None:
        changed = completed(keyring, version, material)
        if changed is None:
            raise ListedRefusal("cannot import key, key pair does not match")
    else:
        changed = completed(keyring, keyring.latest_version, material) if material.key else None
        changed = changed or with_material(keyring, material, ctx.entropy, ctx.now)
    write_keyring(ctx.storage, name, changed)


def _check_completion(keyring: Keyring, version: int, *, private: bool) -> None:
    try:
        entry = keyring.live(version)
    except BadRequest as refused:
        raise ListedRefusal(item_text(refused)) from None
    if keyring.key_type.pair is None:
        raise ListedRefusal("provided type does not support importing key versions")
    if entry.key:
        raise ListedRefusal("private key imported, key version cannot be updated")
    if not private:
        raise ListedRefusal("cannot add a public key to a key version that already has a public key set")


CIPHERTEXT = text("ciphertext", "the key to import, wrapped for wrapping_key, in base64", "")
HASH_FUNCTION = text("hash_function", "hash of the wrapping: SHA1, SHA224, SHA256, SHA384 or SHA512", DEFAULT_HASH)
PUBLIC_KEY = text("public_key", "public half to import instead, in PEM; the key then verifies or encrypts only", "")
IMPORT = (
    NAME,
    CIPHERTEXT,
    HASH_FUNCTION,
    text("type", "type of the key; required", "", choices=tuple(sorted(KEY_TYPES))),
    PUBLIC_KEY,
    flag("allow_rotation", "whether the service may rotate the key", False),
    flag("derived", "whether each context has a key of its own; every request must then carry one", False),
    CONTEXT._replace(default="", help="any context, in base64; required with derived"),
    flag("exportable", "whether the key may be exported; cannot be taken back", False),
    flag("allow_plaintext_backup", "whether the key may be backed up in plaintext; cannot be taken back", False),
    duration("auto_rotate_period", "after which time the key rotates by itself; 0 for never, else at least 1h", 0),
)
VERSION = integer("version", "the version whose private half this is; a new version when left out")

ROUTES = (
    Route("write", "keys/<name>/import", import_key, Form(ImportRequest, IMPORT)),
    Route(
        "write", "keys/<name>/import_version", import_version, (NAME, CIPHERTEXT, HASH_FUNCTION, PUBLIC_KEY, VERSION)
    ),
)
