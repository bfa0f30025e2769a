"""Applied position: which entry of its upstream a secondary has reached, and at which addresses the upstream serves.

Both are stored, so that a new active node goes on from there; the position in the same transaction as the contents.
They carry a tag of the mode record they belong to: a change of mode or upstream invalidates them, and the mode record's
own values apply again.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core

POSITION = "node/position"
ADDRESSES = "node/upstream-addresses"

Writes = dict[str, bytes | None]


class AppliedPosition(NamedTuple):
    """Whether the contents are a complete state of the upstream, after which entry, and the last entry streamed."""

    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0


def read(ctx: Context) -> AppliedPosition:
    """Return the position that applies now."""
    stored = _tagged(ctx, POSITION)
    mode = ctx.mode
    return (
        AppliedPosition(*stored)
        if stored is not None
        else AppliedPosition(mode.complete, mode.position, mode.last_remote_wal)
    )


def write(core: Core, position: AppliedPosition) -> Writes:
    """Return the writes that store a position."""
    return _tag(core, POSITION, list(position))


def addresses(ctx: Context) -> tuple[str, ...]:
    """Return the upstream's cluster addresses, the last that served first; empty without an upstream."""
    mode = ctx.mode
    if not mode.has_upstream:
        return ()
    stored = _tagged(ctx, ADDRESSES)
    return tuple(dict.fromkeys((*(stored or ()), *mode.upstream_cluster_addrs)))


def write_addresses(core: Core, known: tuple[str, ...]) -> Writes:
    """Return the writes that store the upstream's addresses."""
    return _tag(core, ADDRESSES, list(known))


def _tag_of(stored_mode: bytes | None) -> str:
    return sha256(stored_mode or b"").hexdigest()[:16]


def _tag(core: Core, key: str, row: list[Any]) -> Writes:
    tag = _tag_of(core.storage.get(MODE_KEY))
    return {key: core.keys.encrypt(key, encode_record([tag, *row]), core.entropy)}


def _tagged(ctx: Context, key: str) -> list[Any] | None:
    value = ctx.full_storage.get(key)
    if value is None:
        return None
    tag, *row = decode_record(value)
    return row if tag == _tag_of(ctx.read(MODE_KEY)) else None
