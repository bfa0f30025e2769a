"""Secrets' data: read a version, write or patch a new one, delete the current one (spec, KV v2 engine)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.message import Reply, Response, respond
from labkit.service.routing import Route
from labkit.vault.engines.kv.parameters import DATA, OPTIONS, PATH, VERSION
from labkit.vault.engines.kv.store import (
    append,
    describe,
    encode_data,
    find_existing,
    find_version,
    read_config,
    read_data,
    read_key,
    read_version,
    write_versions,
)
from labkit.vault.engines.kv.versions import Key, after, check_cas, is_live

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

NO_DATA = "no data provided"


def read_secret(ctx: EngineContext, path: str, version: int | None) -> dict[str, Any] | Reply:
    """Read a version of a secret; one that is deleted or destroyed is 404, with its metadata and without its data."""
    storage = ctx.storage
    key, number, facts = find_version(storage, path, version)
    metadata = describe(key, number, facts)
    if not is_live(facts, ctx.is_past):
        return Reply({"data": None, "metadata": metadata}, 404)
    return {"data": read_data(storage, path, number), "metadata": metadata}


def write_secret(
    ctx: EngineContext, path: str, data: dict[str, Any] | None, options: dict[str, Any] | None
) -> dict[str, Any]:
    """Write a new version of a secret."""
    if "data" not in ctx.body:
        raise BadRequest(NO_DATA)
    storage = ctx.storage
    key = ctx.existing or Key(ctx.now, ctx.now)
    config = read_config(storage)
    if options or key.cas_required or config.cas_required:
        check_cas(options, required=key.cas_required or config.cas_required, current=key.current)
    return append(storage, path, key, config, encode_data(data), ctx.now)


def patch_secret(
    ctx: EngineContext, path: str, data: dict[str, Any] | None, options: dict[str, Any] | None
) -> dict[str, Any] | Reply | Response:
    """Write a new version that is the current one with a merge patch laid over it (RFC 7396)."""
    if data is None:
        raise BadRequest(NO_DATA)
    storage = ctx.storage
    key = read_key(storage, path)
    if key is None:
        return respond(404)
    config = read_config(storage)
    check_cas(options, required=key.cas_required or config.cas_required, current=key.current)
    facts = read_version(storage, path, key, key.current)
    if facts is None:
        return respond(404)
    if not is_live(facts, ctx.is_past):
        return Reply(describe(key, key.current, facts), 404)
    from labkit.vault.engines.kv.merge import merge_patch  # by the first patch (R24)

    merged = merge_patch(read_data(storage, path, key.current), data)
    return append(storage, path, key, config, encode_data(merged), ctx.now)


def delete_secret(ctx: EngineContext, path: str) -> None:
    """Delete the current version of a secret, so that it can be undeleted; nothing there is not an error."""
    storage = ctx.storage
    key = read_key(storage, path)
    if key is None:
        return
    facts = read_version(storage, path, key, key.current)
    if facts is None:
        return
    changed = after("delete", facts, ctx.now)
    if changed is not facts:
        write_versions(storage, path, key, {key.current: changed})


ROUTES = (
    Route("read", "data/<path>", read_secret, (PATH, VERSION)),
    Route("write", "data/<path>", write_secret, (PATH, DATA, OPTIONS), exists=find_existing),
    Route("patch", "data/<path>", patch_secret, (PATH, DATA, OPTIONS)),
    Route("delete", "data/<path>", delete_secret, (PATH,)),
)
