"""Data: what the script of a player is given, as plain values: short lists of whole numbers, and tables of words.

Instants are microseconds.  Each message is a few differences: to the end of the message before it, to its own sending,
in rows of the trace, and to its cause's place in the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labkit.lab.causes.explanation import ROOTS, Explanation
from labkit.lab.measures.state_spans import Span
from labkit.lab.measures.trees_over_time import Page, TreesOverTime
from labkit.vault.replication.tree.merkle import FAN_OUT
from labkit.views.player.pace import Stretch
from labkit.views.player.recording import Recording
from labkit.views.player.stage import Stage
from labkit.views.state_words import in_words

OUTCOMES = ("answered", "refused", "unknown")
MICROSECOND_NS = 1_000


class _Table:
    """Values in the order in which they came first, each once."""

    def __init__(self) -> None:
        self.values: dict[Any, int] = {}

    def place(self, value: Any) -> int:
        """Return the place of a value, a new one where it is not there yet."""
        return self.values.setdefault(value, len(self.values))


def data_of(recording: Recording, stage: Stage) -> dict[str, Any]:
    """Return what the script is given."""
    sentences = _Table()
    chains = {row: _chain(explanation, sentences) for row, explanation in recording.explanations.items()}
    losses = [
        [_us(loss.write.at_ns), _us(loss.promoted_ns), loss.write.client, loss.write.path] for loss in recording.losses
    ]
    lost_chains = [_chain(found, sentences) for found in recording.loss_explanations]
    return {
        "end": _us(recording.end_ns),
        "hosts": [[one.host.name, one.host.kind, round(one.x), round(one.y), one.host.site] for one in stage.hosts],
        **_messages(recording, [one.host.name for one in stage.hosts]),
        "clusters": _clusters(recording),
        "lines": _lines(recording),
        "happenings": [
            [_us(one.at_ns), one.kind, one.words, one.row, chains.get(one.row)] for one in recording.happenings
        ],
        "losses": [[*loss, chain] for loss, chain in zip(losses, lost_chains, strict=False)],
        "lost": [[_us(loss.write.at_ns), _us(loss.promoted_ns)] for loss in recording.losses],
        "sentences": [[_us(at_ns), sentence, row] for at_ns, sentence, row in sentences.values],
        "operations": _operations(recording),
        "before": [recording.before[name] for name in OUTCOMES],
        "pace": paced(recording.stretches),
        "trees": None if recording.trees is None else _trees(recording.trees),
        "stage": _stage(stage),
    }


def _us(at_ns: int) -> int:
    return at_ns // MICROSECOND_NS


def _chain(explanation: Explanation | None, sentences: _Table) -> list[Any] | None:
    """Return a chain of causes: the places of its sentences, then what its root, the last of them, is."""
    if explanation is None:
        return None
    return [
        [sentences.place((step.at_ns, step.sentence, step.row)) for step in explanation.steps],
        ROOTS[explanation.origin],
    ]


def _messages(recording: Recording, hosts: list[str]) -> dict[str, Any]:
    """Return the messages as columns, and their kinds: source, target, what, whether lost, and the shortest flight.

    A flight is said as what it took more than the shortest of its kind.
    """
    places, whats, kinds = {name: number for number, name in enumerate(hosts)}, _Table(), _Table()
    numbers = {message.row: number for number, message in enumerate(recording.messages)}
    of_kind = [
        kinds.place((places[one.source], places[one.target], whats.place(one.what), int(one.lost)))
        for one in recording.messages
    ]
    took = [_us(one.at_ns) - _us(one.sent_ns) for one in recording.messages]
    shortest = [min(its) for its in _grouped(of_kind, took, len(kinds.values))]
    causes = [numbers.get(one.cause, number) for number, one in enumerate(recording.messages)]
    return {
        "messages": {
            "at": _differences(_us(one.at_ns) for one in recording.messages),
            "took": [us - shortest[kind] for us, kind in zip(took, of_kind, strict=True)],
            "kind": of_kind,
            "row": _differences(one.row for one in recording.messages),
            "cause": [number - cause for number, cause in enumerate(causes)],
        },
        "kinds": [[*kind, least] for kind, least in zip(kinds.values, shortest, strict=True)],
        "whats": list(whats.values),
        "gone": [
            [numbers[one.row], _us(one.gone_ns)] for one in recording.messages if one.lost and one.gone_ns != one.at_ns
        ],
        "interesting": _differences([numbers[row] for row in recording.interesting]),
    }


def _grouped(of_kind: list[int], values: list[int], count: int) -> list[list[int]]:
    """Return the values of each kind."""
    found: list[list[int]] = [[] for _ in range(count)]
    for kind, value in zip(of_kind, values, strict=True):
        found[kind].append(value)
    return found


def _differences(numbers: Iterable[int]) -> list[int]:
    found, last = [], 0
    for number in numbers:
        found.append(number - last)
        last = number
    return found


def _clusters(recording: Recording) -> list[Any]:
    """Return each cluster: its name, what it was and since when, and the same of each of its nodes."""
    bars, nodes = _by_row(recording.spans), _by_row(recording.nodes)
    return [
        [
            name,
            [[_us(span.from_ns), span.what, _words(span)] for span in bars.get(name, ())],
            [[node, [[_us(span.from_ns), span.what] for span in nodes.get(node, ())]] for node in members],
        ]
        for name, members in recording.clusters.items()
    ]


def _words(span: Span) -> str:
    """Say what a cluster was: down and sealed with how many nodes, a secondary with what its replication does."""
    if span.what in ("down", "sealed"):
        return f"{span.what}: {span.detail}"
    return in_words(span.what, span.detail)


def _by_row(spans: Iterable[Span]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.row, []).append(span)
    return found


def _lines(recording: Recording) -> list[Any]:
    """Return the stretches in which a line was under a fault; an inner one has its site as both ends."""
    return [[span.a, span.b, _us(span.from_ns), _us(span.to_ns), span.words, span.cut] for span in recording.lines]


def _operations(recording: Recording) -> dict[str, list[int]]:
    """Return when operations ended, as differences, and how: a place in answered, refused, in doubt."""
    found = sorted((_us(operation.at_ns), OUTCOMES.index(operation.outcome)) for operation in recording.operations)
    return {"at": _differences(at for at, _ in found), "how": [how for _, how in found]}


def paced(stretches: Iterable[Stretch]) -> list[Any]:
    """Return the stretches: how long each was and is on screen in milliseconds, and its kind."""
    found, last = [], 0
    for stretch in stretches:
        to = _us(stretch.to_ns)
        found.append([to - last, round(stretch.shown_ms, 1), stretch.kind])
        last = to
    return found


def _trees(trees: TreesOverTime) -> dict[str, Any]:
    """Return who was compared with whom and when, which pages were apart, and what was damaged.

    A page is its number, those of the local tree after those of the replicated one.
    """
    pairs = _Table()
    compared = [
        [pairs.place((one.cluster, one.upstream)), _us(one.from_ns), _us(one.to_ns), _differences(_pages(one.left))]
        for one in trees.compared
    ]
    return {
        "since": _us(trees.since_ns),
        "compared": compared,
        "apart": {
            "pair": [pairs.place((one.cluster, one.upstream)) for one in trees.apart],
            "from": _differences(_us(one.from_ns) for one in trees.apart),
            "took": _differences(_us(one.to_ns) - _us(one.from_ns) for one in trees.apart),
            "pages": [_differences(_pages(one.pages)) for one in trees.apart],
        },
        "damaged": [
            [one.cluster, _us(one.from_ns), _us(one.to_ns), one.layer, one.tree, one.page, one.subpage]
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
