"""Moving a mount: ``sys/remount``, within a namespace or into another one that stands below the request's.

Data is stored under the mount's identifier, so only the path changes, at once.  Tokens that an auth method gave end
with its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault import leases, tokens
from labkit.vault.identifiers import uuid_text
from labkit.vault.mounts import check_free, read_table, write_table
from labkit.vault.quotas import rules
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.system.mounted import AUTH, SINGLETONS, Place, place_of

if TYPE_CHECKING:
    from labkit.vault.context import Context

MIGRATIONS = "core/migration/"


def remount(ctx: Context) -> dict[str, Any]:
    """Move a mount; the body's members are ``from`` and ``to``, which no parameter of Python can be called."""
    ctx.warnings.clear()  # of members that no field names
    old, new = _path(ctx.body.get("from"), "from"), _path(ctx.body.get("to"), "to")
    source, target = place_of(ctx, old), place_of(ctx, new)
    mount = read_table(source.storage).at(source.path)
    if mount is None:
        raise BadRequest(f'no matching mount at "{old}"')
    if mount.kind in SINGLETONS:
        raise BadRequest(f'cannot remount "{old}"')
    if target.path.startswith(AUTH) != source.path.startswith(AUTH):
        raise BadRequest(f"cannot remount {'auth' if source.path.startswith(AUTH) else 'secret'} mount to {new}")
    if (source.storage.prefix, source.path) == (target.storage.prefix, target.path):
        raise BadRequest(f"path is already in use at {new}")
    left = read_table(source.storage).without(source.path)
    check_free(left if source.storage.prefix == target.storage.prefix else read_table(target.storage), target.path)
    if source.path.startswith(AUTH):  # leases stand at the path that made them: those of a method end with it
        namespace_id = source.storage.prefix.removeprefix("namespace/").removesuffix("/")
        tokens.revoke(ctx, *leases.digests_below(ctx, source.path, namespace_id))
    write_table(source.storage, left)
    write_table(target.storage, read_table(target.storage).with_mount(mount._replace(path=target.path)))
    rules.move(ctx, _scope(ctx, old, source), _scope(ctx, new, target))
    number = uuid_text(ctx.entropy)
    ctx.namespace_storage.put(MIGRATIONS + number, encode_record([old, new]))
    ctx.observe("mount moved", source=ctx.namespace.path + old, target=ctx.namespace.path + new)
    return {"migration_id": number}


def read_status(ctx: Context, migration_id: str) -> dict[str, Any]:
    """Return the state of a move: a move that was answered is complete."""
    stored = ctx.namespace_storage.get(MIGRATIONS + migration_id)
    if stored is None:
        raise BadRequest(f"no migration with the id {migration_id}; POST sys/remount returns the id of each move")
    old, new = decode_record(stored)
    info = {"source_mount": old, "target_mount": new, "status": "success"}
    return {"migration_id": migration_id, "migration_info": info}


def _scope(ctx: Context, path: str, place: Place) -> rules.Scope:
    """Return a mount's place as quotas name it."""
    return rules.Scope(ctx.namespace.path + path.removesuffix(place.path), place.path, "")


def _path(sent: Any, name: str) -> str:
    if not isinstance(sent, str) or not sent.strip("/"):
        raise BadRequest(f"'{name}' must be specified as a path such as secret/")
    return sent.strip("/") + "/"


ROUTES = (
    Route("write", "remount", remount, (), "top_level_data", "sudo"),
    Route("read", "remount/status/<migration_id>", read_status, (fields.segment("migration_id", "id of the move"),)),
)
