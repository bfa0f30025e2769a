"""Data: what the script of a player is given, as plain values: short lists of whole numbers, and tables of words.

Instants are microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from labkit.lab.causes.explanation import Explanation
from labkit.lab.measures.state_spans import Span
from labkit.lab.measures.trees_over_time import Page, TreesOverTime
from labkit.vault.replication.tree.merkle import FAN_OUT
from labkit.views.player.message_columns import ValueTable, differences, message_columns, microseconds
from labkit.views.player.opening import opening_ns
from labkit.views.player.pace import Stretch
from labkit.views.player.recorded.recording import MAX_LOST_SHOWN, Loss, Recording
from labkit.views.player.recorded.write_gaps import WriteGap
from labkit.views.player.stage import Stage, StageHost
from labkit.views.state_words import in_words, out_of_service


def data_of(recording: Recording, stage: Stage) -> dict[str, Any]:
    """Return what the script is given."""
    sentences = ValueTable()
    chains = {row: _chain(explanation, sentences) for row, explanation in recording.explanations.items()}
    numbers = {message.row: number for number, message in enumerate(recording.messages)}
    happenings = [
        [microseconds(one.at_ns), one.kind, one.words, one.row, chains.get(one.row)] for one in recording.happenings
    ]
    losses = [_loss(loss, numbers, sentences) for loss in recording.losses[:MAX_LOST_SHOWN]]
    return {
        "happenings": happenings,  # what the page's table has just said packs best first
        "sentences": [[microseconds(at_ns), sentence, row] for at_ns, sentence, row in sentences.values],
        "losses": losses,
        "lost": [[microseconds(loss.write.at_ns), microseconds(loss.promoted_ns)] for loss in recording.losses],
        "silences": [[one.cluster, microseconds(one.from_ns), microseconds(one.to_ns)] for one in recording.silences],
        "gaps": [_gap(gap) for gap in recording.gaps],
        "end": microseconds(recording.end_ns),
        "first": microseconds(opening_ns(recording)),
        "hosts": [_host(one) for one in stage.hosts],
        "clusters": _clusters(recording),
        "lines": _lines(recording),
        "stage": _stage(stage),
        "pace": paced(recording.stretches),
        **message_columns(recording, [one.host.name for one in stage.hosts]),
        "trees": None if recording.trees is None else _trees(recording.trees),
    }


def _host(placed: StageHost) -> list[Any]:
    """Return a host: its name, what it is, where it stands, its site, and of a client how long it waits."""
    host = placed.host
    waits = [microseconds(host.timeout_ns)] if host.timeout_ns else []
    return [host.name, host.kind, round(placed.x), round(placed.y), host.site, *waits]


def _chain(explanation: Explanation | None, sentences: ValueTable) -> list[Any] | None:
    """Return a chain of causes: the places of its sentences, then what its root, the last of them, is."""
    if explanation is None:
        return None
    return [
        [sentences.place((step.at_ns, step.sentence, step.row)) for step in explanation.steps],
        explanation.root_is,
    ]


def _loss(loss: Loss, numbers: dict[int, int], sentences: ValueTable) -> list[Any]:
    """Return a lost write: when it was acknowledged and lost, whose it was, its path, its messages, and why."""
    way = [numbers[row] for row in loss.way if row in numbers]
    instants = [microseconds(loss.write.at_ns), microseconds(loss.promoted_ns)]
    return [*instants, loss.write.client, loss.write.path, way, _chain(loss.explanation, sentences)]


def _gap(gap: WriteGap) -> list[Any]:
    """Return a stretch without a write: from when to when, whose promotion, and until when what of it was what."""
    parts = [[microseconds(part.to_ns), part.words] for part in gap.parts]
    return [microseconds(gap.from_ns), microseconds(gap.to_ns), gap.survivor, parts]


def _clusters(recording: Recording) -> list[Any]:
    """Return each cluster: its name, what it was and since when, and the same of each of its nodes."""
    bars, nodes = _by_row(recording.spans), _by_row(recording.nodes)
    return [
        [
            name,
            [[microseconds(span.from_ns), span.what, _words(span)] for span in bars.get(name, ())],
            [[node, [[microseconds(span.from_ns), span.what] for span in nodes.get(node, ())]] for node in members],
        ]
        for name, members in recording.clusters.items()
    ]


def _words(span: Span) -> str:
    """Say what a cluster was: down and sealed with how many nodes, a secondary with what its replication does."""
    if span.what in ("down", "sealed"):
        return ": ".join(out_of_service(span.what, span.detail))
    return in_words(span.what, span.detail)


def _by_row(spans: Iterable[Span]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.row, []).append(span)
    return found


def _lines(recording: Recording) -> list[Any]:
    """Return the stretches in which a line was under a fault; an inner one has its site as both ends."""
    return [
        [span.a, span.b, microseconds(span.from_ns), microseconds(span.to_ns), span.words, span.cut]
        for span in recording.lines
    ]


def paced(stretches: Iterable[Stretch]) -> list[Any]:
    """Return the stretches: how long each was in µs, and is on screen in whole milliseconds, and its kind."""
    found, last = [], 0
    for stretch in stretches:
        to = microseconds(stretch.to_ns)
        found.append([to - last, ceil(stretch.shown_ms), stretch.kind])
        last = to
    return found


def _trees(trees: TreesOverTime) -> dict[str, Any]:
    """Return who was compared with whom and when, which pages were apart, and what was damaged.

    A page is its number, those of the local tree after those of the replicated one.
    """
    pairs = ValueTable()
    compared = [
        [
            pairs.place((one.cluster, one.upstream)),
            microseconds(one.from_ns),
            microseconds(one.to_ns),
            differences(_pages(one.left)),
        ]
        for one in trees.compared
    ]
    return {
        "since": microseconds(trees.since_ns),
        "compared": compared,
        "apart": {
            "pair": [pairs.place((one.cluster, one.upstream)) for one in trees.apart],
            "from": differences(microseconds(one.from_ns) for one in trees.apart),
            "took": differences(microseconds(one.to_ns) - microseconds(one.from_ns) for one in trees.apart),
            "pages": [differences(_pages(one.pages)) for one in trees.apart],
        },
        "damaged": [
            [
                one.cluster,
                microseconds(one.from_ns),
                microseconds(one.to_ns),
                one.layer,
                one.tree,
                one.page,
                one.subpage,
            ]
            for one in trees.damaged
        ],
        "pairs": list(pairs.values),
    }


def _pages(pages: Iterable[Page]) -> list[int]:
    return [(tree - 1) * FAN_OUT + page for tree, page in pages]


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "view": [*map(round, stage.view)],
        "sites": [[site.name, *map(round, site.box)] for site in stage.sites],
        "clusters": [[one.name, round(one.x), round(one.y)] for site in stage.sites for one in site.clusters],
        "groups": [[one.words, round(one.x), round(one.y)] for site in stage.sites for one in site.groups],
        "lines": [
            [one.a, one.b, one.words, *map(round, one.segment), round(one.x), round(one.y)] for one in stage.lines
        ],
    }
