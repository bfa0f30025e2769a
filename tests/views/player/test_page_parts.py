"""Page parts: a stage has names of its own, and a picture in a page keeps all that the page's style does not say."""

from __future__ import annotations

import re

from labkit import Lab
from labkit.views.player.page_parts import bare, two_columns

COLUMN = '<rect x="{x}" y="2" width="3" height="4" class="fill-{tone} line-{tone}"><title>1 write</title></rect>'


def test_a_stage_has_names_of_its_own() -> None:
    stage = two_columns("-beside", "the map", '<div class="labkit-picture"><svg/></div>', "<p>more</p>", "<p>below</p>")

    assert re.findall(r' id="([\w-]+)"', stage) == ["stage-beside", "map-beside", "time-beside"]
    assert 'aria-label="the map" aria-describedby="said-beside"' in stage
    assert stage.index("<p>more</p>") < stage.index("<svg/>") < stage.index("<p>below</p>")


def test_columns_of_one_colour_are_one_shape_where_the_first_stood() -> None:
    columns = [COLUMN.format(x=x, tone=tone) for x, tone in ((1, "calm"), (5, "alarm"), (9, "calm"))]

    assert bare("\n".join(["<svg>", *columns, "</svg>"])).split("\n") == [
        "<svg>",
        '<path d="m1 6v-4h3v4zm8 0v-4h3v4z" class="fill-calm line-calm"/>',
        '<path d="m5 6v-4h3v4z" class="fill-alarm line-alarm"/>',
        "</svg>",
    ]


def test_columns_that_are_placed_by_steps_do_not_drift() -> None:
    columns = [COLUMN.format(x=f"{110 + number * 1.7:.1f}", tone="calm") for number in range(300)]
    steps = re.findall(r"m([\d.]+) ", bare("\n".join(columns)))

    assert round(sum(map(float, steps)), 1) == round(110 + 299 * 1.7, 1)


def test_a_column_bordered_otherwise_stays() -> None:
    other = COLUMN.format(x=1, tone="calm").replace("line-calm", "line-alarm")

    assert bare(other) == other


def test_style_and_colours_are_left_to_the_page() -> None:
    assert bare('<svg><style>.a{fill:#fff}</style><text x="7.0" fill="#112233" class="ink">go</text></svg>') == (
        '<svg><text x="7" class="ink">go</text></svg>'
    )


def test_what_the_label_says_and_what_lines_are_by_themselves_is_left_out() -> None:
    named = '<svg aria-label="Now. All.">\n<title>Now</title><desc>All.</desc>\n</svg>'
    assert bare(named) == '<svg aria-label="Now. All.">\n</svg>'
    assert bare('<line x1="1" fill="none" stroke-width="1"/>') == '<line x1="1"/>'
    assert bare('<line x1="1" fill="none" stroke-width="15"/>') == '<line x1="1" stroke-width="15"/>'
    path = '<path d="M1 1" fill="none" stroke-width="1"/>'
    assert bare(path) == path


def test_what_is_left_says_what_the_timeline_says(drilled_lab: Lab) -> None:
    figure = drilled_lab.timeline().figure
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure)

    assert texts
    assert re.findall(r"<text[^>]*>([^<]*)</text>", bare(figure)) == texts
