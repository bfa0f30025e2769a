"""Expired secret ids: deleted once a minute, and at ``tidy/secret-id``; until then they log in and are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault.auth.approle import secret_id_record
from labkit.vault.auth.approle.secret_id_record import ACCESSORS

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

STARTED = (
    "Tidy operation successfully started. Any information from the operation will be printed to the server's logs."
)


def due_ns(ctx: Context, storage: StorageView, accessor: str) -> int:
    """Return when a secret id is to be deleted, in nanoseconds since the epoch; 0 for never."""
    entry = secret_id_record.find_accessor(storage, accessor)
    return 0 if entry is None else secret_id_record.falls_due_ns(entry)


def carry_out(ctx: Context, storage: StorageView, accessor: str) -> None:
    """Delete a secret id that is due."""
    entry = secret_id_record.find_accessor(storage, accessor)
    if entry is not None:
        secret_id_record.delete_entry(storage, accessor, entry)


def tidy(ctx: Context) -> Reply:
    """Delete every secret id that has expired by now."""
    for storage in (ctx.storage, ctx.local_storage):
        for accessor in storage.list(ACCESSORS):
            entry = secret_id_record.find_accessor(storage, accessor)
            if entry is not None and entry.expires_ns and ctx.is_past(entry.expires_ns):
                secret_id_record.delete_entry(storage, accessor, entry)
    ctx.warn(STARTED)
    return Reply(status=202)


ROUTES = (Route("write", "tidy/secret-id", tidy, (), "accepted"),)
