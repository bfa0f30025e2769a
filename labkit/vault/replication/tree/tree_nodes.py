"""Tree nodes: subpages, pages, subtree roots and composite root of a cluster's two trees, folded and kept.

1. A subpage is the XOR of its leaves: cheap to update, but no defence against a forger, who can choose leaves
   that cancel each other.
2. A page is a hash over its 256 subpages, a subtree root over its 256 pages, the composite root over both
   subtree roots; after 0xFE, each kind begins with a byte of its own.
3. A fold XORs the differences of subpages into them, and hashes the pages, subtrees and composite root above these
   again.  A subpage is never computed again from its leaves.
4. ``changed`` names the pages whose subpages changed since they were stored last (D19).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import compress
from operator import ne
from struct import Struct
from typing import Any

from labkit.service.record import NamedTuple
from labkit.vault.identifiers import long_sha256, sha256

DIGEST_BYTES = 20
FAN_OUT = 256
PAGE_BYTES = FAN_OUT * DIGEST_BYTES

COMPARED_BYTES = 16
"""What a comparison sends of each digest: a key among a million is found with less than 12 KB."""
COMPARED_PAGE_BYTES = FAN_OUT * COMPARED_BYTES

REPLICATED, LOCAL = 1, 2
TREES = (REPLICATED, LOCAL)
TREE_TYPES = {REPLICATED: "replicated", LOCAL: "local"}

LAYERS = ("root", "subtree", "page", "subpage")

_PAGE, _SUBTREE, _COMPOSITE, _DAMAGE = b"\xfe\x01", b"\xfe\x02", b"\xfe\x03", b"\xfe\xfe"
_ALL_PAGES = [(tree, page) for tree in TREES for page in range(FAN_OUT)]
EMPTY = bytes(PAGE_BYTES)
"""The 256 subpages of a page without leaves."""

# A first comparison looks at most pages of both clusters: a slice for each digest takes four times as long.
_PARTS = {size * FAN_OUT: Struct(f"{size}s" * FAN_OUT) for size in (DIGEST_BYTES, COMPARED_BYTES)}
_CUT = Struct(f"{COMPARED_BYTES}s{DIGEST_BYTES - COMPARED_BYTES}x" * FAN_OUT)


class TreeNode(NamedTuple):
    """One node of the tree; numbers that do not apply are -1."""

    layer: str
    tree: int = -1
    page: int = -1
    subpage: int = -1


class TreeNodes:
    """The nodes of both trees; a page without leaves is left out of ``subpages``."""

    __slots__ = ("changed", "pages", "root", "subpages", "subtrees")

    def __init__(self) -> None:
        self.subpages: dict[int, dict[int, bytes]] = {tree: {} for tree in TREES}
        self.pages = dict.fromkeys(TREES, EMPTY_PAGES)
        self.subtrees = dict.fromkeys(TREES, _EMPTY_SUBTREE)
        self.root = _composite(self.subtrees)
        self.changed: dict[tuple[int, int], None] = {}

    @classmethod
    def of_sums(cls, sums: Mapping[int, list[int]]) -> TreeNodes:
        """Return the nodes above 65,536 subpages, given as numbers, of some trees; every page counts as changed."""
        nodes = cls()
        for tree, numbers in sums.items():
            nodes.subpages[tree], nodes.pages[tree] = _pages_of(numbers)
            nodes.subtrees[tree] = _node(_SUBTREE, nodes.pages[tree])
        nodes.root = _composite(nodes.subtrees)
        nodes.changed = dict.fromkeys(_ALL_PAGES)
        return nodes

    @classmethod
    def of_few(cls, sums: Mapping[int, Mapping[int, int]]) -> TreeNodes:
        """Return the same of the subpages that are not zero, by bucket: it takes as long as there are of these."""
        nodes = cls()
        nodes.fold({tree: sums.get(tree, {}) for tree in TREES})
        nodes.changed = dict.fromkeys(_ALL_PAGES)
        return nodes

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TreeNodes:
        """Restore nodes from what ``state`` returned."""
        nodes = cls()
        nodes.subpages = {tree: dict(state["subpages"][tree]) for tree in TREES}
        nodes.pages, nodes.subtrees = dict(state["pages"]), dict(state["subtrees"])
        nodes.root, nodes.changed = state["root"], dict.fromkeys(state["changed"])
        return nodes

    def state(self) -> dict[str, Any]:
        """Return the nodes as plain values, shallow copies."""
        return {
            "subpages": {tree: dict(self.subpages[tree]) for tree in TREES},
            "pages": dict(self.pages),
            "subtrees": dict(self.subtrees),
            "root": self.root,
            "changed": tuple(self.changed),
        }

    def to_be_folded(self) -> TreeNodes:
        """Return other nodes that are the same now; which of them are to be stored is not copied."""
        nodes = TreeNodes()
        nodes.subpages = {tree: dict(self.subpages[tree]) for tree in TREES}
        nodes.pages, nodes.subtrees, nodes.root = dict(self.pages), dict(self.subtrees), self.root
        return nodes

    def page(self, tree: int, page: int) -> bytes:
        """Return the 256 subpages of a page, 5,120 bytes end to end; empty subpages are zero."""
        return self.subpages[tree].get(page, EMPTY)

    def fold(self, pending: Mapping[int, Mapping[int, int]]) -> None:
        """Take differences of subpages in: {tree: {bucket: difference}}."""
        folded = [tree for tree in TREES if pending[tree]]
        for tree in folded:
            self._fold_tree(tree, pending[tree])
        if folded:
            self.root = _composite(self.subtrees)

    def take_folded(self, folded: TreeNodes) -> None:
        """Take what was folded in a copy of these, which is used no more."""
        self.subpages, self.pages = folded.subpages, folded.pages
        self.subtrees, self.root = folded.subtrees, folded.root
        self.changed.update(folded.changed)

    def damage(self, node: TreeNode) -> TreeNode:
        """Alter one node, whose page is to be stored; return it without the numbers that do not apply."""
        layer, tree, page, subpage = node
        if layer == "root":
            self.root = _node(_DAMAGE, self.root)
            return TreeNode(layer)
        if layer == "subtree":
            self.subtrees[tree] = _node(_DAMAGE, self.subtrees[tree])
            return TreeNode(layer, tree)
        if layer == "page":
            self.pages[tree] = _damaged(self.pages[tree], page)
            return TreeNode(layer, tree, page)
        self.subpages[tree][page] = _damaged(self.page(tree, page), subpage)
        self.changed[tree, page] = None
        return node

    def wrong_pages(self, tree: int, sound: TreeNodes) -> dict[str, Any]:
        """Return {page: whether its hash, and which of its subpages, are not as in other nodes of the same leaves}."""
        wrong: dict[str, Any] = {}
        for page in range(FAN_OUT):
            corrupted = _part(self.pages[tree], page) != _part(sound.pages[tree], page)
            subpages = differing_parts(self.page(tree, page), sound.page(tree, page))
            if corrupted or subpages:
                wrong[str(page)] = {"corrupted": corrupted, "subpages": subpages}
        return wrong

    def differing_pages(self, other: TreeNodes) -> list[tuple[int, int]]:
        """Return (tree, page) of every page whose hash, or any of its subpages, is not as in the other nodes."""
        return [
            (tree, page)
            for tree in TREES
            for page in range(FAN_OUT)
            if _part(self.pages[tree], page) != _part(other.pages[tree], page)
            or self.page(tree, page) != other.page(tree, page)
        ]

    def _fold_tree(self, tree: int, pending: Mapping[int, int]) -> None:
        subpages, pages = self.subpages[tree], bytearray(self.pages[tree])
        numbers, number_of, size = sorted(pending), int.from_bytes, DIGEST_BYTES
        # one buffer for all pages: making one of this size costs as much as a hash
        folded, begin = bytearray(PAGE_BYTES), 0
        while begin < len(numbers):
            page = numbers[begin] // FAN_OUT
            end = bisect_left(numbers, (page + 1) * FAN_OUT, begin)
            folded[:] = before = subpages.get(page, EMPTY)
            for number in numbers[begin:end]:
                at = (number & 0xFF) * size
                part = slice(at, at + size)
                folded[part] = (number_of(before[part], "big") ^ pending[number]).to_bytes(size, "big")
            subpages[page] = after = bytes(folded)
            pages[page * DIGEST_BYTES : (page + 1) * DIGEST_BYTES] = page_digest(after)
            self.changed[tree, page] = None
            if after == EMPTY:
                del subpages[page]
            begin = end
        self.pages[tree] = bytes(pages)
        self.subtrees[tree] = _node(_SUBTREE, self.pages[tree])


def page_digest(subpages: bytes) -> bytes:
    """Return the hash of a page from its 256 subpages, 5,120 bytes."""
    return _node(_PAGE, subpages)


def to_bytes(digest: int) -> bytes:
    """Return a set digest as 20 bytes."""
    return digest.to_bytes(DIGEST_BYTES, "big")


def compared(digests: bytes) -> bytes:
    """Return the first 16 bytes of each of 256 digests, end to end."""
    return b"".join(_CUT.unpack(digests))


def differing_parts(mine: bytes, theirs: bytes) -> list[int]:
    """Return the numbers, ascending, of the parts in which two runs of 256 digests, whole or compared, differ."""
    if mine == theirs:
        return []
    parts = _PARTS[len(mine)].unpack
    return [*compress(range(FAN_OUT), map(ne, parts(mine), parts(theirs)))]


def is_corrupted(report: Mapping[str, Any]) -> bool:
    """Return whether a report of ``MerkleTree.check`` found any node wrong."""
    return bool(report["corrupted_root"]) or any(
        tree["corrupted_subtree_root"] or tree["corrupted_index_tuples_map"]
        for tree in report["corrupted_tree_map"].values()
    )


def _pages_of(sums: list[int]) -> tuple[dict[int, bytes], bytes]:
    """Return the pages' subpages, and the page hashes end to end, of 65,536 subpages."""
    subpages: dict[int, bytes] = {}
    hashes: list[bytes] = []
    for page in range(FAN_OUT):
        part = sums[page * FAN_OUT : (page + 1) * FAN_OUT]
        if any(part):
            subpages[page] = b"".join([number.to_bytes(DIGEST_BYTES, "big") for number in part])
            hashes.append(page_digest(subpages[page]))
        else:
            hashes.append(_EMPTY_PAGE)
    return subpages, b"".join(hashes)


def _composite(subtrees: Mapping[int, bytes]) -> bytes:
    return _node(_COMPOSITE, b"".join([subtrees[tree] for tree in TREES]))


def _node(kind: bytes, below: bytes) -> bytes:
    return long_sha256()(kind + below).digest()[:DIGEST_BYTES]


def _part(digests: bytes, number: int) -> bytes:
    return digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]


def _damaged(digests: bytes, number: int) -> bytes:
    at = number * DIGEST_BYTES
    return digests[:at] + _node(_DAMAGE, _part(digests, number)) + digests[at + DIGEST_BYTES :]


_EMPTY_PAGE = sha256(_PAGE + EMPTY).digest()[:DIGEST_BYTES]
EMPTY_PAGES = _EMPTY_PAGE * FAN_OUT
_EMPTY_SUBTREE = sha256(_SUBTREE + EMPTY_PAGES).digest()[:DIGEST_BYTES]
