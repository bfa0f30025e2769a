"""Reindex: a cluster's Merkle index made again from what its store holds: asked for, carried out, shown in the status.

1. What was asked for is stored outside both trees until the new index is: a new active node begins again with it.
2. The work is due in batches (R5), on a primary and on a secondary; each is a step of its own, and requests are
   answered between them.  It adds nothing to the journal.
3. The new index is what the store holds.  Of a value that was damaged in the store it stands for the damage: a
   secondary that is reindexed then gets the value from its primary, a primary passes the damage on.  So a primary
   counts the values that do not open, and says how many: by an observation, and in its status until the next reindex.
4. ``last_reindex_epoch`` is when the last new index was stored; of a secondary, at first when it joined.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, ServiceError
from labkit.vault.due_times import RETRY_NS
from labkit.vault.replication.events import LEAVES, NODES, NOTHING
from labkit.vault.replication.mode import ReindexProgress
from labkit.vault.replication.tree.rebuild import BATCH_NS, COMMIT, FLUSH, FLUSH_NS, Opens, Rebuild, ReindexOptions
from labkit.vault.storage.barrier import KEYRING, BarrierError, decode_numbers
from labkit.vault.storage.records import encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.replication.tree.journal import Journal
    from labkit.vault.storage import Writes
    from labkit.vault.storage.storage_view import StorageView

FOLDER, NAME = "node/reindex/", "wanted"
WANTED = FOLDER + NAME
LAST = "node/last-reindex"
DAMAGED = "node/last-reindex-damaged"

MAX_NAMED = 100
"""How many of the keys that a ``diff`` finds are reported by name."""


def start(ctx: Context, options: ReindexOptions) -> None:
    """Begin a reindex in the background; BadRequest while one is under way, and on a node without an index."""
    journal = ctx.core.replica.journal
    if journal.rebuild is not None:
        raise BadRequest(f"a reindex is under way ({journal.rebuild.described}); wait until last_reindex_epoch changes")
    if not journal.on:
        raise BadRequest("this node has no Merkle tree: it is not the active node of a replicating cluster")
    ctx.full_storage.put(WANTED, encode_record(list(options)), due_ns=ctx.now + BATCH_NS)
    ctx.after_commit = partial(_begin, ctx, options)


def progress(ctx: Context) -> ReindexProgress | None:
    """Return how far the reindex under way is; None without one, also when its index is in use and not stored yet."""
    rebuild = ctx.core.replica.rebuild
    if rebuild is None or rebuild.stage == FLUSH:
        return None
    return ReindexProgress(rebuild.stage, rebuild.done, rebuild.total)


def last_s(ctx: Context) -> int:
    """Return when the last reindex ended, in seconds since the epoch; 0 for never."""
    stored = ctx.full_storage.get(LAST)
    return 0 if stored is None else decode_numbers(LAST, stored, (int,))[0]


def damaged_values(ctx: Context) -> int:
    """Return how many values did not open when the last reindex read them."""
    stored = ctx.full_storage.get(DAMAGED)
    return 0 if stored is None else decode_numbers(DAMAGED, stored, (int,))[0]


def note_end(ctx: Context) -> None:
    """Write that an index of the contents was made now, and that none is wanted any more."""
    ctx.full_storage.put(LAST, encode_record([ctx.now // SECOND_NS]))
    forget(ctx)


def forget(ctx: Context) -> None:
    """Write that no reindex is wanted any more."""
    if ctx.read(WANTED) is not None:
        ctx.full_storage.delete(WANTED)


def due_ns(ctx: Context, storage: StorageView, name: str) -> int:
    """Return when the next batch of the reindex is due; at once, for one that this node has not begun."""
    journal = ctx.core.replica.journal
    if not journal.on:
        return 0
    return ctx.now if journal.rebuild is None else journal.rebuild.due_ns


def carry_out(ctx: Context, storage: StorageView, name: str) -> None:
    """Do the next batch."""
    journal = ctx.core.replica.journal
    rebuild = journal.rebuild
    if rebuild is None:
        wanted = storage.get(FOLDER + name)
        if wanted is not None:
            _begin(ctx, ReindexOptions(*map(bool, decode_numbers(WANTED, wanted, (bool, bool, bool)))))
        return
    before = rebuild.stage
    try:
        _do_stage(ctx, journal, rebuild)
    except ServiceError:
        rebuild.put_off(ctx.now, RETRY_NS)
        if before == COMMIT:
            rebuild.move("could not be stored")
        raise
    if rebuild.stage != before:
        ctx.observe("reindex_stage", before=before, after=rebuild.stage or "done", total=rebuild.total)
    if rebuild.stage:
        ctx.core.note_due(WANTED, rebuild.due_ns)
    else:
        journal.rebuild = None


def _begin(ctx: Context, options: ReindexOptions) -> None:
    rebuild = Rebuild(options, ctx.now)
    ctx.core.replica.journal.rebuild = rebuild
    ctx.core.note_due(WANTED, rebuild.due_ns)
    ctx.observe("reindex_started", **options._asdict())


def _do_stage(ctx: Context, journal: Journal, rebuild: Rebuild) -> None:
    if rebuild.stage == COMMIT:
        _commit(ctx, journal, rebuild)
    elif rebuild.stage == FLUSH:
        note_end(ctx)
        own, ctx.writes = ctx.writes, {}
        journal.flush(ctx.core.leadership.term, own)
        rebuild.move("stored")
        ctx.core.replica.index_stored = True
    else:
        rebuild.do_batch(journal.storage, _opens(ctx))


def _commit(ctx: Context, journal: Journal, rebuild: Rebuild) -> None:
    """Put the new index in the place of the other, and store it unless that is to be later."""
    diff, force, skip_flush = rebuild.options
    old, new = journal.tree, rebuild.finish(journal.storage, _opens(ctx))
    assert old is not None, "a rebuild ends when the journal is switched off"
    pages, same = len(old.differing_pages(new)), old.guard() == new.guard()
    names = [] if same else old.differing_keys(new)
    differing = LEAVES if not same else NODES if pages or old.roots() != new.roots() else NOTHING
    own: Writes = {}
    _note_damaged(ctx, len(rebuild.damaged))
    if not skip_flush:
        note_end(ctx)
        own, ctx.writes = ctx.writes, {}
    journal.replace(new, own, ctx.core.leadership.term, whole=force, stored=not skip_flush)
    rebuild.move("not stored yet" if skip_flush else "stored")
    rebuild.put_off(ctx.now, FLUSH_NS)
    ctx.core.replica.reindexed, ctx.core.replica.index_stored = differing, not skip_flush
    ctx.observe("reindexed", pages=pages, differing_keys=len(names))
    if diff and names:
        ctx.observe("reindex_differences", names=names[:MAX_NAMED], others=len(names[MAX_NAMED:]))
    if rebuild.damaged:
        damaged = sorted(rebuild.damaged)
        ctx.observe("reindex_damage", values=len(damaged), names=damaged[:MAX_NAMED])


def _opens(ctx: Context) -> Opens | None:
    """Return what tells whether a value opens; None on a secondary, which gets what is damaged from its primary."""
    if ctx.mode.mode != "primary":
        return None
    keys, found = ctx.core.keys, ctx.core.damaged

    def opens(key: str, stored: bytes) -> bool:
        if key == KEYRING:  # it stands under the root key, and is judged wherever it is read
            return key not in found
        try:
            keys.decrypt(key, stored)
        except BarrierError:
            return False
        return True

    return opens


def _note_damaged(ctx: Context, count: int) -> None:
    """Write how many values were damaged, where that is another number than is known."""
    if count:
        ctx.full_storage.put(DAMAGED, encode_record([count]))
    elif ctx.read(DAMAGED) is not None:
        ctx.full_storage.delete(DAMAGED)
