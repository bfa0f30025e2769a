"""Pictures: well-formed, escaped, with words for those who do not see them, as wide as their place."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter

from labkit.views.boxes import Box
from labkit.views.picture import (
    LEAST_PX,
    SMALL,
    Picture,
    arrow_head,
    blocks,
    circle,
    cross,
    cross_hatch,
    hatch,
    line,
    polygon,
    rectangle,
    strokes,
    text,
)

SVG = "{http://www.w3.org/2000/svg}"
PRINTABLE = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn")))


def parsed(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg)


def test_a_picture_is_an_image_with_a_title_and_a_description():
    root = parsed(Picture(300, 200, "Map", "paris is primary.", ()))

    assert root.attrib["role"] == "img"
    assert (root.attrib["width"], root.attrib["height"], root.attrib["viewBox"]) == ("300", "200", "0 0 300 200")
    assert [node.tag.removeprefix(SVG) for node in root] == ["title", "desc", "style"], "the title is the first child"
    assert (root[0].text, root[1].text) == ("Map", "paris is primary.")
    assert root.attrib["aria-label"] == "Map. paris is primary."


def test_a_picture_has_no_ids_so_a_page_may_show_it_twice():
    elements = (hatch((0, 0, 40, 9), colour="down"), cross(5, 5, 4, colour="down"), text(1, 2, "x"))
    svg = Picture(9, 9, "Map", "one", elements).svg

    assert " id=" not in svg
    assert "url(" not in svg


def test_it_is_as_wide_as_its_place_within_limits_that_keep_it_readable():
    page = Picture(800, 400, "Map", "words", ())._repr_html_()
    sizes = {name: int(value) for name, value in re.findall(r"--(least|widest):(\d+)px", page)}

    assert "width:100%;height:auto" in page
    assert ".labkit-picture{overflow-x:auto}" in page
    assert sizes["least"] / 800 * SMALL >= LEAST_PX == 12
    assert sizes["widest"] > 800


@given(title=PRINTABLE, words=PRINTABLE, note=PRINTABLE)
def test_any_words_come_through_as_they_are(title, words, note):
    elements = (
        text(1, 2, words),
        rectangle((0, 0, 1, 1), fill="paper", note=note),
        circle(0, 0, 1, fill="paper", note=note),
    )
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
    assert DisplayFormatter().format(picture)[0] == {"text/html": picture._repr_html_(), "text/plain": repr(picture)}
    assert repr(picture) == "Picture(Map: paris is primary.)"


def test_no_white_ground_lies_behind_a_picture():
    assert "<rect" not in Picture(9, 9, "Map", "words", ()).svg


def test_a_rectangle_is_never_too_narrow_to_be_seen():
    assert 'width="0.5"' in rectangle((0, 0, 0, 5), fill="paper")


def test_lines_can_be_broken_up():
    assert "stroke-dasharray" in line((0, 0, 1, 1), dash="4 3")
    assert "stroke-dasharray" not in line((0, 0, 1, 1))


def test_words_have_a_halo_but_not_on_a_state():
    assert "paint-order" in text(1, 2, "x")
    assert "paint-order" not in text(1, 2, "x", colour="on")


@given(
    st.builds(Box, st.integers(0, 90), st.integers(0, 90), st.integers(8, 200), st.integers(8, 40)),
)
def test_a_hatch_stays_inside_its_rectangle(box):
    ends = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", hatch(box, colour="down"))

    assert ends
    assert all(box.grown(0.06).holds(float(x), float(y)) for x, y in ends)


def test_shapes_are_well_formed():
    shapes = (
        polygon(((0, 0), (1, 1), (0, 1)), fill="down", border="ink"),
        arrow_head(9, 5, 1, 0, colour="primary"),
        strokes(((0, 0, 1, 1),), colour="ink", width=2),
        rectangle((0, 0, 5, 5), fill="panel", border="ink", rounded=4),
    )
    root = parsed(Picture(9, 9, "Map", "words", shapes))

    assert [node.tag.removeprefix(SVG) for node in root][3:] == ["polygon", "polygon", "path", "rect"]
    assert "9.0,5.0" in arrow_head(9, 5, 1, 0, colour="primary"), "the point of the arrow"


PAINT = re.compile(r' (?:class="[^"]*"|fill="[^"]*"|stroke="[^"]*")')


@pytest.mark.parametrize(
    ("element", "wanted"),
    [
        (line((1, 2, 3, 4)), '<line x1="1.0" y1="2.0" x2="3.0" y2="4.0" stroke-width="1"/>'),
        (
            line((1, 2, 3, 4), dash="4 3", width=2.5),
            '<line x1="1.0" y1="2.0" x2="3.0" y2="4.0" stroke-width="2.5" stroke-dasharray="4 3"/>',
        ),
        (
            rectangle((1, 2, 0, 4), fill="paper", rounded=3, note="a<b"),
            '<rect x="1.0" y="2.0" width="0.5" height="4.0" rx="3"><title>a&lt;b</title></rect>',
        ),
        (rectangle((1, 2, 0.6, 4), fill="paper"), '<rect x="1.0" y="2.0" width="0.6" height="4.0"></rect>'),
        (circle(1, 2, 3, fill="paper"), '<circle cx="1.0" cy="2.0" r="3"></circle>'),
        (polygon(((1, 2), (3, 4)), fill="ink"), '<polygon points="1.0,2.0 3.0,4.0"/>'),
        (
            strokes([(1, 2, 3, 4), (5, 6, 7, 8)], colour="ink"),
            '<path d="M1.0 2.0L3.0 4.0M5.0 6.0L7.0 8.0" stroke-width="1"/>',
        ),
        (
            hatch((10, 20, 14, 7), colour="ink"),
            '<path d="M10.0 23.5L13.5 20.0M13.5 27.0L20.5 20.0M20.5 27.0L24.0 23.5" stroke-width="1.6"/>',
        ),
        (
            cross(10, 20, 4, colour="ink"),
            '<circle cx="10.0" cy="20.0" r="7"></circle>'
            '<path d="M6.0 16.0L14.0 24.0M6.0 24.0L14.0 16.0" stroke-width="2.5"/>',
        ),
        (arrow_head(20, 10, 1, 0, colour="ink"), '<polygon points="20.0,10.0 9.0,15.0 9.0,5.0"/>'),
        (arrow_head(20, 10, 0, 1, colour="ink"), '<polygon points="20.0,10.0 15.0,-1.0 25.0,-1.0"/>'),
    ],
)
def test_an_element_stands_where_it_is_asked_to(element, wanted):
    assert PAINT.sub("", element) == wanted


def test_words_have_a_halo_but_not_on_a_bar():
    halo = 'paint-order="stroke" stroke-width="4" stroke-linejoin="round"'

    assert PAINT.sub("", text(1, 2, "a&b")) == (
        f'<text x="1.0" y="2.0" font-size="14" text-anchor="start" {halo}>a&amp;b</text>'
    )
    assert PAINT.sub("", text(1, 2, "a", colour="on", size=9, anchor="end")) == (
        '<text x="1.0" y="2.0" font-size="9" text-anchor="end">a</text>'
    )


@pytest.mark.parametrize(("width", "least", "widest"), [(800, 739, 1120), (13, 12, 18), (14, 13, 19)])
def test_a_picture_may_be_two_fifths_wider_and_as_narrow_as_its_words_allow(width, least, widest):
    assert f"--least:{least}px;--widest:{widest}px" in Picture(width, 400, "Map", "words", ())._repr_html_()


def test_blocks_are_one_shape():
    drawn = blocks([(0, 1, 2, 3), (4, 5, 6, 7)], fill="primary")
    assert drawn.count("<path") == 1
    assert 'd="M0.0 1.0h2.0v3.0h-2.0zM4.0 5.0h6.0v7.0h-6.0z"' in drawn


def test_a_crossed_area_has_lines_both_ways_within_it():
    drawn = cross_hatch((10, 20, 30, 12), colour="down")
    ends = [tuple(map(float, each.split())) for each in re.findall(r"[ML]([\d.]+ [\d.]+)", drawn)]
    assert all(10 <= x <= 40 and 20 <= y <= 32 for x, y in ends)
    rising = [first[1] > second[1] for first, second in zip(ends[::2], ends[1::2], strict=True)]
    assert rising.count(True) == rising.count(False) > 2
