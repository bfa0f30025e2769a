"""The drawing of a chart of bars: all its words are in it."""

from __future__ import annotations

from labkit.views.charts.bar_chart import draw
from labkit.views.layout.bar_chart_layout import Bar, BarChart, BarPart


def test_a_chart_is_drawn_with_all_its_words():
    parts = (BarPart("primary", 9, "primary 9.000 s"), BarPart("of another kind", 1, "1.000 s"))
    picture = draw(BarChart("Time", "paris served.", (Bar("Clusters", "paris", parts),)))

    assert picture.title == "Time"
    assert picture.description == "paris served. Clusters – paris: primary 9.000 s, 1.000 s."
    for words in (">Time<", ">paris served.<", ">Clusters<", ">paris<", ">primary 9.000 s · 1.000 s<", ">primary<"):
        assert words in picture.svg
    assert "paris: primary 9.000 s" in picture.svg
