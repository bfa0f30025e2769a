"""Two runs as a picture: from the first difference on, as compare found it; words and table say the same."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.views import runs_apart
from labkit.views.runs_apart import COLUMNS, MAX_SHOWN, RunsApart
from tests.traces import recorded


@pytest.fixture(scope="module")
def apart() -> RunsApart:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/a", {"data": {"n": 1}})
    other = lab.branch("what-if")
    other.crash("paris-1")
    lab.run("2s")
    other.run("4s")
    return lab.compare(other)


def test_words_and_table_say_the_same_both_ways(apart: RunsApart) -> None:
    frame, words = apart.to_frame(), apart.picture.description

    assert list(frame.columns) == list(COLUMNS)
    said = [f"{run}, {at_s:.3f} s: {what}" for run, at_s, what in frame.itertuples(index=False)]
    assert words == f"{apart.text.splitlines()[0]}. {'; '.join(said)}."
    assert [(frame.run == name).sum() for name in ("here", "there")] == [
        min(MAX_SHOWN, len(apart.next_here)),
        min(MAX_SHOWN, len(apart.next_there)),
    ]


def test_the_picture_begins_where_they_part(apart: RunsApart) -> None:
    svg = ElementTree.fromstring(apart.picture.svg)
    words = [one.text or "" for one in svg.iter("{http://www.w3.org/2000/svg}text")]

    assert apart.at_ns is not None
    assert words[0] == f"Two runs from {apart.at_ns / 1e9:.3f} s on"
    assert "1 fault: crash paris-1" in words
    lost = sum(event.kind == "message" and event.fate == "lost" for event in apart.next_there[:MAX_SHOWN])
    crosses = [one for one in svg.iter("{http://www.w3.org/2000/svg}path") if one.get("stroke-width") == "2.5"]
    assert len(crosses) == lost > 0


def test_it_is_shown_and_saved(apart: RunsApart, tmp_path: Path) -> None:
    apart.save(tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text(encoding="utf-8")

    assert page.count("<tr>") == len(apart.to_frame()) + 1
    assert apart._repr_html_().startswith('<div class="labkit-picture"')


def test_equal_runs_have_a_picture_that_says_so() -> None:
    found = runs_apart.of(recorded(("note", 3, "one")), recorded(("note", 3, "one")))
    assert found.picture.description == "equal: 1 events."
    assert found.to_frame().empty
    longer = runs_apart.of(recorded(("note", 3, "one")), recorded(("note", 3, "one"), ("note", 4, "two")))
    assert "here: nothing more" in longer.picture.svg
