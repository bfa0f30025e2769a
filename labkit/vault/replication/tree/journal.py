"""The journal: between barrier and store, it numbers what is shipped and remembers the last of it.

1. While the journal is off, a commit goes straight to the store.  While it is on, a step's writes and the
   number of its entry reach the store in one transaction; tree and backlog change after the store accepted them.
2. A step that writes only keys outside both trees makes no entry.  Those keys are never part of an entry.
3. Entries are numbered without a gap, per cluster: the number has no meaning in another cluster.
4. The backlog holds the newest entries, bounded by count and by bytes (ciphertexts from before the change count
   too); the newest one always stays, so that a stream without lag never breaks.
5. What the other side holds is found by its guard, the set digest of its leaves: from the newest state
   backwards, changes are taken out of the guard entry by entry, and each guard so found is cached (R16).
6. An answer about generation n is what it was right after entry n, however many entries came later: their
   ``before`` undoes them.  When the backlog does not reach back to n, None is returned.
7. The index is stored with the leaves it stands on after a number of entries or keys (a flush, which is also a fold);
   each step stores the names of its keys in the tail.  So whoever takes over reads nodes and tail, and builds only
   where one of them is missing (D19).  The first write while the journal is off takes the mark of the nodes away.
8. What a flush cannot store is stored by a later one: the step before it stands.
9. A rebuild under way is given the names of the keys that each step changes; it ends when the journal is switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labkit.vault.replication import OUTSIDE
from labkit.vault.replication.tree.generation import Change, Entry, EntryRow, Generation
from labkit.vault.replication.tree.journal_search import newest_with
from labkit.vault.replication.tree.kept_index import (
    NUMBER_BYTES,
    TAIL,
    KeptNodes,
    changed_nodes,
    pages_to_store,
    read_nodes,
    read_tail,
    stale_pages,
    tail_slot,
)
from labkit.vault.replication.tree.merkle import MerkleTree
from labkit.vault.replication.tree.rebuild import Rebuild
from labkit.vault.replication.tree.tree_nodes import TreeNode
from labkit.vault.replication.unindexed_writes import UnindexedWrites
from labkit.vault.storage import StaleTerm, Storage, StoreError, Writes

__all__ = ["WAL_KEY", "Change", "Entry", "Generation", "Journal", "read_number"]

WAL_KEY = "node/wal"
"""Where the number of the newest entry is stored, 8 bytes, big-endian."""

MAX_NUMBER = 2**63
MAX_ENTRIES = 16_384
FLUSH_KEYS = 4_096
"""How many names the tail holds when the index is stored, however few entries they belong to."""
MAX_BYTES = 1 << 30
MAX_CACHED_GENERATIONS = 4


class Journal:
    """The write path of one node; ``tree`` is the Merkle tree, None while the journal is off."""

    __slots__ = (
        "_backlog",
        "_generations",
        "_guards",
        "_named",
        "_unindexed",
        "flushed",
        "last",
        "limit_bytes",
        "limit_entries",
        "oldest",
        "rebuild",
        "size_bytes",
        "storage",
        "tree",
    )

    def __init__(self, storage: Storage, limit_entries: int = MAX_ENTRIES, limit_bytes: int = MAX_BYTES) -> None:
        self.storage = storage
        self.limit_entries, self.limit_bytes = limit_entries, limit_bytes
        self.tree: MerkleTree | None = None
        self.rebuild: Rebuild | None = None
        self.last = 0  # number of the newest entry ever made
        self.flushed: int | None = None  # number of the entry at which the stored nodes stand; None: there are none
        self._named = 0  # how many names of changed keys the tail holds
        self._unindexed = UnindexedWrites(storage)
        self._empty_backlog()

    @classmethod
    def from_state(cls, storage: Storage, state: Mapping[str, Any]) -> Journal:
        """Make a journal of what ``state`` gave, over a store that was restored to the same instant."""
        journal = cls(storage, state["limit_entries"], state["limit_bytes"])
        journal.last, journal.oldest = state["last"], state["oldest"]
        journal.size_bytes, journal._backlog = state["size_bytes"], dict(state["backlog"])
        journal.flushed, journal._named = state["flushed"], state["named"]
        if state["tree"] is not None:
            journal.tree = MerkleTree.from_state(state["tree"], storage)
        if state["rebuild"] is not None:
            journal.rebuild = Rebuild.from_state(state["rebuild"])
        return journal

    def __len__(self) -> int:
        return len(self._backlog)

    def __repr__(self) -> str:
        return f"Journal({'off' if self.tree is None else 'on'}, last={self.last}, {len(self)} entries)"

    @property
    def on(self) -> bool:
        """Whether entries are made."""
        return self.tree is not None

    def state(self) -> dict[str, Any]:
        """Return everything but the store as plain values; entries are shared, not copied."""
        return {
            "limit_entries": self.limit_entries,
            "limit_bytes": self.limit_bytes,
            "last": self.last,
            "oldest": self.oldest,
            "size_bytes": self.size_bytes,
            "backlog": dict(self._backlog),
            "flushed": self.flushed,
            "named": self._named,
            "tree": None if self.tree is None else self.tree.state(),
            "rebuild": None if self.rebuild is None else self.rebuild.state(),
        }

    def switch_on(self, term: int = 0) -> None:
        """Load the kept index, or build it, and begin to make entries: at takeover and at a change of mode."""
        storage = self.storage
        self.last = read_number(storage.get(WAL_KEY))
        self._empty_backlog()
        kept = read_nodes(storage.get)
        names = None if kept is None else read_tail(storage.get, kept.number, self.last, storage.flush_entries)
        if kept is None or names is None:
            self.flushed, self.tree = None, MerkleTree.build(self._stored(), storage)
            self.tree.nodes.changed = pages_to_store(storage.list, self.tree.nodes)
            self._try_flush(term)
        else:
            self.flushed, self.tree = kept.number, MerkleTree(storage, kept.nodes, kept.guard, names)
            self._named = len(names)

    def switch_off(self) -> None:
        """Forget tree and backlog: replication is disabled, the node steps down, or it is sealed."""
        self.tree, self.flushed, self._named = None, None, 0
        self._unindexed.unmarked = False
        self.rebuild = None
        self._empty_backlog()

    def flush(self, term: int, own: Writes | None = None) -> None:
        """Store the index as it is now, folded, with its leaves and keys outside both trees, in one transaction.

        An error of the store changes nothing.
        """
        assert self.tree is not None, "the journal is off: it has no index to store"
        self._store_nodes(term, self.tree, own or {})

    def corrupt(self, layer: str, key: str | None, term: int) -> TreeNode:
        """Store the index, damage one of its nodes as ``MerkleTree.corrupt`` does, and store that node."""
        assert self.tree is not None, "the journal is off: it has no tree to damage"
        self.flush(term)
        damaged = self.tree.corrupt(layer, key)
        self.flush(term)
        return damaged

    def replace(self, tree: MerkleTree, own: Writes, term: int, *, whole: bool, stored: bool) -> bool:
        """Put another index of the contents in the place of this one; return whether their leaves differ.

        If they do, the backlog is dropped: its entries start from states that never existed, and a secondary
        that asks by guard must not find any of them.  ``stored``: the index is stored now, with keys ``own`` outside
        both trees, and an error of the store changes nothing; ``whole``: every page, not only what is stored otherwise.
        """
        assert self.tree is not None, "the journal is off: it has no index to replace"
        guard = self.tree.guard()
        if not whole:
            tree.nodes.changed = stale_pages(self.storage.get, tree.nodes)
        if stored:
            self._store_nodes(term, tree, own)
        self.tree = tree
        if tree.guard() != guard:
            self._empty_backlog()
            return True
        return False

    def commit(self, writes: Writes, term: int) -> int | None:
        """Write one step in one transaction and return its entry's number, None when it made none.

        StaleTerm, or any other error of the store, passes through with nothing changed.
        """
        if self.tree is None:
            return self._commit(writes, [], term)
        return self._commit(writes, sorted([key for key in writes if not key.startswith(OUTSIDE)]), term)

    def apply(self, changes: Iterable[tuple[str, bytes | None]], own: Writes, term: int) -> int | None:
        """Write what the primary sent, and in the same transaction the caller's own keys outside both trees.

        Returns the number of this cluster's own entry.  Raises ValueError for a received key outside both trees.
        """
        writes = dict(changes)
        names = sorted(writes)
        for key in names:
            if key.startswith(OUTSIDE):
                raise ValueError(f"the primary sent {key}: such a key is outside both trees and never shipped")
        for key in own:
            assert key.startswith(OUTSIDE), f"{key} would be shipped; only keys outside both trees may be added"
        writes.update(own)
        return self._commit(writes, names, term)

    def since(self, entry_number: int) -> tuple[Entry, ...] | None:
        """Return the entries after a number, oldest first; None when the backlog does not reach it."""
        if not self.oldest <= entry_number <= self.last:
            return None
        backlog = self._backlog
        return tuple([Entry(*backlog[number]) for number in range(entry_number + 1, self.last + 1)])

    def find(self, guard: bytes) -> int | None:
        """Return the newest generation that has a guard; None when the backlog does not reach a state with it."""
        if self.tree is None:
            return None
        numbers = range(self.last, self.oldest - 1, -1)
        return newest_with(guard, self.tree.guard(), numbers, self._backlog, self._guards)

    def as_of(self, generation: int) -> Generation | None:
        """Return tree and values as they were right after an entry; None when the backlog does not reach it."""
        if self.tree is None or not self.oldest <= generation <= self.last:
            self._generations.pop(generation, None)
            return None
        cached = self._generations.pop(generation, None) or Generation(self, generation)
        self._generations[generation] = cached
        while len(self._generations) > MAX_CACHED_GENERATIONS:
            del self._generations[next(iter(self._generations))]
        cached.catch_up()
        return cached

    def _commit(self, writes: Writes, names: list[str], term: int) -> int | None:
        """Commit writes, of which ``names``, sorted, are the keys of the trees."""
        if not writes:
            return None
        tree, storage = self.tree, self.storage
        if tree is None:
            self._unindexed.apply(writes, term)
            return None
        if not names:
            storage.apply(writes, term)
            return None
        assert WAL_KEY not in writes, f"{WAL_KEY} is the journal's own"
        get, size_bytes = storage.get, 0
        made: list[Change] = []
        for key in names:
            before, after = get(key), writes[key]
            made.append((key, before, after))
            size_bytes += len(key) + (len(before) if before else 0) + (len(after) if after else 0)
        changes = tuple(made)
        leaves = tree.known_leaves(changes)
        number = self.last + 1
        stored = number.to_bytes(NUMBER_BYTES, "big")
        slot = f"{TAIL}{number % storage.flush_entries}"
        storage.apply({**writes, WAL_KEY: stored, slot: tail_slot(stored, names)}, term)
        tree.change_all(writes)
        if self.rebuild is not None:
            self.rebuild.touch(names)
        self.last = number
        self._keep((number, changes, size_bytes, leaves))
        self._named += len(names)
        if self.flushed is None or number - self.flushed >= storage.flush_entries or self._named >= FLUSH_KEYS:
            self._try_flush(term)
        return number

    def _try_flush(self, term: int) -> None:
        try:
            self.flush(term)
        except (StoreError, StaleTerm):
            return  # the next step tries again, and shows a stale term

    def _store_nodes(self, term: int, tree: MerkleTree, own: Writes) -> None:
        leaves = tree.changed_leaves()
        nodes = KeptNodes(self.last, int.from_bytes(tree.guard(), "big"), tree.nodes)
        self.storage.apply({**changed_nodes(nodes), **own}, term, leaves)
        tree.kept_now()
        self.flushed, self._named = self.last, 0

    def _stored(self) -> Iterable[tuple[str, bytes]]:
        keys = self.storage.keys()
        for key in keys:
            stored = self.storage.get(key)
            if stored is not None:
                yield key, stored

    def _keep(self, entry: EntryRow) -> None:
        backlog, (number, _, size_bytes, _) = self._backlog, entry
        backlog[number] = entry
        self.size_bytes += size_bytes
        while len(backlog) > 1 and (len(backlog) > self.limit_entries or self.size_bytes > self.limit_bytes):
            self._guards.pop(self.oldest, None)
            self.oldest += 1
            self.size_bytes -= backlog.pop(self.oldest)[2]

    def _empty_backlog(self) -> None:
        self.oldest = self.last  # the oldest generation that the backlog still reaches
        self.size_bytes = 0
        self._backlog: dict[int, EntryRow] = {}
        self._guards: dict[int, int] = {}
        self._generations: dict[int, Generation] = {}


def read_number(stored: bytes | None) -> int:
    """Return the stored number of the newest entry; 0 where there is none, or what is stored cannot be one (C12)."""
    number = int.from_bytes(stored, "big") if stored is not None and len(stored) == NUMBER_BYTES else 0
    return number if number < MAX_NUMBER else 0
