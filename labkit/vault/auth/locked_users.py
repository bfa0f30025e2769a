"""Who is locked out: ``sys/locked-users``, listed by namespace and mount, and unlocked.

1. A lock that has ended by itself is not listed.  Those of a mount that is gone stay until then.
2. The request's namespace is listed with all below it; a mount's accessor limits the list to that mount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.routing import Route
from labkit.vault.auth import user_lockout
from labkit.vault.auth.user_lockout import LOCKED
from labkit.vault.mounts import Namespace, read_table
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context


def list_locked(ctx: Context, mount_accessor: str | None) -> dict[str, Any]:
    """List who is locked out now."""
    namespaces = [ctx.namespace]
    if mount_accessor:
        found = [_described(ctx, ctx.namespace, mount_accessor)]
    else:
        for namespace in namespaces:
            namespaces += read_table(StorageView(ctx, namespace.prefix)).namespaces
        found = sorted([_described(ctx, namespace, "") for namespace in namespaces], key=_counts, reverse=True)
    return {"by_namespace": found, "total": sum(map(_counts, found))}


def _described(ctx: Context, namespace: Namespace, accessor: str) -> dict[str, Any]:
    storage = StorageView(ctx, namespace.prefix)
    accessors = [accessor] if accessor else [name.removesuffix("/") for name in storage.list(LOCKED)]
    mounts = [_of_mount(ctx, storage, name) for name in accessors]
    if not accessor:
        mounts = sorted([mount for mount in mounts if mount["counts"]], key=_counts, reverse=True)
    return {
        "namespace_id": namespace.id,
        "namespace_path": namespace.path,
        "counts": sum(map(_counts, mounts)),
        "mount_accessors": mounts,
    }


def _of_mount(ctx: Context, storage: StorageView, accessor: str) -> dict[str, Any]:
    mount = next((mount for mount in read_table(storage).mounts if mount.accessor == accessor), None)
    config, folder, aliases = user_lockout.config_of(mount), f"{LOCKED}{accessor}/", []
    for name in storage.list(folder):
        locked = storage.decoded(folder + name, user_lockout.decode_locked)
        if locked is not None and not config.disable and not ctx.is_past(user_lockout.ends_ns(locked, config)):
            aliases.append(locked.alias)
    return {"mount_accessor": accessor, "counts": len(aliases), "alias_identifiers": sorted(aliases) or None}


def _counts(described: dict[str, Any]) -> int:
    counts: int = described["counts"]
    return counts


def unlock(ctx: Context, mount_accessor: str, alias_identifier: str) -> None:
    """Unlock who logs in by a name at a mount; one who is not locked is ignored."""
    user_lockout.unlock(ctx, mount_accessor, alias_identifier)


ACCESSOR = fields.text("mount_accessor", "accessor of the mount to list only")
IN_PATH = fields.segment("mount_accessor", "accessor of the mount")
ALIAS = fields.path("alias_identifier", "what is locked: the user's name, or the role id")

ROUTES = (
    Route("read", "locked-users", list_locked, (ACCESSOR,)),
    Route("write", "locked-users/<mount_accessor>/unlock/<alias_identifier>", unlock, (IN_PATH, ALIAS)),
)
