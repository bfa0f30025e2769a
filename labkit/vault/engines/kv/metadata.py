"""Secrets' metadata: list names, read, write, patch, delete with all versions (spec, KV v2 engine)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_duration, format_instant
from labkit.service.errors import NotFound
from labkit.service.message import Response, respond
from labkit.service.routing import Route
from labkit.vault.engines.kv import custom_metadata as custom
from labkit.vault.engines.kv.parameters import (
    CAS_REQUIRED,
    CLEANED_PATH,
    CUSTOM_METADATA,
    DELETE_AFTER,
    FOLDER,
    LIMIT,
    PATH,
    settings_sent,
)
from labkit.vault.engines.kv.store import (
    KEYS,
    find_existing,
    instant_or_empty,
    read_config,
    read_key,
    read_version,
    remove,
    write_key,
)
from labkit.vault.engines.kv.versions import Key

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.storage.storage_view import StorageView

CAS_MANDATED = '"cas_required" set to false, but is mandated by backend config. This value will be ignored.'


def list_secrets(ctx: EngineContext, path: str) -> dict[str, Any]:
    """List the names in a folder, sorted; folders end in ``/``, and nothing there is 404."""
    names = ctx.storage.list(KEYS + path)
    if not names:
        raise NotFound
    return {"keys": names}


def read_metadata(ctx: EngineContext, path: str) -> dict[str, Any]:
    """Read what is kept of a secret beside its data: settings, times and the facts of each version."""
    storage = ctx.storage
    key = read_key(storage, path)
    if key is None:
        raise NotFound
    return {
        "cas_required": key.cas_required,
        "created_time": format_instant(key.created_ns),
        "current_version": key.current,
        "custom_metadata": dict(key.custom_metadata) or None,
        "delete_version_after": format_duration(key.delete_after_s * SECOND_NS),
        "max_versions": key.max_versions,
        "oldest_version": key.oldest,
        "updated_time": format_instant(key.updated_ns),
        "versions": _versions(storage, path, key),
    }


def _versions(storage: StorageView, path: str, key: Key) -> dict[str, Any]:
    facts = ((number, read_version(storage, path, key, number)) for number in key.numbers)
    return {
        str(number): {
            "created_time": format_instant(version.created_ns),
            "deletion_time": instant_or_empty(version.deletion_ns),
            "destroyed": version.destroyed,
        }
        for number, version in facts
        if version is not None
    }


def write_metadata(
    ctx: EngineContext,
    path: str,
    max_versions: int | None,
    cas_required: bool | None,
    delete_version_after: int | None,
    custom_metadata: dict[str, Any] | None,
) -> None:
    """Write a secret's settings, those that are sent; a secret that is not there is made, without a version."""
    settings = settings_sent(max_versions, cas_required, delete_version_after)
    if "custom_metadata" in ctx.body:
        settings["custom_metadata"] = custom.replace(custom_metadata)
    if settings:
        storage = ctx.storage
        _store(ctx, storage, path, ctx.existing or Key(ctx.now, ctx.now), settings)


def patch_metadata(
    ctx: EngineContext,
    path: str,
    max_versions: int | None,
    cas_required: bool | None,
    delete_version_after: int | None,
    custom_metadata: dict[str, Any] | None,
) -> Response | None:
    """Change a secret's settings, those that are sent; custom metadata is merged name by name (RFC 7396)."""
    settings = settings_sent(max_versions, cas_required, delete_version_after)
    storage = ctx.storage
    key = read_key(storage, path)
    if "custom_metadata" in ctx.body:
        settings["custom_metadata"] = custom.merge(key.custom_metadata if key else (), custom_metadata)
    if key is None:
        return respond(404)
    if settings:
        _store(ctx, storage, path, key, settings)
    return None


def _store(ctx: EngineContext, storage: StorageView, path: str, key: Key, settings: dict[str, Any]) -> None:
    if settings.get("cas_required") is False and read_config(storage).cas_required:
        ctx.warn(CAS_MANDATED)
    write_key(storage, path, key._replace(**settings))


def delete_metadata(ctx: EngineContext, path: str) -> None:
    """Delete a secret with its metadata and all of its versions; nothing there is not an error."""
    storage = ctx.storage
    if read_key(storage, path) is not None:
        remove(storage, path)


_SETTINGS = (PATH, LIMIT, CAS_REQUIRED, DELETE_AFTER, CUSTOM_METADATA)

ROUTES = (
    Route("list", "metadata/<path>", list_secrets, (FOLDER,)),
    Route("read", "metadata/<path>", read_metadata, (CLEANED_PATH,)),
    Route("write", "metadata/<path>", write_metadata, _SETTINGS, exists=find_existing),
    Route("patch", "metadata/<path>", patch_metadata, _SETTINGS),
    Route("delete", "metadata/<path>", delete_metadata, (CLEANED_PATH,)),
)
