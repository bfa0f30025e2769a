"""Beside: two runs at one instant, a pace that both need, and the first difference where ``compare`` found it."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import Lab
from labkit.views.player.pace import shown_ms
from labkit.views.player.page import APART
from labkit.views.player.recorded.recording import recording_of, stretches_of
from labkit.views.player.script import script
from tests.browser import BROWSER, Browser, in_a_browser


@pytest.fixture(scope="module")
def labs() -> tuple[Lab, Lab]:
    """A run, and a branch of it that is cut and goes on longer."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    other = lab.branch("cut")
    other.partition("paris", "tokyo")
    other.run("6s")
    return lab.run("4s"), other


def test_the_script_is_given_both_their_pace_and_where_they_part(labs: tuple[Lab, Lab]) -> None:
    lab, other = labs
    player = lab.play(beside=other)
    assert player._beside is not None
    data = player._beside.data(player.recording)
    apart_ns = lab.compare(other).at_ns

    assert apart_ns is not None
    assert (data["apart"], data["beside"]["apart"]) == (apart_ns // 1_000, apart_ns // 1_000)
    assert data["beside"]["end"] == other.now // 1_000
    assert sum(length for length, _, _ in data["pace"]) == other.now // 1_000
    assert data["beside"]["trees"] is None


def test_together_they_take_as_long_as_the_slower_needs(labs: tuple[Lab, Lab]) -> None:
    first, other = (recording_of(lab.queries, lab.invariants) for lab in labs)
    both = stretches_of(first, other)

    assert stretches_of(other) == list(other.stretches)
    assert shown_ms(both) >= max(shown_ms(first.stretches), shown_ms(other.stretches)) - 1
    assert both[-1].to_ns == other.end_ns


def test_a_page_has_what_it_needs_and_no_more(labs: tuple[Lab, Lab]) -> None:
    lab, other = labs
    alone, both = lab.play().html, lab.play(beside=other).html

    assert script(frozenset({"beside", "trees"})) in alone
    assert script(frozenset({"trees"})) in both
    assert (APART[1] in alone, APART[1] in both) == (False, True)
    assert "they part at" in both
    same = lab.play(beside=lab.branch("same")).html
    assert APART[1] not in same
    assert "equal: " in same


def test_it_is_saved_as_data_too(labs: tuple[Lab, Lab]) -> None:
    lab, other = labs
    found = lab.play(beside=other).to_dict()
    assert found["part_at_ns"] == lab.compare(other).at_ns
    assert found["beside"]["end_ns"] == other.now
    assert "they part at" in found["parts"]


def test_only_another_lab_stands_beside(labs: tuple[Lab, Lab]) -> None:
    lab, _ = labs
    for wrong in (lab, "tokyo", 3):
        with pytest.raises(ValueError, match="beside: expected another lab, such as a branch"):
            lab.play(beside=wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.slow
@in_a_browser
def test_one_cursor_shows_both(labs: tuple[Lab, Lab], tmp_path: Path) -> None:
    lab, other = labs
    apart_us = (lab.compare(other).at_ns or 0) // 1_000
    path = tmp_path / "run.html"
    lab.play(beside=other).save(path)
    assert BROWSER is not None
    with Browser(BROWSER) as browser:
        for width in (1280, 320):
            browser.look(width, 720)
            browser.open(path.as_uri())
            assert browser.evaluate("document.documentElement.scrollWidth") == width
        browser.evaluate("document.querySelector('#time-beside').focus()")
        browser.press("d")
        assert browser.evaluate("player.at()") == apart_us
        said = "document.querySelector('#said%s').textContent"
        assert "cut" not in browser.evaluate(said % "")
        assert "paris to tokyo: cut" in browser.evaluate(said % "-beside")
        assert browser.evaluate("document.querySelectorAll('path.apart').length") == 2
        browser.press("End")
        assert browser.evaluate("player.at()") == other.now // 1_000
        assert browser.evaluate(said % "-beside").startswith(f"{other.now / 1e9:.3f} s")
        assert browser.evaluate(said % "").startswith(f"This run has ended. {lab.now / 1e9:.3f} s")
        assert browser.complaints() == []
        assert len(browser.requested()) == 1
