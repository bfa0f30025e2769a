"""Replica: one node's part in disaster-recovery replication, and the way of its writes into the store.

A vault that never replicates loads no journal: its writes go straight to the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.vault.caches import Caches
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.unindexed_writes import UnindexedWrites
from labkit.vault.seal_keys import SealKeys
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import BarrierError

if TYPE_CHECKING:
    from labkit.vault.replication.mode import Mode
    from labkit.vault.replication.tree.journal import Journal
    from labkit.vault.replication.tree.rebuild import Rebuild


DEAD_NS = 15 * SECOND_NS
"""After what silence a secondary is not connected any more."""


class Replica:
    """The node's part in DR replication: mode, journal, sync as a secondary, secondaries as a primary."""

    __slots__ = (
        "_caches",
        "_journal",
        "_keys",
        "_limit_entries",
        "_unindexed",
        "index_stored",
        "reconnects",
        "reindexed",
        "secondaries",
        "storage",
        "sync",
    )

    def __init__(
        self,
        storage: Storage,
        keys: SealKeys,
        caches: Caches,
        backlog_entries: int,
        journal: Mapping[str, Any] | None = None,
    ) -> None:
        self.storage = storage
        self._keys, self._caches = keys, caches
        self._limit_entries = backlog_entries
        self._unindexed = UnindexedWrites(storage)
        self._journal: Journal | None = None  # what never replicated has none
        if journal is not None:
            from labkit.vault.replication.tree.journal import Journal

            self._journal = Journal.from_state(storage, journal)
        self.sync: Any = None
        self.secondaries: dict[str, Any] = {}
        self.reconnects = False  # whether a primary ends the connections of its secondaries, after the present step
        self.reindexed = ""  # in what the index that the present step put in use differs; empty: it put none
        self.index_stored = False  # whether the present step stored the index that a reindex made

    @property
    def journal(self) -> Journal:
        """The journal, made when it is first asked for: a vault that does not replicate does without it (R24)."""
        if self._journal is None:
            from labkit.vault.replication.tree.journal import Journal

            self._journal = Journal(self.storage, self._limit_entries)
        return self._journal

    @property
    def rebuild(self) -> Rebuild | None:
        """The index that is being made again, if one is."""
        return None if self._journal is None else self._journal.rebuild

    def commit(self, writes: Mapping[str, bytes | None], term: int) -> int | None:
        """Write one step in one transaction, through the journal if there is one; return its entry's number."""
        if self._journal is not None:
            return self._journal.commit(writes, term)
        self._unindexed.apply(writes, term)
        return None

    def journal_state(self) -> dict[str, Any] | None:
        """Return the journal's state as plain values; None for one that made no entry and makes none."""
        journal = self._journal
        return None if journal is None or not (journal.on or journal.last) else journal.state()

    @property
    def mode(self) -> Mode:
        """The cluster's replication mode, as stored, *disabled* when it does not open; raises Unavailable while sealed.

        A request that depends on the mode is judged by ``is_secondary`` and the context's, which raise BarrierError.
        """
        stored, known = self.storage.get(MODE_KEY), self._caches.records.get(MODE_KEY)
        if known is not None and known[0] is stored:  # asked for several times in each step
            return known[1]  # type: ignore[no-any-return]  # what was made of these very bytes
        try:
            return self._stored_mode()
        except BarrierError:
            from labkit.vault.replication.mode import Mode  # few clusters replicate

            return Mode()

    @property
    def is_damaged(self) -> bool:
        """Whether a mode is stored that does not open."""
        if self._keys.sealed or self.storage.get(MODE_KEY) is None:
            return False
        try:
            self._stored_mode()
        except BarrierError:
            return True
        return False

    def _stored_mode(self) -> Mode:
        stored = self.storage.get(MODE_KEY)
        if stored is not None:
            return self._caches.records.derive(MODE_KEY, stored, _decoded_mode, self._keys)
        from labkit.vault.replication.mode import Mode

        return Mode()

    @property
    def is_secondary(self) -> bool:
        """Whether the cluster is a disaster-recovery secondary; checked for every request."""
        return self.storage.get(MODE_KEY) is not None and self._stored_mode().mode == "secondary"

    def shipped(self, steady_ns: int) -> tuple[int, int | None]:
        """Return the journal's newest entry, and up to which one every secondary that is connected has applied it.

        The last is as their heartbeats said it, None without any; one that was silent for ``DEAD_NS`` is not connected.
        """
        applied = [beat.position for beat in self.secondaries.values() if steady_ns - beat.steady_ns < DEAD_NS]
        return 0 if self._journal is None else self._journal.last, min(applied, default=None)

    def apply_mode(self, active: bool, term: int) -> None:
        """Keep the journal on while this node is the active one of a cluster that replicates, else off."""
        has_mode = not self._keys.sealed and self.storage.get(MODE_KEY) is not None
        replicates = active and has_mode and self.mode.mode != "disabled"
        if replicates and not self.journal.on:
            self.journal.switch_on(term)
        elif not replicates and self._journal is not None and self._journal.on:
            self._journal.switch_off()

    def reconnect(self) -> None:
        """Let a primary end the connections of its secondaries, so that each begins another."""
        self.reconnects = True

    def leave(self) -> None:
        """Drop sync and secondaries and switch the journal off: the node's leadership begins or ends."""
        self.sync, self.secondaries, self.reindexed = None, {}, ""
        self.reconnects = self.index_stored = False
        self._unindexed.unmarked = False  # whoever leads meanwhile may store an index
        if self._journal is not None:
            self._journal.switch_off()


def _decoded_mode(value: bytes) -> Mode:
    from labkit.vault.replication.mode import Mode

    return Mode.from_bytes(value)
