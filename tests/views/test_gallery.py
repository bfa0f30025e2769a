"""The pictures of the README are what the code draws."""

from __future__ import annotations

from labkit.views.gallery import FOLDER, draw_all


def test_the_pictures_are_current():
    drawn = draw_all()

    assert sorted(drawn) == sorted(path.name for path in FOLDER.glob("*.svg"))
    for name, svg in drawn.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == svg, f"{name}: run python -m labkit.views.gallery"
