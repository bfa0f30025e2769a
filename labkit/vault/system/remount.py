"""Moving a mount: ``sys/remount``.  Data is stored under the mount's identifier, so only the path changes, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.identifiers import uuid_text
from labkit.vault.mounts import check_free, read_table, write_table
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.system.mounted import AUTH, SINGLETONS

if TYPE_CHECKING:
    from labkit.vault.context import Context

MIGRATIONS = "core/migration/"


def remount(ctx: Context) -> dict[str, Any]:
    """Move a mount; the body's members are ``from`` and ``to``, which no parameter of Python can be called."""
    ctx.warnings.clear()  # of members that no field names
    old, new = _path(ctx.body.get("from"), "from"), _path(ctx.body.get("to"), "to")
    table = read_table(ctx.full_storage)
    mount = table.at(old)
    if mount is None:
        raise BadRequest(f'no matching mount at "{old}"')
    if mount.kind in SINGLETONS:
        raise BadRequest(f'cannot remount "{old}"')
    if new.startswith(AUTH) != old.startswith(AUTH):
        raise BadRequest(f"cannot remount {'auth' if old.startswith(AUTH) else 'secret'} mount to {new}")
    left = table.without(old)
    check_free(left, new)
    write_table(ctx.full_storage, left.with_mount(mount._replace(path=new)))
    number = uuid_text(ctx.entropy)
    ctx.full_storage.put(MIGRATIONS + number, encode_record([old, new]))
    ctx.observe("mount moved", source=old, target=new)
    return {"migration_id": number}


def read_status(ctx: Context, migration_id: str) -> dict[str, Any]:
    """Return the state of a move: a move that was answered is complete."""
    stored = ctx.full_storage.get(MIGRATIONS + migration_id)
    if stored is None:
        raise BadRequest(f"no migration with the id {migration_id}; POST sys/remount returns the id of each move")
    old, new = decode_record(stored)
    info = {"source_mount": old, "target_mount": new, "status": "success"}
    return {"migration_id": migration_id, "migration_info": info}


def _path(sent: Any, name: str) -> str:
    if not isinstance(sent, str) or not sent.strip("/"):
        raise BadRequest(f"'{name}' must be specified as a path such as secret/")
    return sent.strip("/") + "/"


ROUTES = (
    Route("write", "remount", remount, (), "top_level_data", "sudo"),
    Route("read", "remount/status/<migration_id>", read_status, (fields.segment("migration_id", "id of the move"),)),
)
