"""Index state: how far a write's history is, as its answer says it, and whether this node has got as far (412).

1. Writes of a primary answer X-Vault-Index: the replication set, the reign and the number of their entry.  A reign is
   the time of one primary: a fresh authority begins it, and names it.
2. A request that brings one back is refused with 412 by a node whose contents do not reach it.  A survivor knows up to
   which entry it holds each earlier reign: the one that it followed by the position it had applied, those before by
   the activation with which it followed.
3. What says nothing here is ignored: an index of another replication set, and any where replication is disabled.
4. Tokens carry no position: none is ever refused for what a cluster has not got.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import sha256

from labkit.service.errors import BadRequest, NotThatFar
from labkit.vault.context import Context
from labkit.vault.core import Core
from labkit.vault.replication import applied_position
from labkit.vault.replication.trust import activation
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

HEADER = "X-Vault-Index"
NAME_BYTES = 8
INDEX_BYTES = 3 * NAME_BYTES
SHOWN_CHARACTERS = 40
MAX_REIGNS = 32
OWN_NAME = "node/authority name"  # of a cached record, not of a stored one

MISSING = "required index state not present"


def header_of(core: Core, entry_number: int) -> str:
    """Return the index of an entry that this primary made; empty on a node that has no authority."""
    name = _own_name(core)
    return b64encode(name + entry_number.to_bytes(NAME_BYTES, "big")).decode() if name else ""


def check(ctx: Context, sent: str) -> None:
    """Raise NotThatFar when this node's contents do not reach an index; BadRequest for anything else."""
    core = ctx.core
    try:
        index = b64decode(sent, validate=True)
    except ValueError:
        index = b""
    if len(index) != INDEX_BYTES or b64encode(index).decode() != sent:
        shown = sent[:SHOWN_CHARACTERS]
        raise BadRequest(f"{HEADER} is the value that an answer to a write had in that header, not {shown!r}")
    own = _own_name(core)
    if not own or index[:NAME_BYTES] != own[:NAME_BYTES]:
        return
    reached = {own[NAME_BYTES:].hex(): core.replica.journal.last, **dict(activation.earlier_reigns(ctx))}
    number = int.from_bytes(index[2 * NAME_BYTES :], "big")
    if number > reached.get(index[NAME_BYTES : 2 * NAME_BYTES].hex(), -1):
        raise NotThatFar(MISSING)


def end_reign(ctx: Context) -> None:
    """Note up to where this cluster has its own reign: it is demoted."""
    own = _own_name(ctx.core)
    _store(ctx, (*activation.earlier_reigns(ctx), (own[NAME_BYTES:].hex(), ctx.core.replica.journal.last)))


def inherit(ctx: Context) -> None:
    """Note up to where this cluster has the reign that it followed: it is promoted."""
    bundle = activation.held_bundle(ctx.core)
    if bundle is None:
        return
    reached = applied_position.read(ctx)
    position = reached.position if reached.complete else 0
    followed = () if position is None else ((_name_of(bundle.authority).hex(), position),)
    _store(ctx, (*bundle.reigns, *followed))


def _store(ctx: Context, reigns: activation.Reigns) -> None:
    ctx.full_storage.put(activation.REIGNS, encode_record([list(reign) for reign in reigns[-MAX_REIGNS:]]))


def _own_name(core: Core) -> bytes:
    """Return the short names of replication set and reign of a primary; empty on any other node (R22)."""
    stored = core.storage.get(activation.AUTHORITY)
    if stored is None:
        return b""

    def named(authority: bytes) -> bytes:
        certificate = decode_record(core.keys.decrypt(activation.AUTHORITY, authority))[1]
        return _name_of(core.replica.mode.cluster_id) + _name_of(certificate)

    try:
        return core.caches.records.derive(OWN_NAME, stored, named)
    except BarrierError:
        core.note_damage(activation.AUTHORITY)
        return b""


def _name_of(text: str) -> bytes:
    return sha256(text.encode()).digest()[:NAME_BYTES]
