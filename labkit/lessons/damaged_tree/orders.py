"""Orders: pairs that hold six of them, in which clusters each one opens, and what Merkle checks report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lab.cluster import Cluster
from labkit.lessons.worlds import branched, mode_said
from labkit.service.silence import Silence

PAIR = ("paris", "tokyo")
ORDERS = tuple([f"secret/data/orders/{number}" for number in range(1, 7)])


class DamagedPlace(NamedTuple):
    """A damaged node of an index, as a Merkle check names it; ``subpage`` is None where the page itself is damaged."""

    cluster: str
    tree: str
    page: int
    subpage: int | None


def pair_with_orders(seed: int) -> Lab:
    """Return a pair that replicates and holds six orders, after five calm seconds."""
    lab = Lab.pair(seed=seed)
    lab.replicate("paris", "tokyo")
    for number, path in enumerate(ORDERS, 1):
        lab["paris"].post(path, {"data": {"item": f"rope {number}"}})
    lab.run("5s")
    return lab


def unreadable(lab: Lab) -> dict[str, list[str]]:
    """Return for each cluster the orders whose version 1 it cannot give; a secondary leaves replication to be asked."""
    found = {}
    for name in PAIR:
        branch = branched(lab)
        if branch[name].mode == "secondary":
            branch[name].disable()
        found[name] = [path for path in ORDERS if not _opens(branch[name], path)]
    return found


def unreadable_said(found: Mapping[str, list[str]]) -> str:
    """Say which cluster cannot give which orders."""
    return "; ".join(
        f"{name} cannot give version 1 of {', '.join(path.removeprefix('secret/data/') for path in paths)}"
        for name, paths in found.items()
        if paths
    )


def gone_said(found: Mapping[str, list[str]]) -> str:
    """Say which orders no cluster can give any more, and that only a new start helps; nothing where there are none."""
    gone = sorted(set.intersection(*map(set, found.values()))) if found else []
    if not gone:
        return ""
    names = ", ".join(path.removeprefix("secret/data/") for path in gone)
    return f"; no good copy of {names} is left in this lab: `here.start` begins again"


def modes_said(modes: Mapping[str, str]) -> str:
    """Say what each cluster is."""
    return ", ".join(f"{name} is {mode_said(mode)}" for name, mode in modes.items())


def _opens(cluster: Cluster, path: str) -> bool:
    try:
        answer = cluster.get(f"{path}?version=1", timeout="5s")
    except Silence:
        return False
    return answer.ok and answer.data["data"] == {"item": f"rope {path.rpartition('/')[2]}"}


def report_of(cluster: Cluster) -> dict[str, Any]:
    """Return what a Merkle check of a cluster of a branch reports; nothing where it keeps no index."""
    if cluster.mode == "disabled":
        return {}
    report: dict[str, Any] = cluster.merkle_check().data["merkle_corruption_report"]
    return report


def places_of(cluster: Cluster) -> set[DamagedPlace]:
    """Return the pages and subpages that a Merkle check names."""
    found = set()
    for tree in report_of(cluster).get("corrupted_tree_map", {}).values():
        for page, damage in (tree["corrupted_index_tuples_map"] or {}).items():
            kind = tree["tree_type"]
            found |= {DamagedPlace(cluster.name, kind, int(page), None)} if damage["corrupted"] else set()
            found |= {DamagedPlace(cluster.name, kind, int(page), subpage) for subpage in damage["subpages"]}
    return found


def is_sound(cluster: Cluster) -> bool:
    """Whether a Merkle check of a cluster of a branch reports no damage at any of the index's layers."""
    report = report_of(cluster)
    trees = report.get("corrupted_tree_map", {}).values()
    return not (
        report.get("corrupted_root") or any(tree["corrupted_subtree_root"] for tree in trees) or places_of(cluster)
    )
