"""Generation: tree and values of a cluster as they were right after one of its journal's entries.

1. An entry is undone with the ciphertexts and the leaves from before it: the first of a key is what it held.
2. The leaf before is the one that was kept, not that of the ciphertext found: what was damaged in the store stays known
   as damaged, also after it was written over.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Protocol

from labkit.service.record import NamedTuple
from labkit.vault.replication.tree.merkle import (
    DIGEST_BYTES,
    FAN_OUT,
    UNSETTLED,
    MerkleTree,
    bucket,
    classify,
    leaf_digest,
    page_digest,
    to_bytes,
)
from labkit.vault.storage import Storage

Change = tuple[str, bytes | None, bytes | None]
"""Key, stored ciphertext before and after; None where the key was absent."""


class Entry(NamedTuple):
    """What one step changed, in order of keys; ``size_bytes`` counts keys and ciphertexts.

    ``leaves``: of each key the leaf before; ``UNSETTLED`` where what it stands for was written after the last settle.
    """

    number: int
    changes: tuple[Change, ...]
    size_bytes: int
    leaves: tuple[bytes | None, ...]


EntryRow = tuple[int, tuple[Change, ...], int, tuple[bytes | None, ...]]
"""An entry as the backlog keeps it: a plain tuple, at which the garbage collector looks only once."""


class Entries(Protocol):
    """What a generation needs of the journal."""

    last: int
    storage: Storage
    tree: MerkleTree | None

    def since(self, entry_number: int) -> tuple[Entry, ...] | None:
        """Return the entries after a number, oldest first; None when the backlog does not reach it."""


class Generation:
    """Tree and values as they were right after one entry: a cache over the journal, never state."""

    __slots__ = ("_before", "_journal", "_leaves", "_listed", "_seen", "_undo", "number")

    def __init__(self, journal: Entries, number: int) -> None:
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
            for key, before, leaf in earlier(entry):
                if key not in self._before:
                    self._before[key], self._leaves[key] = before, leaf
        self._seen = self._journal.last

    def value(self, key: str) -> bytes | None:
        """Return a key's ciphertext as it was, as far as the store kept it: see ``is_damaged``."""
        return self._before[key] if key in self._before else self._journal.storage.get(key)

    def is_damaged(self, key: str, value: bytes | None) -> bool:
        """Whether what ``value`` returned is not what the key's leaf stands for: never to be shipped."""
        leaf = self._leaves[key] if key in self._leaves else self._tree.leaf(key)
        return leaf != (None if value is None else leaf_digest(key, value))

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
            for key, leaf in self._leaves.items():
                if classify(key) == tree:
                    page, number = divmod(bucket(key), FAN_OUT)
                    subpages = pages.setdefault(page, {})
                    difference = to_number(leaf) ^ to_number(self._tree.leaf(key))
                    subpages[number] = subpages.get(number, 0) ^ difference
            self._undo[tree] = pages
        return self._undo[tree]

    def _list(self, tree: int, pages: list[int]) -> None:
        """List whole pages in one pass over the tree, and cache them: an earlier state does not change."""
        listed: dict[int, dict[str, bytes]] = {page: {} for page in pages}
        buckets = {page * FAN_OUT + number for page in pages for number in range(FAN_OUT)}
        was = self._tree.leaves(tree, buckets)
        for key, leaf in self._leaves.items():
            was.pop(key, None)
            if leaf is not None and classify(key) == tree and bucket(key) in buckets:
                was[key] = leaf
        for key, leaf in was.items():
            listed[bucket(key) // FAN_OUT][key] = leaf
        self._listed.update({(tree, page): leaves for page, leaves in listed.items()})


def earlier(entry: Entry) -> Iterable[tuple[str, bytes | None, bytes | None]]:
    """Yield each key of an entry with the ciphertext and the leaf before it."""
    for (key, before, _), leaf in zip(entry.changes, entry.leaves, strict=True):
        if leaf == UNSETTLED:
            yield key, before, None if before is None else leaf_digest(key, before)
        else:
            yield key, before, leaf


def to_number(leaf: bytes | None) -> int:
    """Return a leaf as a number, 0 for none."""
    return 0 if leaf is None else int.from_bytes(leaf, "big")
