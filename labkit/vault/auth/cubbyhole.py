"""The cubbyhole: what a token stores for itself only, at ``cubbyhole/<path>``, until it ends.

1. It is stored with the token's other keys, so revocation and expiry delete it, whatever namespace it was written in.
2. Only stored tokens have one; a batch token is refused.
3. A wrapping token finds what it wraps at ``response``, as text; that uses it up like any other request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.routing import Route, Table
from labkit.vault import wrapping
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

RESPONSE = "response"
NO_BATCH = 'cubbyhole operations are only supported by "service" type tokens'


def read(ctx: Context, path: str) -> dict[str, Any]:
    """Read what the caller stored at a path."""
    stored = _own(ctx).get(path)
    if stored is not None:
        value: dict[str, Any] = decode_record(stored)
        return value
    wrapped = wrapping.wrapped_by(ctx) if path == RESPONSE else None
    if wrapped is None:
        raise NotFound
    return {RESPONSE: encode_record(wrapped.body).decode()}


def write(ctx: Context, path: str) -> None:
    """Store all members of the body in place of what was there."""
    if not ctx.body:
        raise BadRequest("missing data fields")
    _own(ctx).put(path, encode_record(ctx.body))


def delete(ctx: Context, path: str) -> None:
    """Delete what the caller stored at a path; nothing there is not an error."""
    if exists(ctx, path):
        _own(ctx).delete(path)


def list_folder(ctx: Context, path: str) -> dict[str, Any]:
    """List the names in a folder, sorted; nothing there is 404."""
    names = _own(ctx).list(path)
    if not names:
        raise NotFound
    return {"keys": names}


def exists(ctx: Context, path: str) -> bool:
    """Whether a write updates; what a wrapping token wraps is not written over."""
    return _own(ctx).get(path) is not None or (path == RESPONSE and wrapping.wrapped_by(ctx) is not None)


def _own(ctx: Context) -> StorageView:
    """Return the caller's own part of the store."""
    assert ctx.caller is not None
    if ctx.caller.token.kind == "batch":
        raise BadRequest(NO_BATCH)
    return ctx.full_storage.folder(f"{wrapping.WRAPPED}{ctx.caller.digest}/data/")


PATH = fields.path("path", "where the token stores it")
FOLDER = fields.folder()
ANY_PATH = PATH._replace(pattern=".*")

ROUTES = (
    Route("list", "<path>", list_folder, (FOLDER,)),
    Route("read", "<path>", read, (ANY_PATH,)),
    Route("write", "<path>", write, (PATH,), exists=exists),
    Route("delete", "<path>", delete, (ANY_PATH,)),
)

TABLE = Table(ROUTES)
