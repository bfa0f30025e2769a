"""Merkle contents: a cluster's index as its active node holds it, beside another cluster's, and all of it in words.

1. It asks and changes nothing: what it folds, and checks, is a copy.
2. A root, page or subpage *differs* where the other cluster has another one there, and is *damaged* where it is not
   what the index's own leaves make.  A page is *pending* while keys in it were written and nothing was folded since.
3. What a comparison sent is counted from the trace: its messages since the question by guard that began it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.arguments import one_of, wrong
from labkit.vault.replication.tree.merkle import FAN_OUT, TREES, MerkleTree, bucket, classify, differing_parts

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

NAMES = dict(zip(TREES, ("replicated", "local"), strict=True))
QUESTIONS = ("guard_hash", "conflicting_pages", "sub_page_hashes", "fetch_keys")
MAX_LISTED = 12

Place = tuple[str, int]


class Cell(NamedTuple):
    """One page or subpage: its number, how many leaves are in it, and what is to be said of it."""

    number: int
    leaves: int
    differs: bool = False
    damaged: bool = False
    pending: bool = False


class Subtree(NamedTuple):
    """One of the two trees: its name, its root in hex, and its 256 pages."""

    name: str
    root: str
    differs: bool
    damaged: bool
    pages: tuple[Cell, ...]


class LeafRow(NamedTuple):
    """One name in the chosen page: its subpage, and its leaf in hex here and in the other cluster; empty for none."""

    name: str
    subpage: int
    here: str
    there: str


class ChosenPage(NamedTuple):
    """The page that is looked into: its tree and number, its 256 subpages and its leaves."""

    tree: str
    number: int
    subpages: tuple[Cell, ...]
    leaves: tuple[LeafRow, ...]


class Sent(NamedTuple):
    """What the last comparison sent for one kind of question: messages both ways, and their bytes."""

    question: str
    messages: int
    size_bytes: int


class MerkleContents(NamedTuple):
    """Everything that a picture of an index says; ``other`` is empty when it is compared with none."""

    at_ns: int
    cluster: str
    other: str
    root: str
    differs: bool
    damaged: bool
    subtrees: tuple[Subtree, ...]
    chosen: ChosenPage | None
    sent: tuple[Sent, ...]


def contents_of(queries: Queries, cluster: str, other: str | None = None, page: Any = None) -> MerkleContents:
    """Return what a picture of a cluster's index says, compared with another cluster's: by default its upstream's.

    ``page`` is a tree's name and a page's number, such as ("replicated", 23); without it the first page that is damaged
    or differs is looked into.  ValueError for a cluster without an index, or a page that there is not.
    """
    if other is not None:
        one_of("other", "a cluster", other, [plan.name for plan in queries.blueprint.clusters])
    here = _index_of(queries, cluster)
    beside = queries.upstream_of(cluster) if other is None else other
    there = None if not beside or (other is None and not _has_index(queries, beside)) else _index_of(queries, beside)
    pending, report = _pending(here), here.check("")
    subtrees = tuple([_subtree(here, there, tree, report, pending) for tree in TREES])
    place = _first(subtrees) if page is None else _judged(page)
    return MerkleContents(
        at_ns=queries.now,
        cluster=cluster,
        other=beside if there is not None else "",
        root=here.root(),
        differs=there is not None and here.root() != there.root(),
        damaged=report["corrupted_root"],
        subtrees=subtrees,
        chosen=None if place is None else _chosen(here, there, place, report),
        sent=tuple(_sent(queries, cluster, beside)) if there is not None else (),
    )


def describe(contents: MerkleContents) -> str:
    """Return the picture in words, what was found first."""
    _, cluster, other, root, differs, damaged, subtrees, chosen, sent = contents
    pages = [page for subtree in subtrees for page in subtree.pages]
    wrong_pages, other_pages = [page for page in pages if page.damaged], [page for page in pages if page.differs]
    parts = [] if not damaged else ["its composite root is damaged"]
    parts += [f"the {subtree.name} root is damaged" for subtree in subtrees if subtree.damaged]
    parts += [f"{_count(len(wrong_pages), 'page')} damaged"] if wrong_pages else []
    words = [f"{', '.join(parts)}" if parts else "no node is damaged"]
    if other:
        apart = f"{_count(len(other_pages), 'page')} differ{'s' if len(other_pages) == 1 else ''} from {other}'s"
        words.append(apart if other_pages else f"the roots differ from {other}'s" if differs else f"equal to {other}'s")
    words.append(f"root {root[:8]}…, {_count(sum(page.leaves for page in pages), 'leaf', 'leaves')}")
    if chosen is not None:
        bad = [str(cell.number) for cell in chosen.subpages if cell.damaged or cell.differs]
        words.append(f"in {chosen.tree} page {chosen.number}: subpages {', '.join(bad)}" if bad else _sound(chosen))
    if sent:
        total = sum(row.size_bytes for row in sent)
        words.append(f"the last comparison sent {sum(row.messages for row in sent)} messages, {total} bytes")
    return f"{cluster}'s index: {'; '.join(words)}."


def rows_of(contents: MerkleContents) -> list[dict[str, Any]]:
    """Return what is not as it should be, and the leaves of the chosen page, as rows of a table."""
    rows: list[dict[str, Any]] = []
    for subtree in contents.subtrees:
        for page in subtree.pages:
            if page.differs or page.damaged or page.pending:
                rows.append({"node": f"{subtree.name} page {page.number}", **_said(page)})
    if contents.chosen is not None:
        where = f"{contents.chosen.tree} page {contents.chosen.number}"
        for cell in contents.chosen.subpages:
            if cell.differs or cell.damaged:
                rows.append({"node": f"{where} subpage {cell.number}", **_said(cell)})
        for leaf in contents.chosen.leaves:
            state = "" if not contents.other or leaf.here == leaf.there else "differs"
            rows.append({"node": leaf.name, "leaves": 1, "state": state})
    return rows


def _said(cell: Cell) -> dict[str, Any]:
    names = (("damaged", cell.damaged), ("differs", cell.differs), ("pending", cell.pending))
    return {"leaves": cell.leaves, "state": ", ".join(name for name, holds in names if holds)}


def _sound(chosen: ChosenPage) -> str:
    return f"in {chosen.tree} page {chosen.number} every subpage is as it should be"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _has_index(queries: Queries, cluster: str) -> bool:
    node = queries.active_node(cluster)
    return bool(node) and queries.parts.nodes[node].journal.on


def _index_of(queries: Queries, cluster: str) -> MerkleTree:
    """Return a copy of the index of a cluster's active node."""
    one_of("cluster", "a cluster", cluster, [plan.name for plan in queries.blueprint.clusters])
    if not _has_index(queries, cluster):
        raise ValueError(f"{cluster} keeps no Merkle index: it does not replicate, or has no active node")
    host = queries.parts.nodes[queries.active_node(cluster)]
    assert host.journal.tree is not None
    return MerkleTree.from_state(host.journal.tree.state(), host.store)


def _judged(page: Any) -> Place:
    names = tuple(NAMES.values())
    if not (isinstance(page, tuple | list) and len(page) == 2 and page[0] in names and type(page[1]) is int):
        raise wrong("page", 'a tree and the number of a page, such as ("replicated", 23)', page)
    if not 0 <= page[1] < FAN_OUT:
        raise wrong("page", f"a page from 0 to {FAN_OUT - 1}", page[1])
    return page[0], page[1]


def _first(subtrees: Iterable[Subtree]) -> Place | None:
    """Return the first damaged page, or else the first that differs."""
    for wanted in ("damaged", "differs"):
        for subtree in subtrees:
            for page in subtree.pages:
                if getattr(page, wanted):
                    return subtree.name, page.number
    return None


def _pending(here: MerkleTree) -> set[tuple[int, int]]:
    """Return the pages, each with its tree, in which something was written and not folded yet."""
    state = here.state()
    pages = {(tree, number // FAN_OUT) for tree in TREES for number in state["pending"][tree]}
    return pages | {(classify(key), bucket(key) // FAN_OUT) for key in (*state["noted"], *state["unread"])}


def _subtree(
    here: MerkleTree,
    there: MerkleTree | None,
    tree: int,
    report: dict[str, Any],
    pending: set[tuple[int, int]],
) -> Subtree:
    found = report["corrupted_tree_map"][str(tree)]
    wrong_pages = found["corrupted_index_tuples_map"] or {}
    counts = [0] * FAN_OUT
    for key in here.leaves(tree):
        counts[bucket(key) // FAN_OUT] += 1
    apart = set() if there is None else {page for of, page in here.differing_pages(there) if of == tree}
    pages = tuple(
        [
            Cell(page, counts[page], page in apart, str(page) in wrong_pages, (tree, page) in pending)
            for page in range(FAN_OUT)
        ]
    )
    differs = there is not None and here.subtree_root(tree) != there.subtree_root(tree)
    return Subtree(NAMES[tree], here.subtree_root(tree).hex(), differs, found["corrupted_subtree_root"], pages)


def _chosen(here: MerkleTree, there: MerkleTree | None, place: Place, report: dict[str, Any]) -> ChosenPage:
    name, page = place
    tree = next(tree for tree, known in NAMES.items() if known == name)
    buckets = range(page * FAN_OUT, (page + 1) * FAN_OUT)
    mine = here.leaves(tree, buckets)
    theirs = {} if there is None else there.leaves(tree, buckets)
    apart = [] if there is None else differing_parts(here.subpages(tree, page), there.subpages(tree, page))
    found = (report["corrupted_tree_map"][str(tree)]["corrupted_index_tuples_map"] or {}).get(str(page), {})
    counts = [0] * FAN_OUT
    for key in mine:
        counts[bucket(key) % FAN_OUT] += 1
    subpages = tuple(
        [
            Cell(number, counts[number], number in apart, number in found.get("subpages", ()))
            for number in range(FAN_OUT)
        ]
    )
    rows = [
        LeafRow(key, bucket(key) % FAN_OUT, mine.get(key, b"").hex(), theirs.get(key, b"").hex())
        for key in sorted({**mine, **theirs})
    ]
    return ChosenPage(name, page, subpages, tuple(rows))


def _sent(queries: Queries, cluster: str, other: str) -> Iterable[Sent]:
    """Count what the last comparison of two clusters sent."""
    trace, nodes = queries.parts.trace, set(queries.nodes_of(cluster))
    missed = [event.at_ns for event in trace.select("observed", what="missing_guard") if event.node in nodes]
    missed += [event.at_ns for event in trace.select("observed", what="roots_differ") if event.node in nodes]
    ends = nodes | set(queries.nodes_of(other))
    events = [event for event in trace.select("message") if event.source in ends and event.target in ends]
    asked = [
        e.sent_ns for e in events if e.what == "guard_hash" and e.source in nodes and e.at_ns <= max(missed, default=-1)
    ]
    for question in QUESTIONS if asked else ():
        sizes = [e.size_bytes for e in events if e.what == question and e.sent_ns >= max(asked)]
        if sizes:
            yield Sent(question, len(sizes), sum(sizes))
