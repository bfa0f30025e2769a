"""Subkeys: a secret's names without its values (spec, KV v2 engine)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault.engines.kv.parameters import PATH, VERSION
from labkit.vault.engines.kv.store import describe, find_version, read_data
from labkit.vault.engines.kv.versions import is_live

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

DEPTH = fields.integer("depth", "how many levels of names are shown; 0 or none shows all")


def read_subkeys(ctx: EngineContext, path: str, version: int | None, depth: int | None) -> dict[str, Any] | Reply:
    """Read the names of a version's members, each value replaced by null."""
    storage = ctx.storage
    key, number, facts = find_version(storage, path, version)
    metadata = describe(key, number, facts)
    if not is_live(facts, ctx.is_past):
        return Reply({"subkeys": None, "metadata": metadata}, 404)
    data = read_data(storage, path, number)
    levels = max(depth, 1) if depth else 0
    return {"subkeys": None if data is None else without_values(data, levels), "metadata": metadata}


def without_values(data: dict[str, Any], levels: int = 0) -> dict[str, Any]:
    """Return an object with null for every value; objects within show their names, ``levels`` deep, 0 for all."""
    return {
        name: without_values(value, levels - 1) if isinstance(value, dict) and value and levels != 1 else None
        for name, value in data.items()
    }


ROUTES = (Route("read", "subkeys/<path>", read_subkeys, (PATH, VERSION, DEPTH)),)
