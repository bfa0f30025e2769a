"""Looks of parts: every state has one, and neighbours differ by pattern, whatever their colour."""

from __future__ import annotations

import pytest

from labkit.lab.measures.time_in_states import NONE
from labkit.vault.replication.state import CONNECTION_STATES, TRANSITIONS
from labkit.views.boxes import Box
from labkit.views.layout.chart_words import ChartWords
from labkit.views.looks import BLANK, CROSSED, HATCHED, HOLLOW, LOOKS, SOLID, patterned, written

MODES = ("primary", "secondary", "disabled", "sealed", "down")
NODES = ("active", "standby", "sealed", "down", "paused")


def test_all_states_have_a_look():
    assert {*MODES, *NODES, *TRANSITIONS, *CONNECTION_STATES, NONE} <= set(LOOKS)


@pytest.mark.parametrize("states", [NODES, tuple(TRANSITIONS), CONNECTION_STATES, MODES])
def test_at_most_two_states_that_stand_side_by_side_share_a_pattern(states):
    patterns = [LOOKS[state].pattern for state in states]
    assert max(map(patterns.count, patterns)) <= 2


@pytest.mark.parametrize(("good", "bad"), [("current", "stale"), ("arrived", "lost"), ("behind", "no complete state")])
def test_what_is_as_it_should_be_and_what_is_not_differ_by_pattern(good, bad):
    assert LOOKS[good].pattern != LOOKS[bad].pattern


@pytest.mark.parametrize(
    ("pattern", "paths", "lines"), [(SOLID, 0, 0), (HOLLOW, 0, 0), (HATCHED, 1, 0), (CROSSED, 1, 0), (BLANK, 0, 1)]
)
def test_a_pattern_is_drawn(pattern, paths, lines):
    look = next(look for look in LOOKS.values() if look.pattern == pattern)
    svg = "".join(patterned(Box(0, 0, 40, 16), look, "paris: <here>"))

    assert svg.count("<path") == paths
    assert svg.count("<line") == lines
    assert "paris: &lt;here&gt;" in svg


def test_words_are_written_where_they_stand():
    assert 'x="1.0" y="2.0" font-size="13"' in written(ChartWords("a<b", 1, 2, 13, "faint"))
    assert ">a&lt;b<" in written(ChartWords("a<b", 1, 2, 13, "faint"))
