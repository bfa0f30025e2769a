"""KV v1: one value a path, without versions; what is sent is what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, NotFound
from labkit.service.fields import to_signed_seconds
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault.engines.kv.parameters import FOLDER, PATH
from labkit.vault.engines.kv.store import VALUES, encode_data
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

DEFAULT_LEASE_S = 2_764_800


def read_value(ctx: EngineContext, path: str) -> Reply:
    """Read a secret; its ``ttl`` or ``lease`` member, if any, is reported as how long the caller may keep it."""
    stored = ctx.storage.get(VALUES + path)
    if stored is None:
        raise NotFound
    value: dict[str, Any] = decode_record(stored)
    return Reply(value, lease_duration_s=_lease_s(value))


def _lease_s(value: dict[str, Any]) -> int:
    try:
        return to_signed_seconds(value.get("ttl") or value.get("lease")) or DEFAULT_LEASE_S
    except ValueError:
        return DEFAULT_LEASE_S


def write_value(ctx: EngineContext, path: str) -> None:
    """Write a secret in place of what was there: all members of the body."""
    if not ctx.body:
        raise BadRequest("missing data fields")
    ctx.storage.put(VALUES + path, encode_data(ctx.body))


def delete_value(ctx: EngineContext, path: str) -> None:
    """Delete a secret; nothing there is not an error."""
    if value_exists(ctx, path):
        ctx.storage.delete(VALUES + path)


def list_values(ctx: EngineContext, path: str) -> dict[str, Any]:
    """List the names in a folder, sorted; folders end in ``/``, and nothing there is 404."""
    names = ctx.storage.list(VALUES + path)
    if not names:
        raise NotFound
    return {"keys": names}


def value_exists(ctx: EngineContext, path: str) -> bool:
    """Whether a write updates."""
    return ctx.storage.get(VALUES + path) is not None


# Nothing is ever written there, but reading ``a/`` is refused in the same way as reading ``b``.
ANY_PATH = PATH._replace(pattern=".*")

ROUTES = (
    Route("list", "<path>", list_values, (FOLDER,)),
    Route("read", "<path>", read_value, (ANY_PATH,)),
    Route("write", "<path>", write_value, (PATH,), exists=value_exists),
    Route("delete", "<path>", delete_value, (ANY_PATH,)),
)
