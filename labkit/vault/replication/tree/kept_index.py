"""Kept index: where the nodes of the Merkle trees, and the names of keys changed since, are stored (D19).

1. All of it is outside both trees: of this cluster only, never shipped.
2. The mark holds the number of the journal entry at which the nodes stand, guard, roots and page hashes.  Without it
   what else is stored of the nodes means nothing.
3. The tail holds a slot for each of the entries after that one: its number and the names of the keys that it changed,
   0xFF between them.  A slot is taken again once the entry that it holds is folded into the stored nodes.
4. What cannot be what was written (its length, its number, a name that is not text), and a tail with a gap, count as no
   kept index: it is built from the contents (C12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from labkit.service.record import NamedTuple
from labkit.vault.replication.tree.key_classes import LOCAL, REPLICATED
from labkit.vault.replication.tree.tree_nodes import (
    DIGEST_BYTES,
    FAN_OUT,
    PAGE_BYTES,
    TREES,
    TreeNodes,
)
from labkit.vault.replication.unindexed_writes import MARK

PAGES = {REPLICATED: "node/index/replicated/", LOCAL: "node/index/local/"}
TAIL = "node/index/tail/"

NUMBER_BYTES = 8
MARK_BYTES = NUMBER_BYTES + DIGEST_BYTES * (2 + len(TREES)) + PAGE_BYTES * len(TREES)

Read = Callable[[str], bytes | None]


class KeptNodes(NamedTuple):
    """Nodes as they stood right after an entry, and their guard."""

    number: int
    guard: int
    nodes: TreeNodes


def tail_slot(number: bytes, changed: Iterable[str]) -> bytes:
    """Return the contents of an entry's slot in the tail."""
    return number + b"\xff".join(map(str.encode, changed))


def read_tail(read: Read, after: int, last: int, slots: int) -> list[str] | None:
    """Return the names, each once, that the entries after one up to another changed; None when a slot is missing."""
    if not 0 <= last - after <= slots:
        return None
    named: list[bytes] = []
    for number in range(after + 1, last + 1):
        slot = read(f"{TAIL}{number % slots}")
        if slot is None or not slot.startswith(number.to_bytes(NUMBER_BYTES, "big")):
            return None
        named += slot[NUMBER_BYTES:].split(b"\xff")
    try:
        return [name.decode() for name in dict.fromkeys(named)]
    except UnicodeDecodeError:
        return None


def changed_nodes(kept: KeptNodes) -> dict[str, bytes | None]:
    """Return the writes that store what changed of the nodes; a page without leaves is deleted."""
    number, guard, nodes = kept
    writes: dict[str, bytes | None] = {
        f"{PAGES[tree]}{page}": nodes.subpages[tree].get(page) for tree, page in nodes.changed
    }
    digests = [guard.to_bytes(DIGEST_BYTES, "big"), nodes.root]
    digests += [nodes.subtrees[tree] for tree in TREES] + [nodes.pages[tree] for tree in TREES]
    writes[MARK] = number.to_bytes(NUMBER_BYTES, "big") + b"".join(digests)
    return writes


def pages_to_store(names: Callable[[str], list[str]], nodes: TreeNodes) -> dict[tuple[int, int], None]:
    """Return (tree, page) of each page that has leaves or is stored: all others are missing on both sides."""
    found: dict[tuple[int, int], None] = {}
    for tree in TREES:
        stored = {int(name) for name in names(PAGES[tree]) if name.isdecimal() and int(name) < FAN_OUT}
        found.update({(tree, page): None for page in sorted(stored.union(nodes.subpages[tree]))})
    return found


def stale_pages(read: Read, nodes: TreeNodes) -> dict[tuple[int, int], None]:
    """Return (tree, page) of each page that is not stored as the nodes have it, whoever altered it."""
    stale: dict[tuple[int, int], None] = {}
    for tree in TREES:
        prefix, subpages = PAGES[tree], nodes.subpages[tree].get
        stale.update({(tree, page): None for page in range(FAN_OUT) if read(f"{prefix}{page}") != subpages(page)})
    return stale


def read_nodes(read: Read) -> KeptNodes | None:
    """Return the stored nodes; None without a mark, or where something is not of the length that was written."""
    mark = read(MARK)
    if mark is None or len(mark) != MARK_BYTES:
        return None
    nodes, at = TreeNodes(), NUMBER_BYTES + DIGEST_BYTES
    nodes.root, at = mark[at : at + DIGEST_BYTES], at + DIGEST_BYTES
    for tree in TREES:
        nodes.subtrees[tree], at = mark[at : at + DIGEST_BYTES], at + DIGEST_BYTES
    for tree in TREES:
        nodes.pages[tree], at = mark[at : at + PAGE_BYTES], at + PAGE_BYTES
        stored = {page: read(f"{PAGES[tree]}{page}") for page in range(FAN_OUT)}
        nodes.subpages[tree] = {page: subpages for page, subpages in stored.items() if subpages is not None}
        if any(len(subpages) != PAGE_BYTES for subpages in nodes.subpages[tree].values()):
            return None
    number, guard = mark[:NUMBER_BYTES], mark[NUMBER_BYTES : NUMBER_BYTES + DIGEST_BYTES]
    return KeptNodes(int.from_bytes(number, "big"), int.from_bytes(guard, "big"), nodes)
