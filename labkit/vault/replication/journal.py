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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from labkit.service.record import NamedTuple
from labkit.vault.replication.merkle import (
    DIGEST_BYTES,
    FAN_OUT,
    MerkleTree,
    bucket,
    classify,
    leaf_digest,
    page_digest,
    to_bytes,
)
from labkit.vault.storage import Storage, Writes

WAL_KEY = "node/wal"
"""Where the number of the newest entry is stored, 8 bytes, big-endian."""

NUMBER_BYTES, MAX_NUMBER = 8, 2**63
MAX_ENTRIES = 16_384
MAX_BYTES = 1 << 30
MAX_CACHED_GENERATIONS = 4

Change = tuple[str, bytes | None, bytes | None]
"""Key, stored ciphertext before and after; None where the key was absent."""


class Entry(NamedTuple):
    """What one step changed, in order of keys; ``size_bytes`` counts keys and ciphertexts."""

    number: int
    changes: tuple[Change, ...]
    size_bytes: int


class Journal:
    """The write path of one node; ``tree`` is the Merkle tree, None while the journal is off."""

    __slots__ = (
        "_backlog",
        "_generations",
        "_guards",
        "last",
        "limit_bytes",
        "limit_entries",
        "oldest",
        "size_bytes",
        "storage",
        "tree",
    )

    def __init__(self, storage: Storage, limit_entries: int = MAX_ENTRIES, limit_bytes: int = MAX_BYTES) -> None:
        self.storage = storage
        self.limit_entries, self.limit_bytes = limit_entries, limit_bytes
        self.tree: MerkleTree | None = None
        self.last = 0  # number of the newest entry ever made
        self._empty_backlog()

    @classmethod
    def from_state(cls, storage: Storage, state: Mapping[str, Any]) -> Journal:
        """Make a journal of what ``state`` gave, over a store that was restored to the same instant."""
        journal = cls(storage, state["limit_entries"], state["limit_bytes"])
        journal.last, journal.oldest = state["last"], state["oldest"]
        journal.size_bytes, journal._backlog = state["size_bytes"], dict(state["backlog"])
        if state["tree"] is not None:
            journal.tree = MerkleTree.from_state(state["tree"])
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
            "tree": None if self.tree is None else self.tree.state(),
        }

    def switch_on(self) -> None:
        """Make the tree from storage and begin to make entries: at takeover and at a change of mode."""
        self.last = read_number(self.storage.get(WAL_KEY))
        self._empty_backlog()
        self.tree = MerkleTree.build(self._stored())

    def switch_off(self) -> None:
        """Forget tree and backlog: replication is disabled, the node steps down, or it is sealed."""
        self.tree = None
        self._empty_backlog()

    def adopt(self, tree: MerkleTree) -> bool:
        """Replace the tree by a reindexed one; return whether their leaves differ.

        If they do, the backlog is dropped: its entries start from states that never existed, and a secondary
        that asks by guard must not find any of them.
        """
        assert self.tree is not None, "the journal is off: it has no tree to replace"
        differs = tree.guard() != self.tree.guard()
        self.tree = tree
        if differs:
            self._empty_backlog()
        return differs

    def commit(self, writes: Writes, term: int) -> int | None:
        """Write one step in one transaction and return its entry's number, None when it made none.

        StaleTerm, or any other error of the store, passes through with nothing changed.
        """
        if not writes:
            return None
        tree = self.tree
        names = [] if tree is None else [key for key in writes if classify(key)]
        if tree is None or not names:
            self.storage.apply(writes, term)
            return None
        assert WAL_KEY not in writes, f"{WAL_KEY} is the journal's own"
        before = self.storage.get
        changes = tuple([(key, before(key), writes[key]) for key in sorted(names)])
        number = self.last + 1
        self.storage.apply({**writes, WAL_KEY: number.to_bytes(NUMBER_BYTES, "big")}, term)
        for key, _, after in changes:
            tree.change(key, after)
        self.last = number
        self._keep(Entry(number, changes, sum(map(_size, changes))))
        return number

    def apply(self, changes: Iterable[tuple[str, bytes | None]], own: Writes, term: int) -> int | None:
        """Write what the primary sent, and in the same transaction the caller's own keys outside both trees.

        Returns the number of this cluster's own entry.  Raises ValueError for a received key outside both trees.
        """
        received = dict(changes)
        for key in received:
            if not classify(key):
                raise ValueError(f"the primary sent {key}: such a key is outside both trees and never shipped")
        for key in own:
            assert not classify(key), f"{key} would be shipped; only keys outside both trees may be added"
        return self.commit({**received, **own}, term)

    def since(self, entry_number: int) -> tuple[Entry, ...] | None:
        """Return the entries after a number, oldest first; None when the backlog does not reach it."""
        if not self.oldest <= entry_number <= self.last:
            return None
        backlog = self._backlog
        return tuple([backlog[number] for number in range(entry_number + 1, self.last + 1)])

    def find(self, guard: bytes) -> int | None:
        """Return the newest generation that has a guard; None when the backlog does not reach a state with it."""
        if self.tree is None:
            return None
        wanted, number = int.from_bytes(guard, "big"), int.from_bytes(self.tree.guard(), "big")
        guards = self._guards
        for generation in range(self.last, self.oldest - 1, -1):
            number = guards.setdefault(generation, number)
            if number == wanted:
                return generation
            if generation > self.oldest and generation - 1 not in guards:
                number ^= _difference(self._backlog[generation])
        return None

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

    def _stored(self) -> Iterable[tuple[str, bytes]]:
        keys = self.storage.keys()
        for key in keys:
            stored = self.storage.get(key)
            if stored is not None:
                yield key, stored

    def _keep(self, entry: Entry) -> None:
        backlog = self._backlog
        backlog[entry.number] = entry
        self.size_bytes += entry.size_bytes
        while len(backlog) > 1 and (len(backlog) > self.limit_entries or self.size_bytes > self.limit_bytes):
            self._guards.pop(self.oldest, None)
            self.oldest += 1
            self.size_bytes -= backlog.pop(self.oldest).size_bytes

    def _empty_backlog(self) -> None:
        self.oldest = self.last  # the oldest generation that the backlog still reaches
        self.size_bytes = 0
        self._backlog: dict[int, Entry] = {}
        self._guards: dict[int, int] = {}
        self._generations: dict[int, Generation] = {}


class Generation:
    """Tree and values as they were right after one entry: a cache over the journal, never state."""

    __slots__ = ("_before", "_journal", "_leaves", "_listed", "_seen", "_undo", "number")

    def __init__(self, journal: Journal, number: int) -> None:
        self.number = number
        self._journal = journal
        self._seen = number  # entries up to this one are undone
        self._before: dict[str, bytes | None] = {}
        self._leaves: dict[str, bytes | None] = {}
        self._listed: dict[tuple[int, int], dict[str, bytes]] = {}
        self._undo: dict[int, dict[int, dict[int, int]]] = {}

    @property
    def _tree(self) -> MerkleTree:
        tree = self._journal.tree
        assert tree is not None
        return tree

    def catch_up(self) -> None:
        """Undo the entries made since the last call; the first ``before`` of a key is what it held."""
        if self._seen == self._journal.last:
            return
        self._undo.clear()
        for entry in self._journal.since(self._seen) or ():
            for key, before, _ in entry.changes:
                if key not in self._before:
                    self._before[key] = before
                    self._leaves[key] = None if before is None else leaf_digest(key, before)
        self._seen = self._journal.last

    def value(self, key: str) -> bytes | None:
        """Return a key's ciphertext as it was."""
        return self._before[key] if key in self._before else self._journal.storage.get(key)

    def pages(self, tree: int) -> bytes:
        """Return the 256 page hashes of a tree as they were."""
        pages = bytearray(self._tree.pages(tree))
        for page in self._undoing(tree):
            at = page * DIGEST_BYTES
            pages[at : at + DIGEST_BYTES] = page_digest(self.subpages(tree, page))
        return bytes(pages)

    def subpages(self, tree: int, page: int) -> bytes:
        """Return the 256 subpages of a page as they were."""
        subpages = bytearray(self._tree.subpages(tree, page))
        for number, difference in self._undoing(tree).get(page, {}).items():
            at = number * DIGEST_BYTES
            now = int.from_bytes(subpages[at : at + DIGEST_BYTES], "big")
            subpages[at : at + DIGEST_BYTES] = to_bytes(now ^ difference)
        return bytes(subpages)

    def leaves(self, tree: int, buckets: Set[int]) -> dict[str, bytes]:
        """Return the leaves in some buckets of a tree as they were, sorted by key."""
        wanted = sorted({number >> 8 for number in buckets})
        if any((tree, page) not in self._listed for page in wanted):
            self._list(tree, wanted)
        leaves: dict[str, bytes] = {}
        for page in wanted:
            leaves.update(self._listed[tree, page])
        return {key: leaves[key] for key in sorted(leaves) if bucket(key) in buckets}

    def _undoing(self, tree: int) -> dict[int, dict[int, int]]:
        """Return {page: {subpage: what it has to be XORed with to be as it was}}."""
        if tree not in self._undo:
            pages: dict[int, dict[int, int]] = {}
            for key, earlier in self._leaves.items():
                if classify(key) == tree:
                    page, number = divmod(bucket(key), FAN_OUT)
                    subpages = pages.setdefault(page, {})
                    difference = _number(earlier) ^ _number(self._tree.leaf(key))
                    subpages[number] = subpages.get(number, 0) ^ difference
            self._undo[tree] = pages
        return self._undo[tree]

    def _list(self, tree: int, pages: list[int]) -> None:
        """List whole pages in one pass over the tree, and cache them: an earlier state does not change."""
        listed: dict[int, dict[str, bytes]] = {page: {} for page in pages}
        buckets = {page * FAN_OUT + number for page in pages for number in range(FAN_OUT)}
        earlier = self._tree.leaves(tree, buckets)
        for key, leaf in self._leaves.items():
            earlier.pop(key, None)
            if leaf is not None and classify(key) == tree and bucket(key) in buckets:
                earlier[key] = leaf
        for key, leaf in earlier.items():
            listed[bucket(key) // FAN_OUT][key] = leaf
        self._listed.update({(tree, page): leaves for page, leaves in listed.items()})


def read_number(stored: bytes | None) -> int:
    """Return the stored number of the newest entry; 0 where there is none, or what is stored cannot be one (C12)."""
    number = int.from_bytes(stored, "big") if stored is not None and len(stored) == NUMBER_BYTES else 0
    return number if number < MAX_NUMBER else 0


def _difference(entry: Entry) -> int:
    """Return what an entry changed the guard by."""
    difference = 0
    for key, before, after in entry.changes:
        for stored in (before, after):
            if stored is not None:
                difference ^= int.from_bytes(leaf_digest(key, stored), "big")
    return difference


def _size(change: Change) -> int:
    key, before, after = change
    return len(key) + len(before or b"") + len(after or b"")


def _number(leaf: bytes | None) -> int:
    return 0 if leaf is None else int.from_bytes(leaf, "big")
