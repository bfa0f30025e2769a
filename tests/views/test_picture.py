"""Pictures: well-formed, escaped, with words for those who do not see them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.views.picture import COLOURS, PAPER, Picture, circle, line, rectangle, text

SVG = "{http://www.w3.org/2000/svg}"
PRINTABLE = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn")))


def parsed(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg)


def test_a_picture_is_an_image_with_a_title_and_a_description():
    root = parsed(Picture(300, 200, "Map", "paris is primary.", ()))
    (title,), (words,) = root.findall(SVG + "title"), root.findall(SVG + "desc")

    assert root.attrib["role"] == "img"
    assert (root.attrib["width"], root.attrib["height"], root.attrib["viewBox"]) == ("300", "200", "0 0 300 200")
    assert (title.text, words.text) == ("Map", "paris is primary.")
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {words.attrib['id']}"


def test_two_pictures_of_one_page_share_no_id():
    pages = [Picture(1, 1, "Map", words, ()).svg for words in ("one", "two")]
    ids = [{node.attrib["id"] for node in ElementTree.fromstring(page).iter() if "id" in node.attrib} for page in pages]

    assert not ids[0] & ids[1]


@given(title=PRINTABLE, words=PRINTABLE, note=PRINTABLE)
def test_any_words_come_through_as_they_are(title, words, note):
    elements = (text(1, 2, words), rectangle(0, 0, 1, 1, fill=PAPER, note=note), circle(0, 0, 1, fill=PAPER, note=note))
    root = parsed(Picture(9, 9, title, words, elements))

    assert root.findtext(SVG + "title") == title
    assert root.findtext(SVG + "text") == words
    assert [(node.text or "") for node in root.findall(f"*/{SVG}title")] == ([note, note] if note else [])


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "a & b", 'say "x"', "it's", "]]>"])
def test_what_looks_like_markup_stays_text(words):
    root = parsed(Picture(9, 9, words, words, (text(1, 2, words),)))

    assert root.findtext(SVG + "text") == words
    assert root.find(f".//{SVG}script") is None


def test_a_notebook_shows_the_picture_and_a_terminal_its_words():
    picture = Picture(9, 9, "Map", "paris is primary.", ())

    assert picture.svg in picture._repr_html_()
    assert picture._repr_mimebundle_() == {"text/html": picture._repr_html_(), "text/plain": repr(picture)}
    assert repr(picture) == "Picture(Map: paris is primary.)"


def test_a_rectangle_is_never_too_narrow_to_be_seen():
    assert 'width="0.5"' in rectangle(0, 0, 0, 5, fill=PAPER)


def test_lines_can_be_broken_up():
    assert "stroke-dasharray" in line(0, 0, 1, 1, dash="4 3")
    assert "stroke-dasharray" not in line(0, 0, 1, 1)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", sorted(set(COLOURS) - {"standby"}))
def test_white_letters_can_be_read_on_every_colour_that_bears_them(name):
    lighter, darker = luminance(PAPER) + 0.05, luminance(COLOURS[name]) + 0.05

    assert lighter / darker >= 3, "large or bold text (WCAG 2.2, 1.4.3)"
