"""The pictures of the README are what the code draws."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from labkit.front import gallery
from labkit.front.gallery import FOLDER, keep


@pytest.mark.slow
def test_the_pictures_are_current(tmp_path):
    keep(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())

    assert names == sorted(path.name for path in FOLDER.glob("*.svg"))
    for name in names:
        drawn, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, FOLDER))
        assert drawn == kept, f"{name}: run python -m labkit.front.gallery"


@pytest.mark.slow
def test_as_a_program_it_writes_them_where_they_are_kept_and_nothing_as_a_module(monkeypatch):
    written = {}
    monkeypatch.setattr(Path, "write_text", lambda path, text, encoding: written.update({path.name: path.parent}))
    runpy.run_path(gallery.__file__, run_name="labkit.front.gallery")
    assert written == {}
    runpy.run_path(gallery.__file__, run_name="__main__")
    assert written == {path.name: FOLDER for path in FOLDER.glob("*.svg")}
