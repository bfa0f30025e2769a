"""``sys/plugins/reload/backend``: what the engines of some mounts keep in memory is dropped and built again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import mount_caches
from labkit.vault.mounts import Mount, read_table

if TYPE_CHECKING:
    from labkit.vault.context import Context


def reload(ctx: Context, plugin: str | None, mounts: list[str] | None, scope: str | None) -> Reply:
    """Reload the engines of a kind, or of the mounts that are named."""
    if plugin and mounts:
        raise BadRequest("plugin and mounts cannot be set at the same time")
    if not plugin and not mounts:
        raise BadRequest("plugin or mounts must be provided")
    if scope not in (None, "", "global"):
        raise BadRequest("reload scope must be omitted or 'global'")
    for mount in _named(ctx, mounts) if mounts else _of_kind(ctx, plugin or ""):
        mount_caches.forget(ctx.core, mount)
        ctx.observe("plugin reloaded", mount=ctx.namespace.path + mount.path)
    return Reply({"reload_id": ctx.request_id}, 202 if scope == "global" else 200)


def _named(ctx: Context, paths: list[str]) -> list[Mount]:
    table = read_table(ctx.namespace_storage)
    found = []
    for path in paths:
        mount = table.at(path.strip("/") + "/")
        if mount is None:
            raise BadRequest(f"cannot fetch mount entry for {path!r}")
        found.append(mount)
    return found


def _of_kind(ctx: Context, kind: str) -> list[Mount]:
    found = [mount for mount in read_table(ctx.namespace_storage).mounts if mount.kind == kind]
    if not found:
        raise BadRequest(f"no mount of type {kind!r} to reload")
    return found


ROUTES = (
    Route(
        "write",
        "plugins/reload/backend",
        reload,
        (
            fields.text("plugin", "kind of the engines to reload"),
            fields.comma_list("mounts", "paths of the mounts to reload"),
            fields.text("scope", "global reloads on every node; there is nothing to reload on a standby"),
        ),
        "accepted",
    ),
)
