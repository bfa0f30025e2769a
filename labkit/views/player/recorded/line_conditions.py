"""Line conditions: what faults did to each line of a run, and from when to when, as the trace shows it.

1. A line is that between two sites; where a fault is between two that have none, it is shown between these two.  A
   fault inside a site has that site as both ends.
2. Stretches without a fault are left out.  Of several faults at once each is said.
3. What is still so at the end of the run, which a player shows as well, ends after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from labkit.lab.causes.fault_history import MAKING, NO_CHANGE, UNDOING, FaultHistory
from labkit.lab.fault_table import CUT, DUPLICATE, LOSE, SLOW
from labkit.sim.topology import Pair, Topology
from labkit.views.contents.map_contents import BOTH_WAYS
from labkit.views.state_words import detail_in_words

KINDS = (CUT, SLOW, LOSE, DUPLICATE)
AFTER_NS = 1_000
"""How long after the end of a run that ends which lasts: one of the microseconds that a page counts in."""
VERBS = {verb for kind in KINDS for verb in (*MAKING[kind], *UNDOING[kind])}


class LineSpan(NamedTuple):
    """A stretch of time in which a line was under a fault: what, in words; ``cut`` as on a map: one site or both ways.

    ``cut`` is empty where messages pass.
    """

    a: str
    b: str
    from_ns: int
    to_ns: int
    words: str
    cut: str


def line_spans(rows: Sequence[tuple[Any, ...]], topology: Topology, end_ns: int) -> list[LineSpan]:
    """Return the stretches in which each line was under a fault, from the rows of a trace."""
    numbered = [(number, row) for number, row in enumerate(rows) if row[0] == "fault" and row[2] in VERBS]
    # Without links no way leads over another line, so each is looked at by itself.
    history = FaultHistory(numbered, Topology(sites=topology.sites))
    instants = {row[1]: number for number, row in numbered if not str(row[4]).endswith(NO_CHANGE)}
    times = [*instants, end_ns + AFTER_NS]
    found = []
    for a, b in _lines(topology, [row for _, row in numbered]):
        open_span: LineSpan | None = None
        for (at_ns, number), until_ns in zip(instants.items(), times[1:], strict=True):
            said = _condition(history, rows, (a, b), number + 1)
            if open_span is not None and said == open_span[4:]:
                open_span = open_span._replace(to_ns=until_ns)
                continue
            found += [open_span] if open_span is not None else []
            open_span = LineSpan(a, b, at_ns, until_ns, *said) if said[0] else None
        found += [open_span] if open_span is not None else []
    return [span for span in found if span.from_ns < span.to_ns]


def _lines(topology: Topology, faults: Iterable[tuple[Any, ...]]) -> list[Pair]:
    """Return the lines: those there are, and those between sites of faults that have none."""
    links = [link.between for link in topology.links]
    joined = {frozenset(link) for link in links}
    for row in faults:
        ends = tuple(str(row[3]).replace(" <> ", " > ").split(" > "))
        if len(ends) == 1 and ends[0] in topology.sites and row[2] not in MAKING[CUT]:
            ends = (ends[0], ends[0])
        if len(ends) == 2 and frozenset(ends) not in joined:
            joined.add(frozenset(ends))
            links.append((min(ends), max(ends)))
    return links


def _condition(history: FaultHistory, rows: Sequence[tuple[Any, ...]], line: Pair, before: int) -> tuple[str, str]:
    """Say what a line is under just before a row, and what of it is cut."""
    there, back = line, (line[1], line[0])
    found = {kind: (history.on_line(kind, there, before), history.on_line(kind, back, before)) for kind in KINDS}
    closed = [number is not None for number in found[CUT]]
    cut = BOTH_WAYS if all(closed) else line[1] if closed[0] else line[0] if closed[1] else ""
    words = [] if not cut else ["cut"] if cut == BOTH_WAYS else [f"cut to {cut}"]
    for kind in KINDS[1:]:
        one_way = [(number, end) for number, end in zip(found[kind], (line[1], line[0]), strict=True) if number]
        if not one_way:
            continue
        where = "" if all(found[kind]) else f" to {one_way[0][1]}"
        words.append(f"{_said(kind, str(rows[one_way[0][0]][4]))}{where}")
    return ", ".join(words), cut


def _said(kind: str, detail: str) -> str:
    """Say what a fault does to a line."""
    return {SLOW: "slow: ", LOSE: "loses ", DUPLICATE: "doubles "}[kind] + detail_in_words(detail)
