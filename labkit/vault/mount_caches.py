"""Mount caches: what a node keeps in memory of one mount's records, where the mount says how many (T14).

1. What a mount's configuration says is in force from the first use after an unseal or a reload of its plugin.
2. A mount that says nothing has its records among all others, and nothing is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.record import NamedTuple
from labkit.vault.mounts import CATALOGUE, MOUNTS, Mount, decode_table
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record
from labkit.vault.storage.storage_view import CachedRecords

if TYPE_CHECKING:
    from labkit.vault.core import Core


class CacheCounts(NamedTuple):
    """A mount's cache: how many records it may keep (0: all) and keeps, and what became of the lookups."""

    mount: str
    size: int
    entries: int
    hits: int
    misses: int
    evictions: int


def storage_of(core: Core, mount: Mount) -> tuple[str, CachedRecords]:
    """Return where a mount's data is stored and where its decoded records are kept, and keep that choice (rule 1)."""
    caches = core.caches
    found = caches.by_mount[mount.uuid] = (mount.prefix, _chosen(core, mount))
    if found[1] is not caches.records:
        caches.apart[mount.uuid] = found
    return found


def _chosen(core: Core, mount: Mount) -> CachedRecords:
    kind = CATALOGUE[mount.kind, mount.version]
    if not kind.cache_config:
        return core.caches.records
    key = mount.prefix + kind.cache_config
    stored = core.storage.get(key)
    if stored is None:
        return core.caches.records
    try:
        size = decode_record(core.keys.decrypt(key, stored))["size"]
    except BarrierError:
        core.note_damage(key)  # whoever reads the configuration is refused; the keys work on (C12)
        return core.caches.records
    from labkit.vault.storage.recent_records import RecentRecords  # of mounts whose cache has a size (R24)

    return RecentRecords(mount.prefix + kind.due_folder, size, core.caches.records)


def forget(core: Core, mount: Mount) -> None:
    """Drop what is kept of a mount; its configuration is read again."""
    records = core.caches.records
    for key in [key for key in records if key.startswith(mount.prefix)]:
        del records[key]
    core.caches.by_mount.pop(mount.uuid, None)
    core.caches.apart.pop(mount.uuid, None)


def cache_counts(core: Core) -> tuple[CacheCounts, ...]:
    """Return the counts of the mounts of the root namespace that have a cache of their own; none while sealed."""
    from labkit.vault.storage.recent_records import RecentRecords

    stored = core.storage.get(MOUNTS)
    if core.keys.sealed or stored is None:
        return ()
    found = []
    for mount in decode_table(core.keys.decrypt(MOUNTS, stored)).mounts:
        kept = core.caches.by_mount.get(mount.uuid, ("", None))[1]
        if isinstance(kept, RecentRecords):
            hits = kept.lookups - kept.misses
            found.append(CacheCounts(mount.path, kept.size, len(kept), hits, kept.misses, kept.evictions))
    return tuple(found)
