"""Secret ids by their accessors: looked up and destroyed by who does not know the secret id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service import fields
from labkit.service.errors import BadRequest, Forbidden, one_error
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault.auth.approle import secret_id_record
from labkit.vault.auth.approle.roles import ROLE_NAME
from labkit.vault.auth.approle.secret_id_record import AccessorEntry
from labkit.vault.auth.approle.secret_ids import describe, present_role

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView


def look_up(ctx: Context, role_name: str, secret_id_accessor: str | None) -> Reply | None:
    """Describe a secret id of a role by its accessor; another role's answers nothing."""
    role = present_role(ctx, _checked(role_name, secret_id_accessor))
    place, accessor = secret_id_record.place_of(ctx, role_name, role), secret_id_accessor or ""
    found = _find(ctx, accessor)
    if found is None:
        return Reply({"error": _unknown(accessor)}, 404)
    entry = found[1]
    secret_id = secret_id_record.find(place, entry.digest) if entry.role_name == place.role_name else None
    return None if secret_id is None else Reply(describe(secret_id))


def destroy(ctx: Context, role_name: str, secret_id_accessor: str | None) -> None:
    """Delete a secret id of a role by its accessor."""
    present_role(ctx, _checked(role_name, secret_id_accessor))
    accessor = secret_id_accessor or ""
    found = _find(ctx, accessor)
    if found is None:
        raise BadRequest(one_error(_unknown(accessor)))
    storage, entry = found
    if entry.role_name != role_name.lower():
        raise Forbidden("invalid secret id accessor")
    secret_id_record.delete_entry(storage, accessor, entry)


def _checked(role_name: str, accessor: str | None) -> str:
    """Return the role's name; raise BadRequest for a request that names no accessor."""
    if not accessor:
        raise BadRequest("missing secret_id_accessor")
    return role_name


def _find(ctx: Context, accessor: str) -> tuple[StorageView, AccessorEntry] | None:
    """Return what an accessor stands for, and the part of the mount's storage that it is in."""
    for storage in (ctx.storage, ctx.local_storage):
        entry = secret_id_record.find_accessor(storage, accessor)
        if entry is not None:
            return storage, entry
    return None


def _unknown(accessor: str) -> str:
    return f'failed to find accessor entry for secret_id_accessor: "{accessor}"'


NAMED = (ROLE_NAME, fields.text("secret_id_accessor", "accessor of the secret id"))

ROUTES = (
    Route("write", "role/<role_name>/secret-id-accessor/lookup", look_up, NAMED),
    Route("write", "role/<role_name>/secret-id-accessor/destroy", destroy, NAMED),
    Route("delete", "role/<role_name>/secret-id-accessor/destroy", destroy, NAMED),
)
