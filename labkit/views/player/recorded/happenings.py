"""Happenings: what a run is stepped through by, in the order of the trace, each with its row and its words.

1. Every step, fault, change of leader, mode or rule, and every note is one; a fault that a step caused is one with it,
   and a change of mode with what its node observed of it.
2. What a service observed is one too, but of what it observed often only a count is given.
3. Operations of clients that were refused or are in doubt are gathered until another is answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from labkit.lab.fault_table import NAMED
from labkit.lab.wire.reports import ANSWERED, UNKNOWN
from labkit.service.durations import in_seconds
from labkit.trace import VIEWS, FaultEvent, ObservedEvent
from labkit.views.contents.timeline_contents import is_one_with_a_fault
from labkit.views.player.recorded.observed_words import SYNC_STATE, observed_in_words
from labkit.views.state_words import detail_in_words, in_words
from labkit.views.trace_lines import TEXTS

MAX_OBSERVED = 40
"""Of one kind: what is observed more often than that is only counted."""

FAULT, UNDOING, STEP, LEADER, MODE = "fault", "undoing", "step", "leader", "mode"
OBSERVED, RULE, NOTE, CLIENTS = "observed", "rule", "note", "clients"
OUTAGE, ADDRESS, TREES = "outage", "address", "trees"
WEIGHTY = (FAULT, UNDOING, LEADER, MODE, RULE, OUTAGE, ADDRESS)
"""What is held on screen for a moment."""

BEGINS, DONE = "begins", "done"


class RunEvent(NamedTuple):
    """Something that happened: when, what kind it is, its words, its row of the trace, and the hosts it is about.

    The row is -1 where no single one shows it.
    """

    at_ns: int
    kind: str
    words: str
    row: int
    hosts: tuple[str, ...] = ()


class OnlyCounted(NamedTuple):
    """What is only counted: its words, and how often it was observed."""

    words: str
    times: int


def happenings_of(
    rows: Sequence[tuple[Any, ...]], clusters: Mapping[str, tuple[str, ...]]
) -> tuple[list[RunEvent], list[OnlyCounted]]:
    """Return what happened in a run, from the rows of its trace, and what is only counted."""
    counts = Counter(row[3] for row in rows if row[0] == "observed")
    often = {what for what, count in counts.items() if count > MAX_OBSERVED}
    events = [(number, VIEWS[row[0]]._make(row)) for number, row in enumerate(rows) if row[0] != "message"]
    found = [
        *_faults([(number, event) for number, event in events if event.kind == "fault"], clusters),
        *_clients([(number, event) for number, event in events if event.kind == "outcome"]),
    ]
    seen = {(one.at_ns, one.words) for one in found}
    verbs = {(event.at_ns, event.verb) for _, event in events if event.kind == "fault"}
    changes = {(event.at_ns, event.cluster) for _, event in events if event.kind == "mode"}
    cluster_of = {node: name for name, nodes in clusters.items() for node in nodes}
    for number, event in events:
        if event.kind == "step":
            found += [
                one
                for one in _step(number, event)
                if (one.at_ns, one.words) not in seen and not is_one_with_a_fault(one.at_ns, one.words, verbs)
            ]
        elif event.kind in _SINGLE:
            kind, hosts = _SINGLE[event.kind]
            found.append(RunEvent(event.at_ns, kind, _words(event), number, hosts(event)))
    observed = [
        (number, event)
        for number, event in events
        if event.kind == "observed"
        and event.what not in often
        and not (event.what == SYNC_STATE and (event.at_ns, cluster_of.get(event.node)) in changes)
    ]
    found += _observed(observed, cluster_of)
    return sorted(found, key=lambda one: one.row), [
        OnlyCounted(what.replace("_", " "), counts[what]) for what in sorted(often)
    ]


_SINGLE: dict[str, tuple[str, Any]] = {
    "leader": (LEADER, lambda event: (event.node,)),
    "mode": (MODE, lambda event: (event.cluster,)),
    "invariant": (RULE, lambda event: ()),
    "note": (NOTE, lambda event: ()),
}


def _words(event: Any) -> str:
    if event.kind == "mode":
        return f"{event.cluster} is {in_words(event.mode, event.state)}"
    return TEXTS[event.kind](event)


def _observed(events: Iterable[tuple[int, ObservedEvent]], cluster_of: Mapping[str, str]) -> Iterable[RunEvent]:
    """Return what was observed; what nodes of a cluster observed alike at one instant is one."""
    groups: dict[tuple[Any, ...], list[tuple[int, ObservedEvent]]] = {}
    for number, event in events:
        groups.setdefault((event.at_ns, event.what, str(event.fields), cluster_of.get(event.node)), []).append(
            (number, event)
        )
    for group in groups.values():
        names = tuple([event.node for _, event in group])
        row, first = group[0]
        words = observed_in_words(first._replace(node=joined(names)))
        yield RunEvent(first.at_ns, OBSERVED, words, row, names)


def joined(names: Sequence[str]) -> str:
    """Return names in words: ``a, b and c``."""
    return " and ".join(", ".join(names).rsplit(", ", 1))


def _step(number: int, event: Any) -> Iterable[RunEvent]:
    """Return where a step begins, and how it ended unless it is done with what its beginning says."""
    if event.status == BEGINS and event.text != "note":
        yield RunEvent(event.at_ns, STEP, event.text, number)
    elif event.status not in (BEGINS, DONE):
        yield RunEvent(event.at_ns, STEP, f"step {event.number} {event.status}: {event.text}", number)


def _faults(events: Iterable[tuple[int, FaultEvent]], clusters: Mapping[str, tuple[str, ...]]) -> Iterable[RunEvent]:
    """Return the faults; what hit several at one instant is one, and all nodes of a cluster have its name."""
    groups: dict[tuple[int, str], list[tuple[int, FaultEvent]]] = {}
    for number, event in events:
        groups.setdefault((event.at_ns, event.verb), []).append((number, event))
    for (at_ns, verb), group in groups.items():
        targets = list(dict.fromkeys(event.target for _, event in group))
        hosts = tuple([name for target in targets for name in target.replace(" <> ", " > ").split(" > ")])
        for name, nodes in clusters.items():
            if len(nodes) > 1 and set(nodes) <= set(targets):
                targets = [name, *(target for target in targets if target not in nodes)]
        details = ", ".join(dict.fromkeys(detail_in_words(event.detail) for _, event in group if event.detail))
        words = f"{verb} {joined(targets)}{f': {details}' if details else ''}"
        yield RunEvent(at_ns, UNDOING if NAMED[verb].undoes else FAULT, words, group[0][0], hosts)


def _clients(events: Iterable[tuple[int, Any]]) -> Iterable[RunEvent]:
    """Return what clients were refused, or is in doubt, gathered until one is answered."""
    group: list[tuple[int, Any]] = []
    for number, event in events:
        if event.outcome == ANSWERED or (group and event.outcome != group[-1][1].outcome):
            yield from _gathered(group)
            group = []
        if event.outcome != ANSWERED:
            group.append((number, event))
    yield from _gathered(group)


def _gathered(group: Sequence[tuple[int, Any]]) -> Iterable[RunEvent]:
    if not group:
        return
    number, first = group[0]
    names = tuple(dict.fromkeys(event.client for _, event in group))
    said = "in doubt" if first.outcome == UNKNOWN else first.outcome
    status = f" {first.status}" if first.status else ""
    words = f"{first.client}: {first.operation} {first.path} {said}{status}"
    if len(group) > 1:
        until = f"until {in_seconds(group[-1][1].at_ns)} s"
        words += f", the first of {len(group)} of {len(names)} client{'s' if len(names) > 1 else ''} {until}"
    yield RunEvent(first.at_ns, CLIENTS, words, number, names)
