"""``sys/plugins``: the engines and auth methods there are, all built in; reloading drops what mounts keep in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import mount_caches
from labkit.vault.mounts import CATALOGUE, Mount, read_table

if TYPE_CHECKING:
    from labkit.vault.context import Context

AUTH, DATABASE, SECRET = KINDS = ("auth", "database", "secret")
"""What a plugin can be; there are no databases."""

NOT_LISTED = ("cubbyhole", "identity", "system", "token")
"""Each namespace has these from its beginning; none of them can be mounted."""


def read_catalogue(ctx: Context) -> dict[str, Any]:
    """Return the names of all plugins by kind, and each with its version."""
    names = {kind: _names(kind) for kind in KINDS}
    plain = ("builtin", "deprecation_status", "name", "type", "version")
    found = [{**_described(ctx, name), "type": kind} for kind in KINDS for name in names[kind]]
    return {**names, "detailed": [{name: plugin[name] for name in plain} for plugin in found]}


def list_plugins(ctx: Context, type: str) -> dict[str, Any]:  # noqa: A002  # the field's own name
    """Return the names of the plugins of one kind."""
    names = _names(_known(type))
    if not names:
        raise NotFound
    return {"keys": names}


def read_plugin(ctx: Context, type: str, name: str) -> dict[str, Any]:  # noqa: A002  # the field's own name
    """Return what is known of one plugin."""
    if name not in _names(_known(type)):
        raise NotFound
    return _described(ctx, name)


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise BadRequest(f"type: expected one of {', '.join(KINDS)}, not {kind!r}")
    return kind


def _names(kind: str) -> list[str]:
    rows = [] if kind == DATABASE else CATALOGUE.values()
    return sorted({row.kind for row in rows if row.is_auth == (kind == AUTH) and row.kind not in NOT_LISTED})


def _described(ctx: Context, name: str) -> dict[str, Any]:
    return {
        "args": [],
        "builtin": True,
        "command": "",
        "deprecation_status": "supported",
        "name": name,
        "sha256": "",
        "version": f"v{ctx.service_version.partition('+')[0]}+builtin.vault",
    }


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


KIND = fields.text("type", "auth, database or secret")
NAME = fields.text("name", "name of a plugin")

ROUTES = (
    Route("read", "plugins/catalog", read_catalogue),
    Route("list", "plugins/catalog/<type>/", list_plugins, (KIND,), "sudo"),
    Route("read", "plugins/catalog/<type>/<name>", read_plugin, (KIND, NAME), "sudo"),
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
