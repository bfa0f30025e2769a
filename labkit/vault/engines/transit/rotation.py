"""Automatic rotation: which keyrings are due, and their next version (spec, ``auto_rotate_period``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.engines.transit.keyring import FOLDER, read_keyring, rotate, write_keyring

if TYPE_CHECKING:
    from labkit.vault.context import EngineContext
    from labkit.vault.storage.storage_view import StorageView


def earliest(storage: StorageView) -> int:
    """Return when the next key of a mount rotates by itself, in nanoseconds since the epoch; 0 for never."""
    return min((when for when, _ in _rotations(storage)), default=0)


def due_names(storage: StorageView, now_ns: int) -> list[str]:
    """Return the names of the keys that are due, in the order in which they fell due."""
    return [name for when, name in sorted(_rotations(storage)) if when <= now_ns]


def carry_out(ctx: EngineContext, storage: StorageView, name: str) -> None:
    """Give a key that is due its next version."""
    keyring = read_keyring(storage, name)
    if keyring is not None:
        write_keyring(storage, name, rotate(keyring, ctx.entropy, ctx.now))
        ctx.observe("key rotated", key=name)


def _rotations(storage: StorageView) -> list[tuple[int, str]]:
    keyrings = ((name, read_keyring(storage, name)) for name in storage.list(FOLDER))
    return [
        (when, name)
        for name, keyring in keyrings
        if keyring is not None and (when := keyring.next_rotation_ns) is not None
    ]
