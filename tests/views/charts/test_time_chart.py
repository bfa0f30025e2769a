"""The drawing of a chart over time: all words, marks, limits and columns are in it."""

from __future__ import annotations

from math import inf

from labkit.views.charts.time_chart import draw
from labkit.views.layout.time_chart_layout import TimeChart, TimeColumn, TimePanel

COLUMNS = (
    TimeColumn(0, 10, (("no complete state", inf),)),
    TimeColumn(10, 20, (("behind", 5),)),
    TimeColumn(40, 60, (("behind", 8),)),
)


def test_everything_is_drawn():
    panel = TimePanel("tokyo", "up to 8", COLUMNS, (6, "backlog: 6 entries"))
    picture = draw(TimeChart("Lag", "Behind.", 100, (panel,), ((50, "× crash <paris>"),)))

    for words in (">Lag<", ">Behind.<", ">tokyo<", ">up to 8<", ">backlog: 6 entries<", "× crash &lt;paris&gt;", ">1<"):
        assert words in picture.svg
    assert picture.description == "Behind. tokyo: up to 8. Marks: 1 0.000 s × crash <paris>."
    assert picture.svg.count('stroke-dasharray="3 4"') == 1, "the mark"
    assert picture.svg.count('stroke-dasharray="8 4"') == 1, "the limit"
    assert picture.svg.count("zM") == 1, "two solid columns in one shape"
    assert "tokyo: no complete state" in picture.svg


def test_nothing_is_drawn_of_nothing():
    picture = draw(TimeChart("Lag", "No cluster followed another.", 0, (), ((50, "crash"),)))
    assert "crash" not in picture.svg
    assert picture.description == "No cluster followed another."
