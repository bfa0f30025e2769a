"""Repair contents: what becomes of damage in each layer of an index, step by step, as frames and sentences.

1. Each layer is damaged in a lab of its own, which is handed in and changed; the lab asked about stays as it is.
2. A frame is what the damaged cluster's index says beside the other's; nothing of it is worked out here.
3. What was sent is counted from the trace, from the reindex on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.arguments import one_of
from labkit.service.durations import SECOND_NS
from labkit.vault.storage.barrier import BarrierError
from labkit.views.contents.merkle_contents import QUESTIONS, MerkleContents, contents_of

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

LAYERS = ("root", "subtree", "page", "subpage", "storage")
STEPS = ("sound", "damaged", "checked", "reindexed", "compared", "repaired")
MAX_WAIT_NS = 20 * SECOND_NS
OBSERVED = ("corrupted", "reindex_started", "reindexed", "roots_differ", "merkle_diff", "merkle_sync", "merkle_loop")


class Frame(NamedTuple):
    """A cluster's index beside the other's after a step, what was seen in a sentence, and how many values differ.

    ``differs`` and ``damaged`` are those of the composite root and of both trees; cells are numbers of pages of the
    replicated tree, and of subpages of the page that is looked into (-1: none).
    """

    step: str
    said: str
    at_ns: int
    roots: tuple[str, str, str]
    differs: tuple[bool, bool, bool]
    damaged: tuple[bool, bool, bool]
    pages_apart: tuple[int, ...]
    pages_damaged: tuple[int, ...]
    page: int
    subpages_apart: tuple[int, ...]
    subpages_damaged: tuple[int, ...]
    values: int


class RepairRow(NamedTuple):
    """What became of damage in one layer of a cluster, and what it was beside."""

    cluster: str
    other: str
    layer: str
    frames: tuple[Frame, ...]


class RepairContents(NamedTuple):
    """What a repair picture says: of which pair, from which instant on, row by row."""

    primary: str
    secondary: str
    at_ns: int
    rows: tuple[RepairRow, ...]


class RepairEvent(NamedTuple):
    """Something that happened in this lab to a damaged index: when, and in words."""

    at_ns: int
    said: str


def repair_of(queries: Queries, cluster: str, fresh: Callable[[str], Any]) -> RepairContents:
    """Play damage and repair of each layer of a secondary, and of its primary's storage; ``fresh`` gives a lab each.

    ValueError unless it is a sound secondary that streams.
    """
    primary = queries.upstream_of(cluster)
    if (primary, cluster) not in queries.streaming_pairs():
        state = queries.state_of(cluster) or queries.mode_of(cluster)
        wanted = "a secondary that streams and has applied everything"
        raise ValueError(f"repair: expected {wanted}, got {cluster}, which is {state}; let time pass until it does")
    for name, other in ((cluster, primary), (primary, cluster)):
        seen = _frame(contents_of(queries, name, other), "", "", 0)
        if any(seen.damaged) or any(seen.differs) or seen.pages_damaged:
            raise ValueError(f"repair: expected sound trees, got damage in {name} already; repair(layer) tells of it")
    places = [(cluster, primary, layer) for layer in LAYERS] + [(primary, cluster, "storage")]
    rows = [_played(fresh(f"repair {name} {layer}"), name, other, layer) for name, other, layer in places]
    return RepairContents(primary, cluster, queries.now, tuple(rows))


def describe(contents: RepairContents) -> str:
    """Return the picture in words: of each row what the check names, and how it ends."""
    found = []
    for row in contents.rows:
        said = {frame.step: frame.said for frame in row.frames}
        found.append(f"{row.layer} of {row.cluster}: {said['damaged']} {said['checked']} {said['repaired']}")
    return " ".join(found)


def rows_of(contents: RepairContents) -> list[dict[str, Any]]:
    """Return the same as rows of a table: one for each frame."""
    return [
        {
            "cluster": row.cluster,
            "layer": row.layer,
            "step": frame.step,
            "seconds": frame.at_ns / SECOND_NS,
            "roots": "differ" if frame.differs[0] else "equal",
            "pages apart": len(frame.pages_apart),
            "pages damaged": len(frame.pages_damaged),
            "values apart": frame.values,
            "said": frame.said,
        }
        for row in contents.rows
        for frame in row.frames
    ]


def events_here(queries: Queries, cluster: str, layer: str) -> tuple[RepairEvent, ...]:
    """Return what happened here to a cluster since a layer of it was damaged last; ValueError where it never was."""
    one_of("layer", "a layer", layer, LAYERS)
    nodes = set(queries.nodes_of(cluster))
    events = [
        event for event in queries.parts.trace.select("observed") if event.node in nodes and event.what in OBSERVED
    ]
    places = [
        place
        for place, event in enumerate(events)
        if event.what == "corrupted" and dict(event.fields)["layer"] == layer
    ]
    if not places:
        raise ValueError(
            f"layer: expected one of {cluster} that was damaged here, got {layer!r}; damage it with lab.corrupt, or "
            f"call repair() for all layers, each in a branch"
        )
    return tuple([RepairEvent(event.at_ns, _words(event.what, dict(event.fields))) for event in events[places[-1] :]])


def _words(what: str, fields: dict[str, Any]) -> str:
    """Say what a node observed of its index."""
    if what == "corrupted":
        return f"damaged: {_place(fields)}"
    if what == "merkle_diff":
        return f"compared: {_count(fields['pages'], 'page')} differ{'s' if fields['pages'] == 1 else ''}"
    if what == "merkle_sync":
        return f"fetched: {_count(fields['fetch'], 'key')}, deleted {fields['delete']}"
    if what == "reindexed":
        return f"reindexed: {_count(fields['differing_keys'], 'key')} had another leaf than storage makes"
    return {
        "reindex_started": "reindex began",
        "roots_differ": "roots differ though contents were equal",
        "merkle_loop": "compared again, and found nothing to fetch",
    }[what]


def _played(lab: Any, cluster: str, other: str, layer: str) -> RepairRow:
    """Damage one layer in a lab, check, reindex, let it compare, and look at each step."""
    queries, handle = lab.queries, lab[cluster]
    frames: list[Frame] = []

    def look(step: str, said: str) -> None:
        contents = contents_of(queries, cluster, other)
        frames.append(_frame(contents, step, said, len(lab.diff(cluster, other))))

    look("sound", "Roots and values are equal.")
    lab.corrupt(cluster, layer=layer)
    struck = dict(lab.trace.select("observed", what="corrupted")[-1].fields)
    look("damaged", f"{_capital(_place(struck))} is altered: {_roots(queries, cluster, other)}.")
    report = handle.merkle_check().data["merkle_corruption_report"]
    look("checked", f"A check names {_named(report)}.")
    since_ns = lab.now
    handle.reindex()
    look("reindexed", f"Made again from storage: {_roots(queries, cluster, other)}.")
    _wait(lab, cluster, other)
    look("compared", _sent(queries, cluster, other, since_ns))
    lab.run("1s")
    look("repaired", _ended(queries, cluster, other, struck.get("key", "")))
    return RepairRow(cluster, other, layer, tuple(frames))


def _wait(lab: Any, cluster: str, other: str) -> None:
    """Let time pass until the two are level again, a second at least: a comparison begins with a heartbeat."""
    lab.run("1s")
    pairs = ((cluster, other), (other, cluster))
    end_ns = lab.now + MAX_WAIT_NS
    while lab.now < end_ns and not any(pair in lab.queries.streaming_pairs() for pair in pairs):
        lab.run("500ms")


def _frame(contents: MerkleContents, step: str, said: str, values: int) -> Frame:
    trees, chosen = contents.subtrees, contents.chosen
    inside = chosen.subpages if chosen is not None and chosen.tree == trees[0].name else ()
    return Frame(
        step=step,
        said=said,
        at_ns=contents.at_ns,
        roots=(contents.root, trees[0].root, trees[1].root),
        differs=(contents.differs, trees[0].differs, trees[1].differs),
        damaged=(contents.damaged, trees[0].damaged, trees[1].damaged),
        pages_apart=tuple([cell.number for cell in trees[0].pages if cell.differs]),
        pages_damaged=tuple([cell.number for cell in trees[0].pages if cell.damaged]),
        page=chosen.number if chosen is not None and inside else -1,
        subpages_apart=tuple([cell.number for cell in inside if cell.differs]),
        subpages_damaged=tuple([cell.number for cell in inside if cell.damaged]),
        values=values,
    )


def _roots(queries: Queries, cluster: str, other: str) -> str:
    return "roots are equal" if queries.root_as_is(cluster) == queries.root_as_is(other) else "roots differ"


def _place(fields: dict[str, Any]) -> str:
    """Say what was struck."""
    layer = fields["layer"]
    if layer == "root":
        return "the composite root"
    if layer == "subtree":
        return f"the {('replicated', 'local')[fields['tree'] - 1]} root"
    if layer == "storage":
        return "a stored value"
    return f"page {fields['page']}" if layer == "page" else f"page {fields['page']}, subpage {fields['subpage']}"


def _named(report: dict[str, Any]) -> str:
    """Say what a check found."""
    found = ["the composite root"] if report["corrupted_root"] else []
    for tree in report["corrupted_tree_map"].values():
        found += [f"the {tree['tree_type']} root"] if tree["corrupted_subtree_root"] else []
        for page, wrong in (tree["corrupted_index_tuples_map"] or {}).items():
            inside = f", subpage {', '.join(map(str, wrong['subpages']))}" if wrong["subpages"] else ""
            found.append(f"page {page}{inside}")
    return " and ".join(found) or "nothing"


def _sent(queries: Queries, cluster: str, other: str, since_ns: int) -> str:
    """Say what a comparison found and sent since an instant."""
    trace, nodes = queries.parts.trace, {*queries.nodes_of(cluster), *queries.nodes_of(other)}
    seen = [event for event in trace.select("observed") if event.at_ns >= since_ns and event.node in nodes]
    pages = sum(dict(event.fields)["pages"] for event in seen if event.what == "merkle_diff")
    keys = sum(dict(event.fields)["fetch"] for event in seen if event.what == "merkle_sync")
    sizes = [
        event.size_bytes
        for event in trace.select("message")
        if event.sent_ns >= since_ns and event.what in QUESTIONS and {event.source, event.target} <= nodes
    ]
    if not sizes:
        return "Nothing had to be sent."
    if not pages and not keys:
        return f"Compared, with nothing to fetch: {sum(sizes):,} bytes."
    return f"{_count(pages, 'page')} compared, {_count(keys, 'key')} fetched: {sum(sizes):,} bytes."


def _ended(queries: Queries, cluster: str, other: str, key: str) -> str:
    """Say what is so at the end, and of a stored value that was damaged whether it opens."""
    if not key:
        return f"{_capital(_roots(queries, cluster, other))}."
    where = [name for name in (cluster, other) if _opens(queries, name, key)]
    words = "opens on neither" if not where else "opens on both" if len(where) > 1 else f"opens on {where[0]} only"
    return f"{_capital(_roots(queries, cluster, other))}; the value {words}."


def _opens(queries: Queries, cluster: str, key: str) -> bool:
    """Whether a cluster's active node can decrypt what its store holds under a key."""
    stored, node = queries.contents(cluster).get(key), queries.active_node(cluster)
    try:
        return stored is not None and bool(node) and bool(queries.parts.nodes[node].core.keys.decrypt(key, stored))
    except BarrierError:
        return False


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
