"""The Merkle tree: a cluster's stored ciphertexts in twenty bytes, and where two clusters differ.

1. A key's prefix gives its class: replicated (tree 1), local (tree 2), or outside both trees.
2. A leaf is SHA-256 over key, 0xFF, ciphertext, cut to 20 bytes.  UTF-8 never contains 0xFF or 0xFE, so no
   two pairs of key and ciphertext frame to the same bytes, and none to a node's, which begin with 0xFE.
3. A key's bucket is the low 16 bits of its CRC-32: the same on every machine, far cheaper than a hash, and
   evenly spread.  The high byte is the page, the low byte the subpage.
4. A subpage is the XOR of its leaves: cheap to update, but no defence against a forger, who can choose leaves
   that cancel each other.
5. A page is a hash over its 256 subpages, a subtree root over its 256 pages, the composite root over both
   subtree roots; after 0xFE, each kind begins with a byte of its own.
6. A change is only noted.  A read of leaves or guard settles what was noted into leaves, guard and each
   subpage's difference.  A read of a node also folds: the differences are XORed into the subpages, and the pages,
   subtrees and composite root above these are hashed again.  A subpage is never computed again from its leaves.
7. The guard is the XOR of all leaves of both trees.  It stands for the contents and does not depend on the nodes.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Container, Iterable, Mapping
from functools import reduce
from operator import xor
from typing import Any

from labkit.service.record import NamedTuple
from labkit.vault.identifiers import long_sha256, sha256

DIGEST_BYTES = 20
FAN_OUT = 256
PAGE_BYTES = FAN_OUT * DIGEST_BYTES

NO_TREE, REPLICATED, LOCAL = 0, 1, 2
TREES = (REPLICATED, LOCAL)
TREE_TYPES = {REPLICATED: "replicated", LOCAL: "local"}

CLASSES = {
    "node/": NO_TREE,  # only this cluster's: mode, authority, WAL position, lease, seal configuration
    "token/": LOCAL,  # service tokens
    "cubbyhole/": LOCAL,  # their private storage
    "lease/": LOCAL,  # leases; like the two above, shipped for disaster recovery only
    "local/": LOCAL,  # data of local mounts
}
"""Class of every key by its first folder; all others are replicated."""

NOTED_KEYS = 16_384
"""How many changed keys are noted before they are settled without a read."""

LAYERS = ("root", "subtree", "page", "subpage")

_PAGE, _SUBTREE, _COMPOSITE, _DAMAGE = b"\xfe\x01", b"\xfe\x02", b"\xfe\x03", b"\xfe\xfe"
_EMPTY = bytes(PAGE_BYTES)


def classify(key: str) -> int:
    """Return a key's class: 1 replicated, 2 local (DR secondaries get both), 0 outside both trees, never shipped."""
    return CLASSES.get(key[: key.find("/") + 1], REPLICATED)


def bucket(key: str) -> int:
    """Return the number of a key's bucket in its tree: page * 256 + subpage."""
    return crc32(key.encode()) & 0xFFFF


def leaf_digest(key: str, stored: bytes) -> bytes:
    """Return the 20 bytes that stand for a key and its stored ciphertext."""
    return long_sha256()(key.encode() + b"\xff" + stored).digest()[:DIGEST_BYTES]


def page_digest(subpages: bytes) -> bytes:
    """Return the hash of a page from its 256 subpages, 5,120 bytes."""
    return _node(_PAGE, subpages)


def to_bytes(digest: int) -> bytes:
    """Return a set digest as 20 bytes."""
    return digest.to_bytes(DIGEST_BYTES, "big")


class TreeNode(NamedTuple):
    """One node of the tree; numbers that do not apply are -1."""

    layer: str
    tree: int = -1
    page: int = -1
    subpage: int = -1


class MerkleTree:
    """The two trees of one cluster, in the memory of its active node."""

    __slots__ = ("_guard", "_leaves", "_noted", "_pages", "_pending", "_root", "_subpages", "_subtrees")

    def __init__(self) -> None:
        self._noted: dict[str, bytes | None] = {}
        self._leaves: dict[int, dict[str, bytes]] = {tree: {} for tree in TREES}
        self._pending: dict[int, dict[int, int]] = {tree: {} for tree in TREES}
        # By page, 5,120 bytes each; a page without leaves is left out.
        self._subpages: dict[int, dict[int, bytes]] = {tree: {} for tree in TREES}
        self._pages = dict.fromkeys(TREES, _EMPTY_PAGES)
        self._subtrees = dict.fromkeys(TREES, _EMPTY_SUBTREE)
        self._root = _composite(self._subtrees)
        self._guard = 0

    @classmethod
    def build(cls, items: Iterable[tuple[str, bytes]]) -> MerkleTree:
        """Build the tree of (key, stored ciphertext) pairs, in any order; keys outside both trees are ignored."""
        merkle_tree = cls()
        leaves, sums = merkle_tree._leaves[REPLICATED], [0] * (FAN_OUT * FAN_OUT)
        digest, number, other_prefixes = long_sha256(), int.from_bytes, tuple(CLASSES)
        for key, stored in items:
            if key.startswith(other_prefixes):
                merkle_tree.change(key, stored)
                continue
            name = key.encode()
            leaves[key] = leaf = digest(name + b"\xff" + stored).digest()[:20]
            sums[crc32(name) & 0xFFFF] ^= number(leaf, "big")
        merkle_tree._guard ^= reduce(xor, sums)
        subpages, merkle_tree._pages[REPLICATED], merkle_tree._subtrees[REPLICATED] = _nodes(sums)
        merkle_tree._subpages[REPLICATED] = subpages
        merkle_tree._root = _composite(merkle_tree._subtrees)
        return merkle_tree

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> MerkleTree:
        """Restore a tree from what ``state`` returned."""
        merkle_tree = cls()
        merkle_tree._noted = dict(state["noted"])
        for tree in TREES:
            merkle_tree._leaves[tree] = dict(state["leaves"][tree])
            merkle_tree._pending[tree] = dict(state["pending"][tree])
            merkle_tree._subpages[tree] = dict(state["subpages"][tree])
        merkle_tree._pages, merkle_tree._subtrees = dict(state["pages"]), dict(state["subtrees"])
        merkle_tree._root, merkle_tree._guard = state["root"], state["guard"]
        return merkle_tree

    def __len__(self) -> int:
        self._settle()
        return sum(len(leaves) for leaves in self._leaves.values())

    def __repr__(self) -> str:
        return f"MerkleTree({len(self)} keys)"

    def state(self) -> dict[str, Any]:
        """Return the tree as plain values, shallow copies."""
        return {
            "noted": dict(self._noted),
            "leaves": {tree: dict(self._leaves[tree]) for tree in TREES},
            "pending": {tree: dict(self._pending[tree]) for tree in TREES},
            "subpages": {tree: dict(self._subpages[tree]) for tree in TREES},
            "pages": dict(self._pages),
            "subtrees": dict(self._subtrees),
            "root": self._root,
            "guard": self._guard,
        }

    def change(self, key: str, after: bytes | None) -> None:
        """Note that a key now holds a ciphertext, or (None) is deleted; a key outside both trees changes nothing."""
        noted = self._noted
        noted[key] = after
        if len(noted) > NOTED_KEYS:
            self._settle()

    def root(self) -> str:
        """Return the composite root as forty hex digits."""
        self._fold()
        return self._root.hex()

    def subtree_root(self, tree: int) -> bytes:
        """Return the root of one tree, 20 bytes."""
        self._fold()
        return self._subtrees[tree]

    def pages(self, tree: int) -> bytes:
        """Return the 256 page hashes of a tree, 5,120 bytes end to end."""
        self._fold()
        return self._pages[tree]

    def subpages(self, tree: int, page: int) -> bytes:
        """Return the 256 subpages of a page, 5,120 bytes end to end; empty subpages are zero."""
        self._fold()
        return self._subpages[tree].get(page, _EMPTY)

    def leaf(self, key: str) -> bytes | None:
        """Return the digest of a key's leaf, or None."""
        self._settle()
        tree = classify(key)
        return self._leaves[tree].get(key) if tree else None

    def leaves(self, tree: int, buckets: Container[int] | None = None) -> dict[str, bytes]:
        """Return the leaves of a tree, or those in some of its buckets, sorted by key: one pass over all."""
        self._settle()
        leaves = self._leaves[tree]
        if buckets is None:
            return {key: leaves[key] for key in sorted(leaves)}
        keys = [key for key in leaves if crc32(key.encode()) & 0xFFFF in buckets]
        return {key: leaves[key] for key in sorted(keys)}

    def guard(self) -> bytes:
        """Return the set digest of all leaves, 20 bytes: equal for equal contents."""
        self._settle()
        return to_bytes(self._guard)

    def differing_pages(self, other: MerkleTree) -> list[tuple[int, int]]:
        """Return (tree, page) of every page whose hash, or any of its subpages, is not the other tree's."""
        return [
            (tree, page)
            for tree in TREES
            for page in range(FAN_OUT)
            if _part(self.pages(tree), page) != _part(other.pages(tree), page)
            or self.subpages(tree, page) != other.subpages(tree, page)
        ]

    def differing_keys(self, other: MerkleTree) -> list[str]:
        """Return the keys, sorted, whose leaf is not the other tree's, or that only one of the two has."""
        keys = []
        for tree in TREES:
            mine, theirs = self.leaves(tree), other.leaves(tree)
            keys += [key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)]
        return sorted(keys)

    def check(self, checked_at: str) -> dict[str, Any]:
        """Compare every node, each by itself, with a tree newly computed from the leaves, not from storage.

        Returns the body of ``merkle_corruption_report``; ``checked_at`` is the time of the check in RFC 3339.
        """
        from labkit.service.encoding import to_base64

        self._fold()
        fresh_subtrees: dict[int, bytes] = {}
        trees: dict[str, Any] = {}
        for tree in TREES:
            subpages, pages, fresh_subtrees[tree] = _nodes(_sums(self._leaves[tree]))
            trees[str(tree)] = {
                "tree_type": TREE_TYPES[tree],
                "corrupted_subtree_root": self._subtrees[tree] != fresh_subtrees[tree],
                "root_hash": to_base64(self._subtrees[tree]),
                "corrupted_index_tuples_map": self._bad_pages(tree, subpages, pages) or None,
            }
        return {
            "corrupted_root": self._root != _composite(fresh_subtrees),
            "corrupted_tree_map": trees,
            "last_corruption_check_epoch": checked_at,
        }

    def corrupt(self, layer: str, key: str | None = None) -> TreeNode:
        """Damage one node and mark nothing dirty; ``key`` chooses which, by default the first key.

        Raises ValueError for an unknown layer, and for a key outside both trees.
        """
        if layer not in LAYERS:
            raise ValueError(f"no layer named {layer!r} in the tree; choose one of {', '.join(LAYERS)}")
        chosen = key if key is not None else self._first_key()
        tree = classify(chosen)
        if not tree:
            raise ValueError(f"{chosen} is in no tree; choose a key that is replicated")
        self._fold()
        page, subpage = divmod(bucket(chosen), FAN_OUT)
        if layer == "root":
            self._root = _node(_DAMAGE, self._root)
            return TreeNode(layer)
        if layer == "subtree":
            self._subtrees[tree] = _node(_DAMAGE, self._subtrees[tree])
            return TreeNode(layer, tree)
        if layer == "page":
            self._pages[tree] = _damaged(self._pages[tree], page)
            return TreeNode(layer, tree, page)
        self._subpages[tree][page] = _damaged(self._subpages[tree].get(page, _EMPTY), subpage)
        return TreeNode(layer, tree, page, subpage)

    def _settle(self) -> None:
        """Move noted changes into leaves, guard and pending differences of subpages."""
        if not self._noted:
            return
        digest, number = long_sha256(), int.from_bytes
        guard = self._guard
        for key, after in self._noted.items():
            tree = classify(key)
            if not tree:
                continue
            leaves, pending, name = self._leaves[tree], self._pending[tree], key.encode()
            before = leaves.get(key)
            delta = 0 if before is None else number(before, "big")
            if after is not None:
                leaves[key] = leaf = digest(name + b"\xff" + after).digest()[:DIGEST_BYTES]
                delta ^= number(leaf, "big")
            elif before is not None:
                del leaves[key]
            at = crc32(name) & 0xFFFF
            pending[at] = pending.get(at, 0) ^ delta
            guard ^= delta
        self._guard = guard
        self._noted.clear()

    def _fold(self) -> None:
        self._settle()
        folded = False
        for tree in TREES:
            if self._pending[tree]:
                self._fold_tree(tree)
                folded = True
        if folded:
            self._root = _composite(self._subtrees)

    def _fold_tree(self, tree: int) -> None:
        pending, subpages = self._pending[tree], self._subpages[tree]
        changed: dict[int, bytearray] = {}
        for number, delta in pending.items():
            page, at = number >> 8, (number & 0xFF) * DIGEST_BYTES
            if page not in changed:
                changed[page] = bytearray(subpages.get(page, _EMPTY))
            digests = changed[page]
            before = int.from_bytes(digests[at : at + DIGEST_BYTES], "big")
            digests[at : at + DIGEST_BYTES] = to_bytes(before ^ delta)
        pages = bytearray(self._pages[tree])
        for page, digests in changed.items():
            subpages[page] = after = bytes(digests)
            pages[page * DIGEST_BYTES : (page + 1) * DIGEST_BYTES] = page_digest(after)
            if after == _EMPTY:
                del subpages[page]
        self._pages[tree] = bytes(pages)
        self._subtrees[tree] = _node(_SUBTREE, self._pages[tree])
        pending.clear()

    def _bad_pages(self, tree: int, subpages: Mapping[int, bytes], pages: bytes) -> dict[str, Any]:
        bad: dict[str, Any] = {}
        for page in range(FAN_OUT):
            corrupted = _part(self._pages[tree], page) != _part(pages, page)
            wrong = differing_parts(self._subpages[tree].get(page, _EMPTY), subpages.get(page, _EMPTY))
            if corrupted or wrong:
                bad[str(page)] = {"corrupted": corrupted, "subpages": wrong}
        return bad

    def _first_key(self) -> str:
        return min((min(leaves) for leaves in self._leaves.values() if leaves), default="")


def is_corrupted(report: Mapping[str, Any]) -> bool:
    """Return whether a report of ``MerkleTree.check`` found any node wrong."""
    return bool(report["corrupted_root"]) or any(
        tree["corrupted_subtree_root"] or tree["corrupted_index_tuples_map"]
        for tree in report["corrupted_tree_map"].values()
    )


def differing_parts(mine: bytes, theirs: bytes) -> list[int]:
    """Return the numbers, ascending, of the 20-byte parts in which two runs of 256 digests differ."""
    if mine == theirs:
        return []
    return [number for number in range(FAN_OUT) if _part(mine, number) != _part(theirs, number)]


def _sums(leaves: Mapping[str, bytes]) -> list[int]:
    """Return the 65,536 subpages of a tree as numbers."""
    sums = [0] * (FAN_OUT * FAN_OUT)
    number = int.from_bytes
    for key, leaf in leaves.items():
        sums[crc32(key.encode()) & 0xFFFF] ^= number(leaf, "big")
    return sums


def _nodes(sums: list[int]) -> tuple[dict[int, bytes], bytes, bytes]:
    """Return the pages' subpages, the page hashes and the subtree root of 65,536 subpages."""
    subpages: dict[int, bytes] = {}
    hashes: list[bytes] = []
    for page in range(FAN_OUT):
        part = sums[page * FAN_OUT : (page + 1) * FAN_OUT]
        if any(part):
            subpages[page] = b"".join([number.to_bytes(DIGEST_BYTES, "big") for number in part])
            hashes.append(page_digest(subpages[page]))
        else:
            hashes.append(_EMPTY_PAGE)
    pages = b"".join(hashes)
    return subpages, pages, _node(_SUBTREE, pages)


def _composite(subtrees: Mapping[int, bytes]) -> bytes:
    return _node(_COMPOSITE, b"".join([subtrees[tree] for tree in TREES]))


def _node(kind: bytes, below: bytes) -> bytes:
    return long_sha256()(kind + below).digest()[:DIGEST_BYTES]


def _part(digests: bytes, number: int) -> bytes:
    return digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]


def _damaged(digests: bytes, number: int) -> bytes:
    at = number * DIGEST_BYTES
    return digests[:at] + _node(_DAMAGE, _part(digests, number)) + digests[at + DIGEST_BYTES :]


_EMPTY_PAGE = sha256(_PAGE + _EMPTY).digest()[:DIGEST_BYTES]
_EMPTY_PAGES = _EMPTY_PAGE * FAN_OUT
_EMPTY_SUBTREE = sha256(_SUBTREE + _EMPTY_PAGES).digest()[:DIGEST_BYTES]
