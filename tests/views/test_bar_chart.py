"""The drawing of a chart of bars: each kind of part has a pattern, whatever its colour."""

from __future__ import annotations

import pytest

from labkit.lab.measures.time_in_states import NONE
from labkit.vault.replication.state import CONNECTION_STATES, TRANSITIONS
from labkit.views.bar_chart import BLANK, CROSSED, HATCHED, HOLLOW, LOOKS, SOLID, draw, patterned
from labkit.views.bar_chart_layout import Bar, BarChart, BarPart
from labkit.views.boxes import Box

MODES = ("primary", "secondary", "disabled", "sealed", "down")
NODES = ("active", "standby", "sealed", "down", "paused")


def test_all_states_have_a_look():
    assert {*MODES, *NODES, *TRANSITIONS, *CONNECTION_STATES, NONE} <= set(LOOKS)


@pytest.mark.parametrize("states", [NODES, tuple(TRANSITIONS), CONNECTION_STATES, MODES])
def test_at_most_two_states_that_stand_side_by_side_share_a_pattern(states):
    patterns = [LOOKS[state].pattern for state in states]
    assert max(map(patterns.count, patterns)) <= 2


@pytest.mark.parametrize(
    ("pattern", "paths", "lines"), [(SOLID, 0, 0), (HOLLOW, 0, 0), (HATCHED, 1, 0), (CROSSED, 1, 0), (BLANK, 0, 1)]
)
def test_a_pattern_is_drawn(pattern, paths, lines):
    look = next(look for look in LOOKS.values() if look.pattern == pattern)
    svg = "".join(patterned(Box(0, 0, 40, 16), look, "paris: <here>"))

    assert svg.count("<path") == paths
    assert svg.count("<line") == lines
    assert "paris: &lt;here&gt;" in svg


def test_a_chart_is_drawn_with_all_its_words():
    parts = (BarPart("primary", 9, "primary 9.000 s"), BarPart("of another kind", 1, "1.000 s"))
    picture = draw(BarChart("Time", "paris served.", (Bar("Clusters", "paris", parts),)))

    assert picture.title == "Time"
    assert picture.description == "paris served. Clusters – paris: primary 9.000 s, 1.000 s."
    for words in (">Time<", ">paris served.<", ">Clusters<", ">paris<", ">primary 9.000 s · 1.000 s<", ">primary<"):
        assert words in picture.svg
