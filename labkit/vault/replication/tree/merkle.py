"""The Merkle tree: a cluster's stored ciphertexts in twenty bytes, and where two clusters differ.

1. The store keeps the leaves as they were when the nodes were stored last.  The tree holds those changed since: first
   noted, then settled into leaves, guard and each subpage's difference, then folded into the nodes.
2. A read of leaves or guard settles.  A read of a node also folds.  A leaf is computed from a value when a write of
   the value is settled, at a build, and for the keys that a takeover finds in the tail (D19); never else.
3. The guard is the XOR of all leaves of both trees.  It stands for the contents and does not depend on the nodes.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Container, Iterable, Mapping
from functools import reduce
from operator import xor
from typing import Any

from labkit.vault.identifiers import long_sha256
from labkit.vault.replication import OUTSIDE
from labkit.vault.replication.tree.key_classes import CLASSES, LOCAL, NO_TREE, REPLICATED, classify
from labkit.vault.replication.tree.leaves import (
    UNSETTLED,
    LeafStore,
    NothingKept,
    bucket,
    leaf_digest,
    leaf_or_none,
    placed_leaf,
)
from labkit.vault.replication.tree.tree_nodes import (
    COMPARED_PAGE_BYTES,
    DIGEST_BYTES,
    FAN_OUT,
    LAYERS,
    PAGE_BYTES,
    TREE_TYPES,
    TREES,
    TreeNode,
    TreeNodes,
    compared,
    differing_parts,
    page_digest,
    to_bytes,
)

__all__ = [
    "COMPARED_PAGE_BYTES",
    "DIGEST_BYTES",
    "FAN_OUT",
    "LAYERS",
    "LOCAL",
    "NO_TREE",
    "OUTSIDE",
    "PAGE_BYTES",
    "REPLICATED",
    "TREES",
    "UNSETTLED",
    "MerkleTree",
    "bucket",
    "classify",
    "compared",
    "differing_parts",
    "leaf_digest",
    "page_digest",
    "to_bytes",
    "tree_of",
]

FEW_LEAVES = 1 << 12
"""Of fewer leaves the nodes are computed from the subpages that have any, of more from all 65,536."""


class MerkleTree:
    """The two trees of one cluster, as its active node holds them over what the store keeps."""

    __slots__ = ("_ahead", "_changed", "_guard", "_kept", "_noted", "_pending", "_unread", "nodes")

    def __init__(
        self, kept: LeafStore | None = None, nodes: TreeNodes | None = None, guard: int = 0, unread: Iterable[str] = ()
    ) -> None:
        """Make a tree of kept leaves, nodes and guard that belong together; ``unread``: keys that changed since."""
        self._kept: LeafStore = kept or NothingKept()
        self._unread: dict[str, None] = dict.fromkeys(unread)
        self._noted: dict[str, bytes | None] = {}
        self._changed: dict[str, bytes | None] = {}  # leaves that are not those kept, before what is noted; None: none
        self._pending: dict[int, dict[int, int]] = {tree: {} for tree in TREES}
        self.nodes = nodes or TreeNodes()
        self._guard = guard
        self._ahead: tuple[dict[str, bytes | None], MerkleTree] | None = None  # what was noted, and it folded; no state

    @classmethod
    def build(cls, items: Iterable[tuple[str, bytes]], kept: LeafStore | None = None) -> MerkleTree:
        """Build the tree of (key, stored ciphertext) pairs, in any order; keys outside both trees are ignored.

        All leaves count as changed, the kept ones of other keys as gone.
        """
        merkle_tree = cls()
        leaves, sums = merkle_tree._changed, [0] * (FAN_OUT * FAN_OUT)
        digest, number, other_prefixes = long_sha256(), int.from_bytes, tuple(CLASSES)
        for key, stored in items:
            if key.startswith(other_prefixes):
                merkle_tree.change(key, stored)
                continue
            name = key.encode()
            leaves[key] = leaf = digest(name + b"\xff" + stored).digest()[:20]
            sums[crc32(name) & 0xFFFF] ^= number(leaf, "big")
        if len(leaves) < FEW_LEAVES:  # most clusters of a lab: what they do not have takes no time
            few = {at: sums[at] for at in [crc32(key.encode()) & 0xFFFF for key in leaves]}
            merkle_tree._guard ^= reduce(xor, few.values(), 0)
            merkle_tree.nodes = TreeNodes.of_few({REPLICATED: few})
        else:
            merkle_tree._guard ^= reduce(xor, sums)
            merkle_tree.nodes = TreeNodes.of_sums({REPLICATED: sums})
        if kept is not None:
            merkle_tree._settle()  # while no kept leaf counts
            merkle_tree._kept = kept
            leaves.update(dict.fromkeys([key for key in kept.leaves() if key not in leaves]))
        return merkle_tree

    @classmethod
    def from_state(cls, state: Mapping[str, Any], kept: LeafStore | None = None) -> MerkleTree:
        """Restore a tree from what ``state`` returned, over what keeps the same leaves as then."""
        merkle_tree = cls(kept, TreeNodes.from_state(state["nodes"]), state["guard"], state["unread"])
        merkle_tree._noted, merkle_tree._changed = dict(state["noted"]), dict(state["changed"])
        merkle_tree._pending = {tree: dict(state["pending"][tree]) for tree in TREES}
        return merkle_tree

    def __len__(self) -> int:
        self._settle()
        return len(self._all_leaves())

    def __repr__(self) -> str:
        return f"MerkleTree({len(self)} keys)"

    def state(self) -> dict[str, Any]:
        """Return the tree without the kept leaves as plain values, shallow copies."""
        return {
            "unread": tuple(self._unread),
            "noted": dict(self._noted),
            "changed": dict(self._changed),
            "pending": {tree: dict(self._pending[tree]) for tree in TREES},
            "nodes": self.nodes.state(),
            "guard": self._guard,
        }

    def change(self, key: str, after: bytes | None) -> None:
        """Note that a key now holds a ciphertext, or (None) is deleted; a key outside both trees changes nothing."""
        self._noted[key] = after

    def change_all(self, writes: Mapping[str, bytes | None]) -> None:
        """Note many changes; of each key the leaf before is read now: once overtaken, other leaves are kept there."""
        noted, changed, kept_leaf = self._noted, self._changed, self._kept.leaf
        for key in writes:
            if key not in noted and key not in changed and not key.startswith(OUTSIDE):
                changed[key] = kept_leaf(key)
        noted.update(writes)

    def changed_leaves(self) -> dict[str, bytes | None]:
        """Return the leaves that are not the kept ones, as they are to be kept; the nodes are folded with them."""
        self._fold()
        return self._changed

    def kept_now(self) -> None:
        """Count nothing as changed any more: the store keeps the leaves, and has the nodes."""
        self._changed = {}
        self.nodes.changed = {}

    def root(self) -> str:
        """Return the composite root as forty hex digits."""
        self._fold()
        return self.nodes.root.hex()

    def root_as_is(self) -> str:
        """Return the root as ``root`` does; what is to be folded is folded in a copy, which the next fold takes.

        Not so while keys are to be read: once this node was overtaken, another may have written them since.
        """
        if self._unread:
            return self._folded_copy().nodes.root.hex()
        if not (self._noted or any(self._pending.values())):
            return self.nodes.root.hex()
        if self._ahead is None or self._ahead[0] != self._noted:
            self._ahead = dict(self._noted), self._folded_copy()
        return self._ahead[1].nodes.root.hex()

    def roots(self) -> list[bytes]:
        """Return the composite root and those of both trees, 20 bytes each."""
        if self._noted or self._unread or any(self._pending.values()):  # asked with each heartbeat, mostly at rest
            self._fold()
        nodes = self.nodes
        return [nodes.root, *[nodes.subtrees[tree] for tree in TREES]]

    def subtree_root(self, tree: int) -> bytes:
        """Return the root of one tree, 20 bytes."""
        self._fold()
        return self.nodes.subtrees[tree]

    def pages(self, tree: int) -> bytes:
        """Return the 256 page hashes of a tree, 5,120 bytes end to end."""
        self._fold()
        return self.nodes.pages[tree]

    def subpages(self, tree: int, page: int) -> bytes:
        """Return the 256 subpages of a page, 5,120 bytes end to end; empty subpages are zero."""
        self._fold()
        return self.nodes.page(tree, page)

    def leaf(self, key: str) -> bytes | None:
        """Return the digest of a key's leaf, or None."""
        self._settle()
        if not classify(key):
            return None
        return self._changed[key] if key in self._changed else self._kept.leaf(key)

    def known_leaves(self, changes: Iterable[tuple[str, bytes | None, Any]]) -> tuple[bytes | None, ...]:
        """Return of each change's key the leaf before, None where nothing was stored, ``UNSETTLED`` for a noted one."""
        if self._unread:
            self._settle()
        noted, changed, kept_leaf = self._noted, self._changed, self._kept.leaf
        return tuple(
            [
                None
                if value is None
                else (UNSETTLED if noted[key] == value else leaf_or_none(key, noted[key]))  # it was damaged since
                if key in noted
                else changed[key]
                if key in changed
                else kept_leaf(key)
                for key, value, _ in changes
            ]
        )

    def leaves(self, tree: int, buckets: Container[int] | None = None) -> dict[str, bytes]:
        """Return the leaves of a tree, or those in some of its buckets, sorted by key: one pass over all."""
        self._settle()
        leaves = self._all_leaves(buckets)
        return {key: leaves[key] for key in sorted(leaves) if classify(key) == tree}

    def guard(self) -> bytes:
        """Return the set digest of all leaves, 20 bytes: equal for equal contents."""
        if self._noted or self._unread:
            self._settle()
        return to_bytes(self._guard)

    def differing_pages(self, other: MerkleTree) -> list[tuple[int, int]]:
        """Return (tree, page) of every page whose hash, or any of its subpages, is not the other tree's."""
        self._fold()
        other._fold()
        return self.nodes.differing_pages(other.nodes)

    def differing_keys(self, other: MerkleTree) -> list[str]:
        """Return the keys, sorted, whose leaf is not the other tree's, or that only one of the two has."""
        self._settle()
        other._settle()
        mine, theirs = self._all_leaves(), other._all_leaves()
        return sorted(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key))

    def check(self, checked_at: str) -> dict[str, Any]:
        """Compare every node, each by itself, with nodes newly computed from the leaves, not from storage.

        Returns the body of ``merkle_corruption_report``; ``checked_at`` is the time of the check in RFC 3339.
        """
        from labkit.service.encoding import to_base64

        self._fold()
        nodes, sound = self.nodes, TreeNodes.of_sums({tree: _sums(self.leaves(tree)) for tree in TREES})
        trees = {
            str(tree): {
                "tree_type": TREE_TYPES[tree],
                "corrupted_subtree_root": nodes.subtrees[tree] != sound.subtrees[tree],
                "root_hash": to_base64(nodes.subtrees[tree]),
                "corrupted_index_tuples_map": nodes.wrong_pages(tree, sound) or None,
            }
            for tree in TREES
        }
        return {
            "corrupted_root": nodes.root != sound.root,
            "corrupted_tree_map": trees,
            "last_corruption_check_epoch": checked_at,
        }

    def corrupt(self, layer: str, key: str | None = None) -> TreeNode:
        """Damage one node and mark nothing dirty; ``key`` chooses which, by default the first key.

        Raises ValueError for an unknown layer, and for a key outside both trees.
        """
        if layer not in LAYERS:
            raise ValueError(f"no layer named {layer!r} in the tree; choose one of {', '.join(LAYERS)}")
        self._fold()
        chosen = key if key is not None else min(self._all_leaves(), default="")
        tree = classify(chosen)
        if not tree:
            raise ValueError(f"{chosen} is in no tree; choose a key that is replicated")
        return self.nodes.damage(TreeNode(layer, tree, *divmod(bucket(chosen), FAN_OUT)))

    def _all_leaves(self, buckets: Container[int] | None = None) -> dict[str, bytes]:
        """Return all settled leaves, or those in some buckets of either tree, in any order."""
        kept, changed = self._kept.leaves(), self._changed
        found = {key: kept[key] for key in _within(kept, buckets)}
        for key in _within(changed, buckets):
            leaf = changed[key]
            if leaf is None:
                found.pop(key, None)
            else:
                found[key] = leaf
        return found

    def _folded_copy(self) -> MerkleTree:
        """Return a tree in which the same is folded; of the leaves it has those that this changes."""
        copied = MerkleTree(self._kept, self.nodes.to_be_folded(), self._guard, self._unread)
        copied._noted = dict(self._noted)
        changed = self._changed
        copied._changed = {key: changed[key] for key in (*self._noted, *self._unread) if key in changed}
        copied._pending = {tree: dict(self._pending[tree]) for tree in TREES}
        copied._settle()
        copied.nodes.fold(copied._pending)
        return copied

    def _settle(self) -> None:
        """Move noted changes into leaves, guard and pending differences of subpages."""
        if self._ahead is not None and self._ahead[0] == self._noted:
            self._take_settled(self._ahead[1])
            return
        self._ahead = None
        if self._unread:
            read, self._unread = self._unread, {}
            self._take_in({key: self._kept.get(key) for key in read if key not in self._noted})
        if self._noted:
            self._take_in(self._noted)
            self._noted.clear()

    def _take_settled(self, ahead: MerkleTree) -> None:
        """Settle as was done ahead, where nothing changed since: but for what is folded then."""
        self._noted.clear()
        self._guard = ahead._guard
        self._changed.update(ahead._changed)
        self._pending = {tree: dict(ahead._pending[tree]) for tree in TREES}
        self._ahead = {}, ahead

    def _take_in(self, writes: Mapping[str, bytes | None]) -> None:
        number, kept_leaf = int.from_bytes, self._kept.leaf
        guard, changed, pending_of = self._guard, self._changed, self._pending
        for key, after in writes.items():
            if key.startswith(OUTSIDE):
                continue
            before = changed[key] if key in changed else kept_leaf(key)
            if after is None:
                changed[key], delta, tree, at = None, 0, classify(key), bucket(key)
            else:
                changed[key], delta, tree, at = placed_leaf(key, after)
            if before is not None:
                delta ^= number(before, "big")
            pending = pending_of[tree]
            pending[at] = pending.get(at, 0) ^ delta
            guard ^= delta
        self._guard = guard

    def _fold(self) -> None:
        self._settle()
        if any(self._pending.values()):
            if self._ahead is not None:
                self.nodes.take_folded(self._ahead[1].nodes)
            else:
                self.nodes.fold(self._pending)
            for pending in self._pending.values():
                pending.clear()
        self._ahead = None


def tree_of(leaves: Mapping[str, bytes], kept: LeafStore) -> MerkleTree:
    """Return the tree of leaves of either tree, over what keeps others: all pages, and the leaves that differ, count
    as changed.
    """
    sums = {tree: [0] * (FAN_OUT * FAN_OUT) for tree in TREES}
    number, class_of = int.from_bytes, CLASSES.get
    for key, leaf in leaves.items():
        sums[class_of(key[: key.find("/") + 1], REPLICATED)][crc32(key.encode()) & 0xFFFF] ^= number(leaf, "big")
    guard = reduce(xor, [reduce(xor, numbers) for numbers in sums.values()])
    merkle_tree = MerkleTree(kept, TreeNodes.of_sums(sums), guard)
    others = kept.leaves()
    merkle_tree._changed = {key: leaf for key, leaf in leaves.items() if others.get(key) != leaf}
    merkle_tree._changed.update(dict.fromkeys([key for key in others if key not in leaves]))
    return merkle_tree


def _within(leaves: Mapping[str, Any], buckets: Container[int] | None) -> Iterable[str]:
    """Return the keys, or those in some buckets."""
    if buckets is None:
        return leaves
    return [key for key in leaves if crc32(key.encode()) & 0xFFFF in buckets]


def _sums(leaves: Mapping[str, bytes]) -> list[int]:
    """Return the 65,536 subpages of a tree as numbers."""
    sums = [0] * (FAN_OUT * FAN_OUT)
    number = int.from_bytes
    for key, leaf in leaves.items():
        sums[crc32(key.encode()) & 0xFFFF] ^= number(leaf, "big")
    return sums
