"""Applied position: which entry of its upstream a secondary has reached, and at which addresses the upstream serves.

Both are stored, so that a new active node goes on from there; the position in the same transaction as the contents.
They carry a tag of the mode record they belong to: a change of mode or upstream invalidates them, and the mode record's
own values apply again.  The position, which is stored with every entry, is numbers only and not encrypted, like the
journal's own number; a checksum shows damage.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from labkit.service.errors import ServiceError
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core

POSITION = "node/position"
ADDRESSES = "node/upstream-addresses"

Writes = dict[str, bytes | None]

TAG = f"{MODE_KEY} tag"
"""Under which name the tag of the stored mode is cached."""

_COMPLETE, _KNOWN = 1, 2
_FORM = Struct(">8sBQQ")  # tag, whether complete and whether the position is known, position, last entry streamed
_CHECKSUM_BYTES = 4


class AppliedPosition(NamedTuple):
    """Whether the contents are a complete state of the upstream, after which entry, and the last entry streamed."""

    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0


def read(ctx: Context) -> AppliedPosition:
    """Return the position that applies now; where it is damaged, none is known (C12)."""
    stored = ctx.read(POSITION)
    if stored is not None:
        numbers = stored[:-_CHECKSUM_BYTES]
        if len(numbers) != _FORM.size or crc32(numbers).to_bytes(_CHECKSUM_BYTES, "big") != stored[_FORM.size :]:
            ctx.core.note_damage(POSITION)
            return AppliedPosition()
        tag, known, position, last_remote_wal = _FORM.unpack(numbers)
        if tag == _tag_of(ctx.read(MODE_KEY)):
            return AppliedPosition(bool(known & _COMPLETE), position if known & _KNOWN else None, last_remote_wal)
    mode = ctx.mode
    return AppliedPosition(mode.complete, mode.position, mode.last_remote_wal)


def write(core: Core, position: AppliedPosition) -> Writes:
    """Return the writes that store a position."""
    complete, number, last_remote_wal = position
    known = _COMPLETE * complete + _KNOWN * (number is not None)
    numbers = _FORM.pack(_present_tag(core), known, number or 0, last_remote_wal)
    return {POSITION: numbers + crc32(numbers).to_bytes(_CHECKSUM_BYTES, "big")}


def addresses(ctx: Context) -> tuple[str, ...]:
    """Return the upstream's cluster addresses, the last that served first; empty without an upstream."""
    mode = ctx.mode
    if not mode.has_upstream:
        return ()
    try:
        stored = _stored_addresses(ctx)
    except BarrierError:
        ctx.core.note_damage(ADDRESSES)
        stored = None
    _, *known = stored or (0,)
    return tuple(dict.fromkeys((*known, *mode.upstream_cluster_addrs)))


def term(ctx: Context) -> int:
    """Return the highest leadership term of the upstream that was seen; 0 without an upstream."""
    try:
        stored = _stored_addresses(ctx)
    except BarrierError:  # reported where the addresses are read
        stored = None
    return int(stored[0]) if stored else 0


def write_addresses(core: Core, known: tuple[str, ...], term: int) -> Writes:
    """Return the writes that store the upstream's addresses, and the highest term that was seen."""
    row = [_present_tag(core).hex(), term, *known]
    return {ADDRESSES: core.keys.encrypt(ADDRESSES, encode_record(row), core.entropy)}


def apply(
    core: Core, changes: Iterable[tuple[str, bytes | None]], position: AppliedPosition, own: Writes | None = None
) -> bool:
    """Write what the upstream sent, and the position that it leads to; return whether that was done.

    ``own``: more of this cluster's own keys that belong to the same transaction.

    A node that was overtaken steps down; what the store cannot write, or must not take, is reported (R25).
    """
    try:
        written = write(core, position)
        core.replica.journal.apply(changes, {**written, **own} if own else written, core.leadership.term)
    except StaleTerm:
        core.step_down()
    except ServiceError as error:
        core.observe("stream not applied", reason="; ".join(error.errors))
    except ValueError as error:
        core.observe("stream not applied", reason=str(error))
    else:
        return True
    return False


def remember_addresses(core: Core, known: tuple[str, ...], term: int) -> bool:
    """Store the upstream's addresses and term; return whether that was done, as ``apply`` does."""
    try:
        core.commit(write_addresses(core, known, term))
    except StaleTerm:
        core.step_down()
    except ServiceError as error:
        core.observe("addresses not stored", reason="; ".join(error.errors))
    else:
        return True
    return False


def _tag_of(stored_mode: bytes | None) -> bytes:
    return sha256(stored_mode or b"").digest()[:8]


def _present_tag(core: Core) -> bytes:
    """Return the tag of the stored mode, computed once while its bytes are the same object (R22)."""
    stored, known = core.storage.get(MODE_KEY) or b"", core.caches.records.get(TAG)
    if known is not None and known[0] is stored:  # as derive does: there is one position per entry applied
        return known[1]  # type: ignore[no-any-return]  # what was made of these very bytes
    return core.caches.records.derive(TAG, stored, _tag_of)


def _stored_addresses(ctx: Context) -> list[Any] | None:
    value = ctx.full_storage.get(ADDRESSES)
    if value is None:
        return None
    tag, *row = decode_record(value)
    return row if tag == _tag_of(ctx.read(MODE_KEY)).hex() else None
