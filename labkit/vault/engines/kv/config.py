"""The engine's own settings: what holds for every secret that says nothing else (spec, KV v2 engine)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_duration
from labkit.service.routing import Route
from labkit.vault.engines.kv import store
from labkit.vault.engines.kv.parameters import CAS_REQUIRED, LIMIT, lifetime, settings_sent

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

ENGINE_DELETE_AFTER = lifetime(
    fields.signed_duration(
        "delete_version_after", "longest life of a version; 0s leaves it to the secret, below 0 none ever ends"
    )
)


def read_config(ctx: EngineContext) -> dict[str, Any]:
    """Read the engine's settings."""
    config = store.read_config(ctx.storage)
    return {
        "cas_required": config.cas_required,
        "delete_version_after": format_duration(config.delete_after_s * SECOND_NS),
        "max_versions": config.max_versions,
    }


def write_config(
    ctx: EngineContext, max_versions: int | None, cas_required: bool | None, delete_version_after: int | None
) -> None:
    """Change the engine's settings, those that are sent."""
    settings = settings_sent(max_versions, cas_required, delete_version_after)
    if settings:
        storage = ctx.storage
        store.write_config(storage, store.read_config(storage)._replace(**settings))


ROUTES = (
    Route("read", "config", read_config),
    Route("write", "config", write_config, (LIMIT, CAS_REQUIRED, ENGINE_DELETE_AFTER)),
)
