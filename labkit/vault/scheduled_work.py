"""Scheduled work: what falls due on an active node without a request: tokens end, keys rotate, an index is made again.

1. Each item is a step of its own.
2. When each record falls due is derived from storage at unseal, takeover and promotion, and kept up by what is written
   (``due_times``, R5): a tick reads only the records that are due.
3. A sealed node and a standby do nothing, a secondary nothing but its reindex, which is outside its contents (D20).
4. No exception leaves a tick: a record that does not open is reported once and skipped (C12), a node that was overtaken
   steps down, what the store cannot write is tried again later (R25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import ServiceError
from labkit.service.record import NamedTuple
from labkit.service.routing import loaded
from labkit.vault.context import Context, own_work
from labkit.vault.due_times import RETRY_NS, DueTimes
from labkit.vault.mounts import CATALOGUE, MOUNTS, ROOT, read_table
from labkit.vault.sealing.stored_keys import OWN_KEYRING
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.barrier import ROTATION, BarrierError
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.token_record import IDS

if TYPE_CHECKING:
    from labkit.vault.core import Core


class DueFolder(NamedTuple):
    """A folder whose records may fall due, and the module that says when (``due_ns``) and does it (``carry_out``)."""

    prefix: str
    folder: str
    module: str


TOKENS = DueFolder("", IDS, "labkit.vault.tokens")
RECORDS_OF_ROTATION = (ROTATION, OWN_KEYRING)
"""Without either a keyring falls due only by the number of values that it encrypted."""

KEYRING = DueFolder("", "core/", "labkit.vault.sealing.keyring_rotation")
REINDEX = DueFolder("", "node/reindex/", "labkit.vault.replication.reindex")


def next_due(core: Core) -> int | None:
    """Return when something falls due on this node, in nanoseconds since the epoch; None for never."""
    if core.keys.barrier is None or not core.leadership.active:
        return None
    rebuild = core.replica.rebuild
    if rebuild is not None and rebuild.keep_pace(core.now()):
        core.next_due_ns, core.due_times = None, None
    if core.next_due_ns is None:
        core.next_due_ns = _earliest(core)
    return core.next_due_ns or None


def may_be_due(core: Core, now_ns: int) -> bool:
    """Whether a tick may have something to do: False where that is known without a look at anything else."""
    due_ns = core.next_due_ns
    if due_ns is None:
        return True
    return due_ns != 0 and (now_ns >= due_ns or core.replica.rebuild is not None)


def is_due(core: Core) -> bool:
    """Whether a tick has something to do, be it to find out what falls due when."""
    if core.due_times is None and core.next_due_ns is None:
        return core.keys.barrier is not None and core.leadership.active
    due_ns = next_due(core)
    return due_ns is not None and due_ns <= core.now()


def tick(core: Core) -> int:
    """Do what is due now, each item a step of its own; return how many items that were."""
    done = 0
    due_ns = next_due(core)
    while due_ns is not None and due_ns <= core.now():
        core.time_decided = True
        done += _do_next(core)
        core.next_due_ns = None
        due_ns = next_due(core)
    return done


def store_nonce_counts(core: Core) -> None:
    """Store what was counted of random nonces, in a step of its own."""
    ctx = own_work(core)
    ctx.store_nonce_counts()
    core.commit(ctx.writes)


def _earliest(core: Core) -> int:
    if core.replica.is_damaged:
        return 0
    if core.due_times is None:
        core.due_times = _derive(core)
    while (earliest := core.due_times.earliest()) is not None:
        when_ns, key = earliest
        if _is_stored(core, key):
            return when_ns
        core.due_times.remove(key)  # deleted before its time
    return 0


def _is_stored(core: Core, key: str) -> bool:
    try:
        return core.storage.get(key) is not None
    except ServiceError:
        return True  # whoever reads it next reports it


def _derive(core: Core) -> DueTimes:
    """Read every record in which something may fall due."""
    ctx, times = own_work(core), DueTimes()
    for prefix, folder, module in _folders(ctx):
        if module == KEYRING.module and not any(map(core.storage.get, RECORDS_OF_ROTATION)):
            continue  # as of nearly every cluster: its number of encryptions is noted by whoever commits
        storage = StorageView(ctx, prefix)
        for name in storage.list(folder):
            key = prefix + folder + name
            try:
                when_ns = loaded(module).due_ns(ctx, storage, name)  # an engine is imported only then (R24)
            except BarrierError:
                core.note_damage(key)
                continue
            if when_ns:
                times.note(key, when_ns)
    return times


def _folders(ctx: Context) -> list[DueFolder]:
    folders = [REINDEX]
    if ctx.core.replica.is_secondary:
        return folders
    folders += (TOKENS, KEYRING)
    namespaces = [ROOT]
    for namespace in namespaces:
        try:
            table = read_table(StorageView(ctx, namespace.prefix))
        except BarrierError:
            ctx.core.note_damage(namespace.prefix + MOUNTS)
            continue
        namespaces += table.namespaces
        for mount in table.mounts:
            kind = CATALOGUE[mount.kind, mount.version]
            if kind.due_work:
                places = (mount.prefix, mount.local_prefix) if kind.keeps_local else (mount.prefix,)
                folders += [DueFolder(prefix, kind.due_folder, kind.due_work) for prefix in places]
    return folders


def _do_next(core: Core) -> bool:
    """Do the earliest item; return whether it wrote anything."""
    assert core.due_times is not None
    earliest = core.due_times.earliest()
    assert earliest is not None, "the time that is due is an item's"
    key, ctx = earliest[1], own_work(core)
    core.due_times.remove(key)
    try:
        _do(ctx, key)
        core.commit(ctx.writes)
        if ctx.after_commit is not None:
            ctx.after_commit()
    except BarrierError:
        core.note_damage(key)
        return False
    except StaleTerm:
        core.step_down()
        return False
    except ServiceError as error:
        core.observe("scheduled work failed", reason="; ".join(error.errors))
        core.note_due(key, ctx.now + RETRY_NS)
        return False
    return bool(ctx.writes)


def _do(ctx: Context, key: str) -> None:
    for prefix, folder, module in _folders(ctx):
        if key.startswith(prefix + folder):
            storage, work = StorageView(ctx, prefix), loaded(module)
            name = key[len(prefix + folder) :]
            when_ns = work.due_ns(ctx, storage, name)
            if when_ns > ctx.now:
                ctx.core.note_due(key, when_ns)
            elif when_ns:
                work.carry_out(ctx, storage, name)
            return
