"""Automatic rotation: which keyrings are due, and their next version (spec, ``auto_rotate_period``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.engines.transit.keyring import FOLDER, read_ring, rotate, write_ring

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView


def earliest(storage: StorageView) -> int:
    """Return when the next key of a mount rotates by itself, in nanoseconds since the epoch; 0 for never."""
    return min((when for when, _ in _rotations(storage)), default=0)


def due_names(storage: StorageView, now_ns: int) -> list[str]:
    """Return the names of the keys that are due, in the order in which they fell due."""
    return [name for when, name in sorted(_rotations(storage)) if when <= now_ns]


def carry_out(ctx: Context, storage: StorageView, name: str) -> None:
    """Give a key that is due its next version."""
    ring = read_ring(storage, name)
    if ring is not None:
        write_ring(storage, name, rotate(ring, ctx.entropy, ctx.now))
        ctx.observe("key rotated", key=name)


def _rotations(storage: StorageView) -> list[tuple[int, str]]:
    rings = ((name, read_ring(storage, name)) for name in storage.list(FOLDER))
    return [(when, name) for name, ring in rings if ring is not None and (when := ring.next_rotation_ns) is not None]
