"""``cache-config``: how many keyrings the mount keeps decoded (T14).

What is written is stored and reported at once; it is in force once the engine is built again: after a reload of its
plugin, and when a node is unsealed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.fields import integer
from labkit.service.routing import Route
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

STORED_AT = "config/cache"
MIN_SIZE = 10


def read_cache(ctx: EngineContext) -> dict[str, Any]:
    """Return the size that was written last."""
    stored = ctx.storage.get(STORED_AT)
    return {"size": 0 if stored is None else decode_record(stored)["size"]}


def write_cache(ctx: EngineContext, size: int) -> dict[str, Any]:
    """Store the size, a number of keyrings: the least recently used one makes room; 0 for no limit."""
    if size and size < MIN_SIZE:
        raise BadRequest(f"size must be 0 or a value greater or equal to {MIN_SIZE}")
    ctx.storage.put(STORED_AT, encode_record({"size": size}))
    return {"size": size}


ROUTES = (
    Route("read", "cache-config", read_cache),
    Route(
        "write",
        "cache-config",
        write_cache,
        (integer("size", "how many keys are kept decoded: 0 for all, else at least 10; in force after a reload", 0),),
    ),
)
