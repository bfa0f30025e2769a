"""The keyring's rotation: ``sys/rotate`` (of newer clients ``rotate/keyring``), its settings, ``sys/key-status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_duration, format_instant
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.sealing import keyring_rotation
from labkit.vault.sealing.keyring_rotation import MAX_OPERATIONS, MIN_INTERVAL_S, MIN_OPERATIONS

if TYPE_CHECKING:
    from labkit.vault.context import Context


def rotate(ctx: Context) -> None:
    """Write new values under a fresh key from now on; those that stand stay readable."""
    keyring_rotation.rotate(ctx)


def read_config(ctx: Context) -> dict[str, Any]:
    """Return when the keyring is rotated by itself."""
    settings = keyring_rotation.read_settings(ctx)
    return {
        "max_operations": settings.max_operations,
        "interval": format_duration(settings.interval_s * SECOND_NS) if settings.interval_s else 0,
        "enabled": settings.enabled,
    }


def write_config(ctx: Context, max_operations: int | None, interval: int | None, enabled: bool | None) -> None:
    """Change when the keyring is rotated by itself; what is not sent stays."""
    settings = keyring_rotation.read_settings(ctx)
    if max_operations is not None:
        if not MIN_OPERATIONS <= max_operations <= MAX_OPERATIONS:
            raise BadRequest(
                f"max_operations must be in the range [{MIN_OPERATIONS},{MAX_OPERATIONS}], not {max_operations}"
            )
        settings = settings._replace(max_operations=max_operations)
    if interval is not None:
        if 0 < interval < MIN_INTERVAL_S:
            least, sent = format_duration(MIN_INTERVAL_S * SECOND_NS), format_duration(interval * SECOND_NS)
            raise BadRequest(f"interval must be greater or equal to {least}, or 0 for none, not {sent}")
        settings = settings._replace(interval_s=interval)
    if enabled is not None:
        settings = settings._replace(enabled=enabled)
    keyring_rotation.write_settings(ctx, settings)


def key_status(ctx: Context) -> dict[str, Any]:
    """Return the newest term, when its key was made, and how many values this node encrypted with it."""
    barrier = ctx.keys.barrier
    assert barrier is not None, "only an unsealed node answers this"
    newest = barrier.keyring[-1]
    return {
        "term": newest.term,
        "install_time": format_instant(newest.installed_ns),
        "encryptions": barrier.encryptions,
    }


CONFIG = (
    fields.integer("max_operations", f"how many values one key encrypts, from {MIN_OPERATIONS} to {MAX_OPERATIONS}"),
    fields.duration("interval", "how long one key is used, at least 24h; 0 for any time"),
    fields.flag("enabled", "whether the keyring is rotated by itself"),
)

ROUTES = (
    Route("write", "rotate", rotate, (), "sudo"),
    Route("write", "rotate/keyring", rotate, (), "sudo"),
    Route("read", "rotate/config", read_config, ()),
    Route("write", "rotate/config", write_config, CONFIG),
    Route("read", "key-status", key_status, (), "top_level_data"),
)
