"""Keyring rotation: a fresh key under the next term, when it is asked for or when the newest key is due.

1. New values are written under the new term; those of earlier terms stay as they are and stay readable.
2. The keyring in memory changes once the step that stores the new one is committed (R4).
3. The newest key is due when it encrypted a number of values, or was in use for a time.  The number is the node's
   own: a restart, and another active node, begin at 0.
4. A cluster that was a secondary, and was not given the root key of the keyring that it stores, stores its own again
   as soon as it is not one any more: in a step of its own, because a secondary writes nothing that is replicated (D20).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from labkit.service.durations import SECOND_NS
from labkit.service.record import NamedTuple
from labkit.vault.sealing.seal import has_own_keyring, reload_keyring
from labkit.vault.sealing.stored_keys import keyring_writes
from labkit.vault.storage.barrier import FIRST_LOOK, KEYRING, ROTATION, Barrier, with_new_term
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core
    from labkit.vault.storage.storage_view import StorageView

MIN_OPERATIONS, MAX_OPERATIONS = FIRST_LOOK, 3_865_470_566
"""Nine tenths of 2^32, the values that one key may encrypt under random nonces (NIST SP 800-38D, 8.3)."""

MIN_INTERVAL_S = 86_400


class RotationSettings(NamedTuple):
    """When the keyring is rotated by itself; an interval of 0 sets no time."""

    max_operations: int = MAX_OPERATIONS
    interval_s: int = 0
    enabled: bool = True


def read_settings(ctx: Context) -> RotationSettings:
    """Return when the keyring is rotated by itself."""
    stored = ctx.full_storage.get(ROTATION)
    return RotationSettings() if stored is None else RotationSettings(*decode_record(stored))


def write_settings(ctx: Context, settings: RotationSettings) -> None:
    """Store when the keyring is rotated by itself; whether that is now is judged at once."""
    ctx.full_storage.put(ROTATION, encode_record(list(settings)))
    ctx.source.note_due(KEYRING, ctx.now)


def rotate(ctx: Context) -> None:
    """Add a term to the keyring."""
    settings, barrier, root_key = read_settings(ctx), ctx.keys.barrier, ctx.keys.root_key
    assert barrier is not None, "a sealed node rotates nothing"
    assert root_key is not None
    keyring = with_new_term(barrier.keyring, ctx.entropy, ctx.now)
    due_ns = ctx.now + settings.interval_s * SECOND_NS if settings.enabled and settings.interval_s else 0
    for key, stored in keyring_writes(ctx.core, keyring, root_key, ctx.entropy).items():
        ctx.write(key, stored, due_ns if key == KEYRING else 0)
    ctx.after_commit = partial(_use, ctx.core, keyring[-1].term)


def _use(core: Core, term: int) -> None:
    reload_keyring(core)
    core.observe("keyring_rotated", term=term)


def due_ns(ctx: Context, storage: StorageView, name: str) -> int:
    """Return when the keyring is rotated by itself, in nanoseconds since the epoch; 0 for never."""
    barrier = ctx.keys.barrier
    if storage.prefix + "core/" + name != KEYRING or barrier is None:
        return 0
    if has_own_keyring(ctx.core):
        return ctx.now
    settings = read_settings(ctx)
    if not settings.enabled:
        return 0
    if barrier.encryptions >= settings.max_operations:
        return ctx.now
    barrier.look_at = settings.max_operations
    return _ages_ns(barrier, settings)


def _ages_ns(barrier: Barrier, settings: RotationSettings) -> int:
    interval_ns = settings.interval_s * SECOND_NS
    return barrier.keyring[-1].installed_ns + interval_ns if interval_ns else 0


def carry_out(ctx: Context, storage: StorageView, name: str) -> None:
    """Rotate the keyring, which is due; or make the cluster's own the one that it stores (rule 4)."""
    barrier, root_key = ctx.keys.barrier, ctx.keys.root_key
    if not has_own_keyring(ctx.core) or barrier is None or root_key is None:
        rotate(ctx)
        return
    for key, stored in keyring_writes(ctx.core, barrier.keyring, root_key, ctx.entropy).items():
        ctx.write(key, stored)
    ctx.after_commit = partial(reload_keyring, ctx.core)
