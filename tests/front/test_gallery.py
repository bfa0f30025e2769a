"""The pictures of the README are what the code draws."""

from __future__ import annotations

from labkit.front.gallery import FOLDER, keep


def test_the_pictures_are_current(tmp_path):
    keep(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())

    assert names == sorted(path.name for path in FOLDER.glob("*.svg"))
    for name in names:
        drawn, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, FOLDER))
        assert drawn == kept, f"{name}: run python -m labkit.front.gallery"
