"""Space-time layout: two runs on one axis of time, a line for each host, messages as slanted lines between them.

1. Both runs have the same hosts in the same order, and the same instants at the same place.
2. A message that was sent before the axis begins starts at its edge.  What happened at a host is a numbered mark above
   its line, clear of what is lost there; the first few stand below in words.
3. Hosts without room are left out, those with the fewest events first, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from labkit.views.picture import SMALL
from labkit.views.time_axis import numbered, ticks

WIDTH, LEFT, RIGHT, TOP = 668, 118, 24, 64
ROW, HEAD, GAP, LINE = 36, 32, 14, 18
RAISED, RADIUS, LOST = 19, 9, 7
"""How far the middle of a mark is above its line, how large it is, and how far the sign of a lost message reaches."""
MAX_HOSTS, MAX_LISTED = 9, 6
INSET, NEAR = 14, 14.0


class RunPart(NamedTuple):
    """The beginning of what one run did by itself: its name, its events, and the same in words, one for each."""

    name: str
    events: tuple[Any, ...]
    words: tuple[str, ...]


class PlacedMessage(NamedTuple):
    """A message: where it was sent and where it ended; whether it was lost."""

    ends: tuple[float, float, float, float]
    lost: bool
    words: str


class PlacedRun(NamedTuple):
    """One run: its name, its hosts with their heights, its messages, its numbered marks, and what is listed below."""

    name: str
    y: float
    hosts: tuple[tuple[str, float], ...]
    messages: tuple[PlacedMessage, ...]
    marks: tuple[tuple[str, float, float], ...]
    listed: tuple[tuple[str, float], ...]


class SpaceTimeLayout(NamedTuple):
    """Everything that a picture of two runs shows: the instants of the axis, both runs, and what was left out."""

    height: int
    ticks: tuple[tuple[float, str], ...]
    axis_y: float
    runs: tuple[PlacedRun, ...]
    left_out: int


def layout(parts: Sequence[RunPart], since_ns: int) -> SpaceTimeLayout:
    """Place two runs from the instant at which they part; events without an instant after it stand at its edge."""
    until_ns = max([event.at_ns for part in parts for event in part.events], default=since_ns) + 1
    scale = (WIDTH - LEFT - INSET - RIGHT) / max(until_ns - since_ns, 1)

    def x_of(at_ns: int) -> float:
        return LEFT + INSET + max(0, at_ns - since_ns) * scale

    hosts, left_out = _hosts(event for part in parts for event in part.events)
    runs, y = [], float(TOP)
    for part in parts:
        runs.append(_placed(part, hosts, y, x_of))
        y = max([runs[-1].hosts[-1][1] if hosts else y, *[at for _, at in runs[-1].listed]]) + HEAD + GAP
    marks = tuple([(x_of(at_ns), words) for at_ns, words in ticks(since_ns, until_ns)])
    return SpaceTimeLayout(int(y + 2 * LINE), marks, y, tuple(runs), left_out)


def host_of(event: Any) -> str:
    """Return the host or cluster at which an event that is not a message happened; empty for none."""
    names = {"observed": "node", "leader": "node", "mode": "cluster", "outcome": "client", "fault": "target"}
    return str(getattr(event, names[event.kind])) if event.kind in names else ""


def _hosts(events: Iterable[Any]) -> tuple[tuple[str, ...], int]:
    """Return the hosts of some events that fit, in order of their names, and how many do not."""
    counts: Counter[str] = Counter()
    for event in events:
        counts.update((event.source, event.target) if event.kind == "message" else (host_of(event),))
    del counts[""]
    most = sorted(counts, key=lambda name: (-counts[name], name))[:MAX_HOSTS]
    return tuple(sorted(most)), len(counts) - len(most)


def _placed(part: RunPart, hosts: tuple[str, ...], top: float, x_of: Any) -> PlacedRun:
    rows = {name: top + HEAD + number * ROW for number, name in enumerate(hosts)}
    messages, points = [], []
    for event, words in zip(part.events, part.words, strict=True):
        if event.kind != "message":
            points.append((x_of(event.at_ns), rows.get(host_of(event), top + 6 + RAISED), words))
        elif event.source in rows and event.target in rows:
            ends = (x_of(event.sent_ns), rows[event.source], x_of(event.at_ns), rows[event.target])
            messages.append(PlacedMessage(ends, event.fate == "lost", words))
    points.sort(key=lambda point: point[0])
    below = top + HEAD + max(len(hosts) - 1, 0) * ROW + LINE + 8
    listed = [f"{number} {words}" for number, (_, _, words) in enumerate(points, 1)]
    if len(listed) > MAX_LISTED:
        listed = [*listed[:MAX_LISTED], f"and {len(listed) - MAX_LISTED} more: to_frame()"]
    places = [(words, below + LINE * number) for number, words in enumerate(listed)]
    return PlacedRun(part.name, top, tuple(rows.items()), tuple(messages), tuple(_marks(points)), tuple(places))


def _marks(points: Sequence[tuple[float, float, str]]) -> Iterable[tuple[str, float, float]]:
    """Number the marks; those of one host that stand too near to another share a number, such as 3-5."""
    rows = list(dict.fromkeys(y for _, y, _ in points))
    for row in rows:
        own = [(place, x) for place, (x, y, _) in enumerate(points, 1) if y == row]
        for x, words in numbered([x for _, x in own], NEAR + SMALL):
            first, _, last = words.partition("-")
            numbers = [own[int(place) - 1][0] for place in (first, last) if place]
            yield "-".join(map(str, numbers)), x, row - RAISED
