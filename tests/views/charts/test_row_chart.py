"""The drawing of a chart of rows: all its words, figures and parts are in it."""

from __future__ import annotations

from labkit.views.charts.row_chart import draw
from labkit.views.layout.bar_chart_layout import BarPart
from labkit.views.layout.row_chart_layout import FigureRow, RowChart


def test_a_chart_is_drawn_with_all_its_words_and_figures() -> None:
    parts = (BarPart("arrived", 9, "9 bytes"), BarPart("lost", 1, "1 lost"))
    picture = draw(
        RowChart("Bytes", "Ten.", ("bytes", "lost"), (FigureRow("", "comparison", ("10", "1"), parts),), "x")
    )

    assert (picture.title, picture.description) == ("Bytes", "Ten. comparison: 9 bytes, 1 lost.")
    for words in (">Bytes<", ">Ten.<", ">bytes<", ">lost<", ">comparison<", ">10<", ">1<", ">x<"):
        assert words in picture.svg
    assert picture.svg.count('text-anchor="end"') == 4
    assert "comparison: 9 bytes" in picture.svg
    assert picture.svg.count("<path") == 1, "what is lost is crossed"
