"""What tests of views share: a map and a timeline with something of everything, and what is kept of their drawings.

After a change on purpose ``LABKIT_KEEP=1 python -m pytest tests/views`` writes them again; look at what changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.state_spans import Span
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.views.contents.map_contents import (
    BOTH_WAYS,
    ClusterMark,
    FollowMark,
    LineMark,
    MapContents,
    NodeMark,
    SiteMark,
)
from labkit.views.contents.timeline_contents import Column, TimelineContents, TimelineMark, Window

SECOND_NS = 1_000_000_000
KEPT = Path(__file__).with_name("kept")


def shown(value: Any) -> str:
    """Write out a record of numbers, one line for each item of its lists; numbers to a tenth of a pixel."""
    if isinstance(value, float):
        return f"{value:.1f}"
    if hasattr(value, "_asdict"):
        parts = {name: part for name, part in value._asdict().items() if name != "contents"}
        return f"{type(value).__name__}({', '.join(f'{name}={shown(part)}' for name, part in parts.items())})"
    if isinstance(value, tuple):
        return "".join(f"\n  {shown(part)}" for part in value) if value and isinstance(value[0], tuple) else str(value)
    return repr(value)


@pytest.fixture
def kept() -> Callable[[str, str], None]:
    """Compare a text with the one that is kept under a name."""

    def compare(name: str, text: str) -> None:
        path = KEPT / name
        if os.environ.get("LABKIT_KEEP"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == path.read_text(encoding="utf-8"), f"when {name} changed on purpose: LABKIT_KEEP=1"

    return compare


@pytest.fixture
def numbers() -> Callable[[Any], str]:
    """How a layout is written out."""
    return shown


@pytest.fixture
def full_map() -> MapContents:
    """Five sites: two clusters at one, a damaged secondary, clients, a fault inside; each kind of line and arrow."""
    nodes = tuple(NodeMark(f"paris-{n}", state) for n, state in ((1, "active"), (2, "standby"), (3, "down")))
    tokyo = ClusterMark(
        "tokyo", "secondary", (NodeMark("tokyo-1", "active"), NodeMark("tokyo-2", "sealed")), ("page 12",)
    )
    sites = (
        SiteMark("paris", (ClusterMark("paris", "primary", nodes),), 2),
        SiteMark("tokyo", (tokyo, ClusterMark("kyoto", "secondary", (NodeMark("kyoto-1", "active"),))), 0),
        SiteMark("lisbon", (), 3),
        SiteMark("oslo", (), 0, "80 ms, usually 0.2 ms"),
        SiteMark("lima", (ClusterMark("lima", "disabled", tuple(NodeMark(f"lima-{n}", "active") for n in "1234")),), 1),
    )
    lines = (
        LineMark("paris", "tokyo", "80 ms", ""),
        LineMark("paris", "lisbon", "15 ms · cut", BOTH_WAYS),
        LineMark("lisbon", "tokyo", "90 ms · cut to tokyo", "tokyo"),
        LineMark("oslo", "paris", "20 ms · cut to oslo", "oslo"),
        LineMark("lima", "tokyo", "250 ms, usually 80 ms", "", False),
    )
    follows = (
        FollowMark("paris", "tokyo", "paris", "tokyo", "streams", True),
        FollowMark("paris", "kyoto", "paris", "tokyo", "12 entries behind", False),
    )
    return MapContents(12_345_000_000, sites, lines, follows)


@pytest.fixture
def full_timeline() -> TimelineContents:
    """Twenty seconds of two clusters: every kind of bar, node line, lag and mark, a crowd of marks, and operations."""
    second = SECOND_NS
    spans = (
        Span("paris", 0, 9 * second, "primary", "running"),
        Span("paris", 9 * second, 20 * second, "down", ""),
        Span("tokyo", 0, second // 20, "disabled", ""),
        Span("tokyo", second // 20, 11 * second, "secondary", "stream-wals"),
        Span("tokyo", 11 * second, 20 * second, "primary", ""),
    )
    states = (("active", 0, 9), ("down", 9, 12), ("sealed", 12, 15), ("standby", 15, 20))
    nodes = tuple(Span("paris-1", start * second, end * second, what, "") for what, start, end in states)
    lags = (Span("tokyo", 5 * second, 9 * second, "behind", "12 entries behind"),)
    columns = (
        Column(0, 12, 0, 0, 0),
        Column(5 * second, 3, 4, 5, 2),
        Column(10 * second, 0, 0, 1, 0),
        Column(15 * second, 0, 7, 0, 1),
    )
    kinds = ("fault", "undoing", "step", "role", "rule", "note")
    marks = [TimelineMark((2 + 3 * place) * second, what, f"{what} of paris") for place, what in enumerate(kinds)]
    marks += [TimelineMark(10 * second + place * second // 50, "step", "one of a crowd") for place in range(20)]
    clusters = (("paris", ("paris-1", "paris-2")), ("tokyo", ("tokyo-1",)))
    window = Window(0, 20 * second)
    return TimelineContents(window, clusters, spans, nodes, lags, 5 * second, columns, tuple(sorted(marks)))


@pytest.fixture(scope="session")
def drilled_lab() -> Lab:
    """Writers and readers; a cut, a crash of the primary, a forced promotion behind it, and the old primary back."""
    every_ns = SECOND_NS // 20
    work = tuple(
        WorkloadPlan(operation=operation, every_ns=every_ns, keys=5, from_ns=SECOND_NS)
        for operation in ("put-secret", "get-secret")
    )
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=2, workload=work)
    lab = Lab(pair().with_clients(shop))
    lab.replicate("paris", "tokyo")
    lab.run(until="3s")
    lab.partition("paris", "tokyo")
    lab.run("1s")
    lab.crash("paris")
    lab["tokyo"].promote(force=True)
    lab.run("2s")
    lab.heal()
    lab.restart("paris")
    lab.unseal("paris")
    lab["paris"].demote()
    lab["paris"].repoint("tokyo")
    return lab.run("2s")
