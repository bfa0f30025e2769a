"""Pictures as files: each kind holds the same, in words and as a table; PNG names its extra where it is missing."""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.views import repair
from labkit.views.colours import DARK, LIGHT, STATES
from labkit.views.picture import Picture, stacked, text
from tests.browser import BROWSER, Browser, in_a_browser
from tests.views.layout.test_repair_layout import story
from tests.views.test_colours import contrast

KINDS = ("why", "map", "timeline", "merkle", "repair", "lag", "bytes", "states", "stale reads", "tokens")


@pytest.fixture(scope="module")
def pictures(drilled_lab: Lab) -> dict[str, Any]:
    """One picture of each kind, with what it says."""
    measures = drilled_lab.measures
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.corrupt("tokyo", "page")
    return {
        "why": drilled_lab.why("promotion").picture,
        "map": drilled_lab.map(),
        "timeline": drilled_lab.timeline(),
        "merkle": lab["tokyo"].merkle(),
        "repair": repair.of(story()),
        "lag": measures.lag(),
        "bytes": measures.bytes(),
        "states": measures.states(),
        "stale reads": measures.stale_reads(),
        "tokens": measures.survivors(),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_saved_as_each_kind_of_file(pictures: dict[str, Any], kind: str, tmp_path: Path) -> None:
    picture = pictures[kind]
    for suffix in (".svg", ".html", ".json"):
        picture.save(tmp_path / f"one{suffix}")
    svg = ElementTree.parse(tmp_path / "one.svg").getroot()
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))

    assert svg.get("role") == "img"
    assert escape(data["title"]) in page
    assert data["description"]
    assert "<svg" in page
    assert page.count("<tr>") == len(data["rows"]) + 1 == len(picture.to_frame()) + 1
    assert "<script" not in page
    assert "src=" not in page


@pytest.mark.parametrize("kind", ["map", "timeline"])
def test_words_and_table_say_the_same_both_ways(pictures: dict[str, Any], kind: str) -> None:
    picture = pictures[kind]
    said = list(picture.to_frame().said)

    assert "; ".join(said) + "." == picture.description
    assert len(said) == len(set(said)) > 5
    for name in picture.to_frame().name:
        assert all(part in picture.description for part in name.split(", "))
    assert picture._repr_html_() == picture.figure + picture._repr_html_().removeprefix(picture.figure)
    assert f"as a table: {len(said)} rows" in picture._repr_html_()


@pytest.mark.parametrize("path", ["one.gif", "one", 3, None, ""])
def test_another_kind_of_file_is_refused(path: Any) -> None:
    wanted = r"path: expected the name of a file that ends in \.svg, \.png, \.html or \.json"
    with pytest.raises(ValueError, match=wanted):
        Picture(9, 9, "Map", "words", ()).save(path)


def test_a_png_needs_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ValueError, match=r"a \.png needs the package resvg-py: pip install '\.\[png\]'"):
        Picture(9, 9, "Map", "words", ()).save(tmp_path / "one.png")
    assert not (tmp_path / "one.png").exists()


def test_a_png_is_drawn_without_what_its_library_cannot_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, Any] = {}

    def drawn(**arguments: Any) -> list[int]:
        asked.update(arguments)
        return [1, 2, 3]

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=drawn))
    Picture(9, 9, "Map", "words", (text(1, 2, "here"),)).save(tmp_path / "one.png")

    assert (tmp_path / "one.png").read_bytes() == b"\x01\x02\x03"
    assert "<style" not in asked["svg_string"]
    assert 'fill="#1f2933"' in asked["svg_string"]
    assert asked["background"] == "#ffffff"


def test_pictures_are_stacked_in_their_order() -> None:
    one, other = Picture(10, 20, "One", "First.", (text(1, 2, "a"),)), Picture(30, 5, "Two", "Second.", ())
    both = stacked([one, other])

    assert (both.width, both.height, both.title, both.description) == (30, 25, "One", "First. Second.")
    assert '<g transform="translate(0 20)">' in both.elements
    assert stacked([one]) is one


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_word_and_sign_of_a_picture_can_be_read(
    pictures: dict[str, Any], kind: str, theme: dict[str, str], tmp_path: Path
) -> None:
    pictures[kind].save(tmp_path / "one.svg")
    words: set[str] = set()
    signs: set[str] = set()
    for one in ElementTree.parse(tmp_path / "one.svg").iter():
        names = (one.get("class") or "").split()
        filled = [name.removeprefix("fill-") for name in names if name.startswith("fill-")]
        if one.tag.endswith(("text", "}g")):
            words.update(filled)
        elif float(one.get("stroke-width") or 1) >= 1:
            signs.update(name.removeprefix("line-") for name in names if name.startswith("line-"))

    assert words
    for name in words - {"on"}:
        assert all(contrast(theme[name], theme[ground]) >= 4.5 for ground in ("paper", "panel")), name
    if "on" in words:
        assert all(contrast(theme["on"], theme[state]) >= 4.5 for state in STATES)
    for name in signs - {"paper", "on"}:
        assert contrast(theme[name], theme["paper"]) >= 3, name


@in_a_browser
@pytest.mark.slow
def test_on_a_narrow_page_words_stay_as_large_and_the_picture_scrolls(pictures: dict[str, Any], tmp_path: Path) -> None:
    assert BROWSER is not None
    pictures["repair"].save(tmp_path / "one.html")
    with Browser(BROWSER) as browser:
        browser.look(320, 640)
        browser.open((tmp_path / "one.html").as_uri())
        wide = browser.evaluate("document.querySelector('svg').getBoundingClientRect().width")
        region = browser.evaluate(
            "(() => { const at = document.querySelector('div'); return [at.clientWidth, at.tabIndex]; })()"
        )

    assert wide == float(ElementTree.fromstring(pictures["repair"].svg).get("width", "0")) > region[0]
    assert region[1] == 0
