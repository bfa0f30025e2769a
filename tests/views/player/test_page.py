"""Page: everything is in the document, and it says all without a script."""

from __future__ import annotations

import re
from html import unescape

from labkit import Lab
from labkit.views.player.page import happened_table
from labkit.views.player.recorded.happenings import OnlyCounted
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.style import style


def test_the_style_has_every_colour_that_is_used() -> None:
    used = set(re.findall(r"var\((--labkit-\w+)\)", style()))

    assert used <= set(re.findall(r"(--labkit-\w+):#", style()))
    assert "http" not in style()


def test_the_table_says_everything_without_a_script(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    page = drilled_lab.play().html
    said = unescape(page)

    for one in recording.happenings:
        assert f"<tr><td>{one.at_ns / 1e9:.3f}<td>{one.kind}<td>{one.words}" in said
    for loss in recording.losses:
        assert loss.write.path in said
    assert drilled_lab.trace.digest()[:16] in page
    assert "Left out" not in page


def test_what_is_left_out_is_said(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    thinner = recording._replace(total=recording.total + 1_000, left=(OnlyCounted("merkle loop", 60),))

    assert f"Left out: merkle loop 60 times; 1,000 of {recording.total + 1_000:,} messages." in happened_table(thinner)
