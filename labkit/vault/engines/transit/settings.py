"""``config/keys``: what holds for all keys of the mount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.fields import flag
from labkit.service.routing import Route
from labkit.vault.engines.transit.keyring import SETTINGS, upsert_disabled
from labkit.vault.storage.records import encode_record

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def read_settings(ctx: EngineContext) -> dict[str, Any]:
    """Return the settings; those that were never written have their defaults."""
    return {"disable_upsert": upsert_disabled(ctx.storage)}


def write_settings(ctx: EngineContext, disable_upsert: bool) -> dict[str, Any]:
    """Store the settings; what was not sent gets its default."""
    settings = {"disable_upsert": disable_upsert}
    ctx.storage.put(SETTINGS, encode_record(settings))
    return settings


ROUTES = (
    Route("read", "config/keys", read_settings),
    Route(
        "write",
        "config/keys",
        write_settings,
        (flag("disable_upsert", "whether encrypt may no longer make keys that are missing", False),),
    ),
)
