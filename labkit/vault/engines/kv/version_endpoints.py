"""Versions by number: delete, undelete, destroy (spec, KV v2 engine).

Versions that there are not, and ones that an event leaves as they are, count as done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.engines.kv.parameters import NUMBERS, PATH
from labkit.vault.engines.kv.store import drop_data, read_config, read_key, read_version, write_versions
from labkit.vault.engines.kv.versions import after, lifetime_s

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def delete_versions(ctx: EngineContext, path: str, versions: list[int] | None) -> None:
    """Delete versions, so that they can be undeleted."""
    if not versions:
        raise BadRequest("No version number provided")
    _change(ctx, "delete", path, versions)


def undelete_versions(ctx: EngineContext, path: str, versions: list[int] | None) -> None:
    """Bring deleted versions back; each gets the time to deletion that a new version would get now."""
    if not versions:
        raise BadRequest("No version number provided")
    _change(ctx, "undelete", path, versions)


def destroy_versions(ctx: EngineContext, path: str, versions: list[int] | None) -> None:
    """Destroy versions: their data is deleted."""
    if not versions:
        raise BadRequest("no version number provided")
    _change(ctx, "destroy", path, versions)


def _change(ctx: EngineContext, event: str, path: str, numbers: list[int]) -> None:
    storage = ctx.storage
    key = read_key(storage, path)
    if key is None:
        return
    lifetime, changes = lifetime_s(read_config(storage), key), {}
    for number in dict.fromkeys(numbers):
        facts = read_version(storage, path, key, number)
        if facts is None:
            continue
        changed = after(event, facts, ctx.now, lifetime)
        if changed is facts:
            continue
        changes[number] = changed
        if changed.destroyed:
            drop_data(storage, path, number)
    write_versions(storage, path, key, changes)


ROUTES = (
    Route("write", "delete/<path>", delete_versions, (PATH, NUMBERS)),
    Route("write", "undelete/<path>", undelete_versions, (PATH, NUMBERS)),
    Route("write", "destroy/<path>", destroy_versions, (PATH, NUMBERS)),
)
