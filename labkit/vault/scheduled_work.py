"""Scheduled work: what falls due on an active node without a request: tokens end, keys rotate.

1. Each item is a step of its own.
2. The time of the next item is computed from storage at unseal, takeover, promotion and after each tick; in between,
   a write with an earlier due time brings it forward.
3. A sealed node, a standby and a secondary do nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labkit.vault import tokens
from labkit.vault.context import Context, own_work
from labkit.vault.mounts import CATALOGUE, read_table
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.core import Core


def next_due(core: Core) -> int | None:
    """Return when something falls due on this node, in nanoseconds since the epoch; None for never."""
    if core.keys.sealed or not core.leadership.active:
        return None
    if core.next_due_ns is None:
        core.next_due_ns = 0 if core.replica.is_secondary else _earliest(own_work(core))
    return core.next_due_ns or None


def tick(core: Core) -> int:
    """Do what is due now, each item a step of its own; return how many items that were."""
    due = next_due(core)
    done = 0
    while due is not None and due <= core.now():
        done += _end_tokens(core) + _run_engines(core)
        core.next_due_ns = None
        due = next_due(core)
    return done


def _earliest(ctx: Context) -> int:
    times = [tokens.earliest_expiry(ctx.full_storage)]
    times += [work.earliest(storage) for work, storage in _engines(ctx)]
    return min((when for when in times if when), default=0)


def _engines(ctx: Context) -> list[tuple[Any, StorageView]]:
    """Return (due work, storage) of the mounts where anything may fall due; their engines are imported only then."""
    due_work = []
    for mount in read_table(ctx.full_storage).mounts:
        kind, storage = CATALOGUE[mount.kind, mount.version], StorageView(ctx, mount.prefix)
        if kind.due_work and storage.list(kind.due_folder):
            due_work.append((import_module(kind.due_work), storage))
    return due_work


def _end_tokens(core: Core) -> int:
    done = 0
    for digest in tokens.expired(own_work(core).full_storage, core.now()):
        ctx = own_work(core)
        tokens.revoke(ctx, digest)  # writes nothing when it was revoked with its parent
        core.commit(ctx.writes)
        done += bool(ctx.writes)
    return done


def _run_engines(core: Core) -> int:
    done = 0
    for work, storage in _engines(own_work(core)):
        for name in work.due_names(storage, core.now()):
            ctx = own_work(core)
            work.carry_out(ctx, StorageView(ctx, storage.prefix), name)
            core.commit(ctx.writes)
            done += 1
    return done
