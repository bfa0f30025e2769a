"""Report: read from Merkle checks which pages and subpages are damaged, and in which cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.damaged_tree.orders import PAIR, DamagedPlace, pair_with_orders, places_of
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

TREE = "replicated"
MAX_NAMED = 4


class ReportSeen(NamedTuple):
    """The places that were handed in, those that are damaged, and what could not be read of the former."""

    given: tuple[DamagedPlace, ...]
    damaged: frozenset[DamagedPlace]
    unread: tuple[str, ...]

    @property
    def nodes(self) -> set[tuple[str, int]]:
        """Cluster and page of each damaged place."""
        return {(place.cluster, place.page) for place in self.damaged}

    @property
    def sound(self) -> list[str]:
        """What was named and is not damaged."""
        return [f"page {it.page} of {it.cluster}" for it in self.given if (it.cluster, it.page) not in self.nodes]

    @property
    def left_out(self) -> int:
        """How many damaged pages were not named."""
        return len(self.nodes - {(place.cluster, place.page) for place in self.given})

    @property
    def other_depth(self) -> list[str]:
        """The damaged pages of which another layer was named."""
        layers = {(cluster, page, subpage) for cluster, _, page, subpage in self.damaged}
        return [
            f"page {it.page} of {it.cluster}"
            for it in self.given
            if (it.cluster, it.page) in self.nodes and (it.cluster, it.page, it.subpage) not in layers
        ]


@KeptStart
def start() -> Lab:
    """Return a pair whose indexes are damaged in three places."""
    lab = pair_with_orders(seed=71)
    lab.corrupt("tokyo", layer="page", key="a")
    lab.corrupt("paris", layer="subpage", key="b")
    lab.corrupt("tokyo", layer="subpage", key="c")
    lab.run("1s")
    return lab


def look(branch: Lab, given: Any) -> ReportSeen:
    """Read what was handed in, and let both clusters check their trees."""
    damaged = frozenset(place for name in PAIR for place in places_of(branch[name]))
    rows = list(given) if isinstance(given, list | tuple | set) else [given]
    places = tuple([DamagedPlace(*row) for row in rows if _is_place(row)])
    return ReportSeen(places, damaged, tuple([_unread(row) for row in rows if not _is_place(row)]))


def _unread(row: Any) -> str:
    """Say which row cannot be read as a place, and what is the matter where the report itself leads there."""
    said = repr(row)[:60]
    is_text = isinstance(row, tuple | list) and len(row) == len(DamagedPlace._fields) and isinstance(row[2], str)
    if isinstance(row, tuple | list) and len(row) == len(DamagedPlace._fields) and not isinstance(row[1], str):
        return f"{said}, whose tree is not a text such as 'replicated'"
    return f"{said}, whose page is a text" if is_text else said


def _some(names: Sequence[str]) -> str:
    """Name the first few, and say how many more there are."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _is_place(row: Any) -> bool:
    if not isinstance(row, tuple | list) or len(row) != len(DamagedPlace._fields):
        return False
    cluster, tree, page, subpage = row
    return isinstance(cluster, str) and isinstance(tree, str) and isinstance(page, int) and _is_subpage(subpage)


def _is_subpage(subpage: Any) -> bool:
    return subpage is None or isinstance(subpage, int)


def by_the_verb(lab: Lab) -> Any:
    """Ask each cluster for a check, and write down what its report names."""
    found = []
    for name in ("paris", "tokyo"):
        trees = lab[name].merkle_check().data["merkle_corruption_report"]["corrupted_tree_map"]
        for tree in trees.values():
            for page, damage in (tree["corrupted_index_tuples_map"] or {}).items():
                subpages = [None] if damage["corrupted"] else damage["subpages"]
                found += [(name, tree["tree_type"], int(page), subpage) for subpage in subpages]
    return lab, found


def by_requests(lab: Lab) -> Any:
    """Ask the endpoints themselves: of the secondary with an operation token; then read the reports by eye."""
    lab["paris"].post("sys/replication/merkle-check")
    body = {"dr_operation_token": lab["tokyo"].operation_token()}
    lab["tokyo"].post("sys/replication/dr/secondary/merkle-check", body, token="")
    read = [("tokyo", TREE, 190, None), ("tokyo", TREE, 223, 111), ("paris", TREE, 239, 249)]
    return lab, read


def _but(lab: Lab, number: int, *rows: Any) -> Any:
    """The right answer, with other rows in place of one of it."""
    _, found = by_the_verb(lab)
    return lab, [*found[:number], *rows, *found[number + 1 :]]


REPORT = Exercise(
    name="report",
    title="Read the report",
    goal="every damaged page or subpage of both clusters is named as (cluster, tree, page, subpage), with None for the "
    "subpage where the page itself is damaged.",
    start=start,
    look=look,
    takes=("the lab", "the list of damaged places"),
    untouched=lambda places: places in ([], ()),
    conditions=(
        Condition(
            name="places",
            holds=lambda seen: not seen.unread,
            says=lambda seen: f"no place could be read from {_some(seen.unread)}",
            asks="Each row has to be a cluster, a tree, the number of a page, and that of a subpage or None.",
            hints=(
                "Look at one row of your list: has it four parts?",
                "Numbers of pages are texts in the report, since they are keys of a map.",
                '`("paris", "replicated", 12, 34)`, or with None at the end',
            ),
        ),
        Condition(
            name="sound ones",
            holds=lambda seen: not seen.sound,
            says=lambda seen: f"not damaged: {_some(seen.sound)}",
            asks="Only what is damaged may be named.",
            hints=(
                "Look at which cluster each report is of.",
                "Each cluster keeps an index of its own, and one may be damaged where the other is sound.",
                '`lab["tokyo"].merkle_check()` is of tokyo only',
            ),
        ),
        Condition(
            name="tree",
            holds=lambda seen: all(place.tree == TREE for place in seen.given),
            says=lambda seen: f"trees named: {_some(sorted({place.tree for place in seen.given}))}",
            asks="The tree that is damaged has to be named.",
            hints=(
                "Look at `tree_type` beside the pages.",
                "A cluster keeps two trees: what it replicates, and what is its own.",
                'the report holds the pages in `corrupted_tree_map["1"]`: what is its `tree_type`?',
            ),
        ),
        Condition(
            name="depth",
            holds=lambda seen: not seen.other_depth,
            says=lambda seen: f"damaged at another layer than you say: {_some(seen.other_depth)}",
            asks="Each place has to be as deep as the damage is: the page itself, or one subpage of it.",
            hints=(
                "Look at `corrupted` and `subpages` of that page.",
                "A page is computed from its subpages. It can be wrong while they are right, and the other way round.",
                "`corrupted: True` means the page: None; else the number stands in `subpages`",
            ),
        ),
        Condition(
            name="all of them",
            holds=lambda seen: not seen.left_out,
            says=lambda seen: f"{seen.left_out} damaged page{'' if seen.left_out == 1 else 's'} not named",
            asks="No damaged place may be left out.",
            hints=(
                "Look at both reports to their end.",
                "A report names as many pages as are damaged.",
                "one cluster has one damaged page, the other has two",
            ),
        ),
    ),
    ways={"by the verb": by_the_verb, "by requests": by_requests},
    traps=(
        Trap(
            name="a sentence in place of a row",
            act=lambda lab: _but(lab, 3, "page 190 of tokyo"),
            refused_by="places",
        ),
        Trap(name="numbers as texts", act=lambda lab: _but(lab, 3, ("tokyo", TREE, "190", None)), refused_by="places"),
        Trap(
            name="the wrong cluster",
            act=lambda lab: _but(lab, 3, ("paris", TREE, 190, None)),
            refused_by="sound ones",
        ),
        Trap(
            name="the page of a key, not of the damage",
            act=lambda lab: _but(lab, 3, ("tokyo", TREE, 77, None)),
            refused_by="sound ones",
        ),
        Trap(name="the other tree", act=lambda lab: _but(lab, 0, ("paris", "local", 239, 249)), refused_by="tree"),
        Trap(
            name="a page where a subpage is damaged",
            act=lambda lab: _but(lab, 0, ("paris", TREE, 239, None)),
            refused_by="depth",
        ),
        Trap(
            name="a subpage where the page is damaged",
            act=lambda lab: _but(lab, 1, ("tokyo", TREE, 190, 0)),
            refused_by="depth",
        ),
        Trap(name="one cluster only", act=lambda lab: _but(lab, 0), refused_by="all of them"),
    ),
)
