"""Automatic rotation: when a keyring is due, and its next version (spec, ``auto_rotate_period``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.engines.transit.keyring import read_keyring, rotate, write_keyring

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.storage.storage_view import StorageView


def due_ns(ctx: EngineContext, storage: StorageView, name: str) -> int:
    """Return when a key rotates by itself, in nanoseconds since the epoch; 0 for never."""
    keyring = read_keyring(storage, name)
    return 0 if keyring is None else keyring.next_rotation_ns or 0


def carry_out(ctx: EngineContext, storage: StorageView, name: str) -> None:
    """Give a key that is due its next version."""
    keyring = read_keyring(storage, name)
    if keyring is not None:
        write_keyring(storage, name, rotate(keyring, ctx, ctx.now))
        ctx.observe("key rotated", key=name)
