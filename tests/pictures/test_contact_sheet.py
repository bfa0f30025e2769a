"""The contact sheet is made from any folder, and a page in grey has no colour."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import BROWSER, Browser, in_a_browser
from tests.pictures.__main__ import MODES, WIDTHS, Sheet, page_of, pictures, players, take


@in_a_browser
@pytest.mark.slow
def test_each_page_is_taken_in_each_mode_and_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sheet = Sheet("one", "<!doctype html><body style='margin:0;background:#0534ed'>", "document.title = 'seen'")
    assert BROWSER is not None
    with Browser(BROWSER) as browser:
        taken = list(take(Path("sheets"), [sheet], browser))
        assert browser.evaluate("document.title") == "seen"

    assert [path.name for path in taken] == [f"one-{mode}-{width}.png" for mode in MODES for width in WIDTHS]
    light, grey = (taken[number].read_bytes() for number in (0, 6))
    assert light != grey
    assert taken[0].parent == tmp_path / "sheets"


@pytest.mark.slow
def test_every_picture_has_its_place_in_it() -> None:
    shown = pictures()
    page = page_of(shown)

    assert page.count("<section>") == len(shown)
    assert page.count("<svg") >= len(shown) - 1, "what happened here to a layer stands in lines"
    assert [sheet.name for sheet in players()] == ["player", "player-asked", "player-beside", "player-twenty"]
