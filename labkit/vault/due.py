"""Due: what falls due by itself on an active node — tokens end, keys rotate — each item a step of its own.

When the next thing is due is worked out from storage once, at unseal, takeover and promotion, and after each tick;
between those ``Context.note_due`` brings it forward.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from labkit.service.message import Request
from labkit.vault import tokens
from labkit.vault.context import Context
from labkit.vault.mounts import read_table
from labkit.vault.storage.views import Subtree

if TYPE_CHECKING:
    from labkit.vault.context import Core

# kind of engine → (folder that is not empty when anything may fall due, module with ``earliest`` and ``due_names`` and
# ``carry_out``)
ENGINES = {"transit": ("key/", "labkit.vault.engines.transit.rotation")}


def next_due(core: Core) -> int | None:
    """Return when something falls due on this node, in nanoseconds since the epoch; None for never."""
    if core.barrier is None or not core.duty.active:
        return None
    if core.next_due_ns is None:
        core.next_due_ns = 0 if core.is_secondary else _earliest(_context(core))
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


def _context(core: Core) -> Context:
    return Context(core, Request("", ""), core.now())


def _earliest(ctx: Context) -> int:
    found = [tokens.earliest_expiry(ctx.everything)]
    found += [import_module(module).earliest(storage) for module, storage in _engines(ctx)]
    return min((when for when in found if when), default=0)


def _engines(ctx: Context) -> list[tuple[str, Subtree]]:
    """Return (module, storage) of the mounts where anything may fall due; their engines are imported only then."""
    found = []
    for mount in read_table(ctx).mounts:
        folder, module = ENGINES.get(mount.kind, ("", ""))
        storage = Subtree(ctx, mount.prefix)
        if module and storage.list(folder):
            found.append((module, storage))
    return found


def _end_tokens(core: Core) -> int:
    done = 0
    for digest in tokens.expired(_context(core).everything, core.now()):
        ctx = _context(core)
        tokens.revoke(ctx, digest)  # nothing, when it went with its parent already
        core.commit(ctx.writes)
        done += bool(ctx.writes)
    return done


def _run_engines(core: Core) -> int:
    done = 0
    for module, storage in _engines(_context(core)):
        engine = import_module(module)
        for name in engine.due_names(storage, core.now()):
            ctx = _context(core)
            engine.carry_out(ctx, Subtree(ctx, storage.prefix), name)
            core.commit(ctx.writes)
            done += 1
    return done
