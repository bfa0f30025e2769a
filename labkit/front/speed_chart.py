"""Speed chart: where the time of requests goes, as a picture and as text, from a profile that was measured.

The profile is kept beside the pages, in ``speed.json``: for each kind of work its group, its microseconds, and the
shares of its parts in per mille.  ``python tests/bench/speed_page.py`` measures it again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from labkit.views.charts import bar_chart
from labkit.views.layout.bar_chart_layout import Bar, BarChart, BarPart
from labkit.views.picture import Picture

PROFILE = Path(__file__).parent.parent / "reference" / "speed.json"
TITLE = "Where the time goes"
COLUMNS = 40
LEAST_PER_MILLE = 5


class Profiled(NamedTuple):
    """A kind of work: what it belongs to, its name, what it takes, and the shares of its parts, the largest first."""

    group: str
    name: str
    each_us: float
    parts: tuple[tuple[str, int], ...]


def read(file: Path = PROFILE) -> tuple[Profiled, ...]:
    """Return the profile that is kept."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    return tuple([Profiled(group, name, each_us, tuple(map(tuple, parts))) for group, name, each_us, parts in rows])


def write(profile: tuple[Profiled, ...], file: Path = PROFILE) -> None:
    """Keep a profile."""
    rows = ",\n".join([json.dumps(row) for row in profile])
    file.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def draw(profile: tuple[Profiled, ...]) -> Picture:
    """Draw a bar for each kind of work, all of one length."""
    bars = [
        Bar(row.group, f"{row.name}, {row.each_us:.0f} µs", tuple([_part(name, share) for name, share in row.parts]))
        for row in profile
        for row in [row._replace(parts=_seen(row))]
    ]
    return bar_chart.draw(BarChart(TITLE, _finding(profile), tuple(bars)))


def as_text(profile: tuple[Profiled, ...]) -> str:
    """Return the same in characters: below each kind of work a bar for each of its parts."""
    lines: list[str] = []
    for row in profile:
        lines.append(f"{row.name}, {row.each_us:.0f} µs")
        lines += [f"  {name:<12}{_percent(share):>5}  {'█' * _columns(share)}" for name, share in _seen(row)]
    return "\n".join(lines)


def _seen(row: Profiled) -> tuple[tuple[str, int], ...]:
    return tuple([(name, share) for name, share in row.parts if share >= LEAST_PER_MILLE])


def _part(name: str, share: int) -> BarPart:
    return BarPart(name, share, f"{name} {_percent(share)}")


def _percent(share: int) -> str:
    return f"{(share + 5) // 10} %"


def _columns(share: int) -> int:
    return max(1, (share * COLUMNS + 500) // 1_000)


def _finding(profile: tuple[Profiled, ...]) -> str:
    largest = max([share for row in profile for _, share in row.parts])
    return f"No part takes more than {_percent(largest)} of any of them."
