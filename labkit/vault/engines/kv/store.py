"""Where an engine keeps its secrets: the key's record with the facts of its newest versions, each version's data apart.

1. ``keys/<path>`` is the key's record, so that listing secrets is listing names.  ``versions/<path>/<n>.data`` is a
   version's data, ``versions/<path>/<n>`` its facts where they are not in the key's record: those of the versions
   behind the newest ten, and all that an earlier release wrote.  The last segment is always a version's, so ``a`` and
   ``a/1`` can both hold secrets.  So a write stores two values, and nothing but a reading of data touches data.
2. Data is kept as the bytes of its JSON and decoded again for each answer: no caller shares an object with another.
3. Times are stored as integers; text is in answers only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.service.durations import format_instant, format_stored
from labkit.service.errors import BadRequest, Internal, NotFound, one_error
from labkit.vault.engines.kv.versions import Config, Key, Version, add_version, text_of
from labkit.vault.storage.records import decode_record, encode_record, to_json

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.storage.storage_view import StorageView

CONFIG = "config"
KEYS = "keys/"
VERSIONS = "versions/"
VALUES = "values/"  # of version 1 of the engine
DATA = ".data"

STORED_FIELDS = len(Key._fields) - 1

UNSET = Config()


def read_config(storage: StorageView) -> Config:
    """Return the engine's settings; all zero until they are written."""
    return storage.decoded(CONFIG, _decode_config) or UNSET


def _decode_config(stored: bytes) -> Config:
    return Config(*decode_record(stored))


def write_config(storage: StorageView, config: Config) -> None:
    """Store the engine's settings."""
    storage.put(CONFIG, encode_record(config))


def read_key(storage: StorageView, path: str) -> Key | None:
    """Return a key's record, or None."""
    return storage.decoded(KEYS + path, _decode_key)


def _decode_key(stored: bytes) -> Key:
    values = decode_record(stored)
    if len(values) < STORED_FIELDS:
        values.append(())  # an earlier release kept no facts there
    *_, custom_metadata, recent = values
    values[-2] = tuple(map(tuple, custom_metadata))
    values[-1] = tuple([tuple(facts) if type(facts) is list else facts for facts in recent])
    values.append(text_of(values[-1]))
    return Key(*values)


def encode_key(key: Key) -> bytes:
    """Write a key's record: JSON, as ``encode_record`` would write all of its fields but the last."""
    created_ns, updated_ns, current, oldest, limit, cas_required, delete_after_s, custom_metadata, recent, text = key
    required, metadata = "true" if cas_required else "false", to_json(custom_metadata) if custom_metadata else "[]"
    settings = f"{limit},{required},{delete_after_s},{metadata}"
    return f"[{created_ns},{updated_ns},{current},{oldest},{settings},[{text or text_of(recent)}]]".encode()


def write_key(storage: StorageView, path: str, key: Key) -> None:
    """Store a key's record."""
    storage.put(KEYS + path, encode_key(key), key)


def find_existing(ctx: EngineContext, path: str) -> Key | None:
    """Return the record of a key that a write updates, in whatever state its versions are."""
    return ctx.storage.decoded(KEYS + path, _decode_key)


def read_version(storage: StorageView, path: str, key: Key, number: int) -> Version | None:
    """Return the facts of a key's version; None for one that never was or is pruned."""
    version = key.recent_version(number)
    if version is not None or number not in key.numbers:
        return version
    return storage.decoded(f"{VERSIONS}{path}/{number}", _decode_version)


def _decode_version(stored: bytes) -> Version:
    return Version(*decode_record(stored))


def write_versions(storage: StorageView, path: str, key: Key, changed: dict[int, Version]) -> None:
    """Store other facts of versions of a key, by their numbers."""
    grown = key
    for number, version in changed.items():
        if number >= key.first_recent:
            grown = grown.with_version(number, version)
        else:
            _write_apart(storage, path, number, version)
    if grown is not key:
        write_key(storage, path, grown)


def _write_apart(storage: StorageView, path: str, number: int, version: Version) -> None:
    storage.put(f"{VERSIONS}{path}/{number}", encode_record(version), version)


def find_version(storage: StorageView, path: str, number: int | None) -> tuple[Key, int, Version]:
    """Return a key, and number and facts of its version; None, 0 or less is the current one; raise NotFound."""
    key = read_key(storage, path)
    if key is None:
        raise NotFound
    if number is None or number <= 0:
        number = key.current
    version = read_version(storage, path, key, number)
    if version is None:
        raise NotFound
    return key, number, version


def read_data(storage: StorageView, path: str, number: int) -> Any:
    """Return the data of a version, decoded for this caller only; raise Internal when it is not in storage."""
    stored = storage.get(f"{VERSIONS}{path}/{number}{DATA}")
    if stored is None:
        raise Internal(one_error("could not find version data"))
    return decode_record(stored)


def drop_data(storage: StorageView, path: str, number: int) -> None:
    """Delete the data of a version; its facts stay."""
    storage.delete(f"{VERSIONS}{path}/{number}{DATA}")


def encode_data(data: Any) -> bytes:
    """Write a secret's data as it is kept; raise BadRequest for what JSON cannot carry."""
    try:
        return encode_record(data)
    except ValueError:  # not a number, infinite, too many digits, half of a surrogate pair
        raise BadRequest("failed to decode JSON input: a number or text of the data is not one that JSON has") from None


def append(storage: StorageView, path: str, key: Key, config: Config, data: bytes, now_ns: int) -> dict[str, Any]:
    """Store a new version of a key, prune those beyond the limit, and return the new one as answers show it."""
    grown, version, pruned = add_version(key, config, now_ns)
    folder, number = f"{VERSIONS}{path}/", grown.current
    first_recent = number - len(key.recent)
    for gone in pruned:
        if gone < first_recent:
            storage.delete(f"{folder}{gone}")
        storage.delete(f"{folder}{gone}{DATA}")
    if grown.oldest <= first_recent <= number - len(grown.recent):
        leaving = key.recent_version(first_recent)
        if leaving is not None:
            _write_apart(storage, path, first_recent, leaving)
    storage.put(f"{folder}{number}{DATA}", data)
    storage.put(KEYS + path, encode_key(grown), grown)
    return describe(grown, number, version, format_instant)


def remove(storage: StorageView, path: str) -> None:
    """Delete a key with all of its versions; other secrets keep theirs, also those below this one's path."""
    folder = f"{VERSIONS}{path}/"
    for name in storage.list(folder):
        if not name.endswith("/"):
            storage.delete(folder + name)
    storage.delete(KEYS + path)


def describe(key: Key, number: int, version: Version, shown: Callable[[int], str] = format_stored) -> dict[str, Any]:
    """Return a version's facts as answers show them; the custom metadata is the key's."""
    created_ns, deletion_ns, destroyed = version
    custom_metadata = key.custom_metadata
    return {
        "created_time": shown(created_ns),
        "custom_metadata": dict(custom_metadata) if custom_metadata else None,
        "deletion_time": "" if deletion_ns is None else shown(deletion_ns),
        "destroyed": destroyed,
        "version": number,
    }


def instant_or_empty(instant_ns: int | None) -> str:
    """Write an instant, or the empty text for none."""
    return "" if instant_ns is None else format_instant(instant_ns)
