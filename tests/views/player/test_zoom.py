"""Zoom: which stretch is shown large, where its words stand, and what keys and mouse do with it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from labkit import Lab
from labkit.views.colours import DARK, LIGHT
from labkit.views.player.data import data_of
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.stage import stage_of
from tests.browser import BROWSER, Browser, in_a_browser
from tests.views.player.scripts import asked


def test_a_stretch_stays_in_the_run_and_has_a_least_length(tmp_path: Path) -> None:
    cases = [
        ([0, 100_000], 50_000, 0.5),
        ([0, 100_000], 0, 0.5),
        ([0, 100_000], 100_000, 0.5),
        ([40_000, 60_000], 0, 9),
    ]
    cases.append(([10, 20], 15, 0.5))
    found = asked(tmp_path, cases, "data.map(([bounds, at, factor]) => zoomed(bounds, at, factor, 100000))")
    assert found in (None, [[25_000, 75_000], [0, 50_000], [50_000, 100_000], [0, 100_000], [0, 2_000]])


def test_an_axis_has_a_few_round_instants(tmp_path: Path) -> None:
    found = asked(tmp_path, [[0, 60_000_000], [18_310_000, 25_810_000], [5_000, 7_000]], "data.map(ticksOf)")
    for ticks in found or ():
        assert 3 <= len(ticks) <= 9
        (step,) = {later - earlier for earlier, later in pairwise(ticks)}
        assert all(at % step == 0 for at in ticks)


def test_no_words_stand_over_others(drilled_lab: Lab, tmp_path: Path) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    data = data_of(recording, stage_of(recording))
    for share in (1, 3, 20):
        stretch = [0, data["end"] // share]
        xs = f"placed(data, {stretch}, (at) => 110 + 534 * at / {stretch[1]})"
        boxes: dict[int, list[tuple[float, float]]] = {}
        rows = asked(tmp_path, data, xs) or ()
        strokes = [(x, row) for x, _, row, _, _ in rows if row >= 0]
        for x, words, row, start, _ in rows:
            assert not any(above < row and start < at < start + len(words) * 7.2 for at, above in strokes)
            assert row < 0 or abs(start - x) <= 3 or abs(start + len(words) * 7.2 - x) <= 3.001
            if row >= 0:
                boxes.setdefault(row, []).append((start, start + len(words) * 7.2))
        for places in boxes.values():
            assert all(right + 2 * 7.2 < left for (_, right), (left, _) in pairwise(sorted(places)))
        assert not rows or any(row[2] >= 0 for row in rows)


def test_every_node_has_a_row_below_its_cluster_with_what_it_was(drilled_lab: Lab, tmp_path: Path) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    data = data_of(recording, stage_of(recording))
    rows, bottom = asked(tmp_path, data, "rowsOf(data.clusters, ['shop-1', 'shop-2'], 74)") or ([], 0)
    names = [name for cluster, nodes in recording.clusters.items() for name in (cluster, *nodes)]

    assert [name for name, *_ in rows] in ([], [*names, "shop-1", "shop-2"])
    for name, _, _, kind in rows:
        assert kind == ("cluster" if name in recording.clusters else "node" if name in names else "host")
    heights = [y for _, _, y, _ in rows]
    assert heights == sorted(set(heights))
    assert not rows or heights[-1] < bottom
    end = data["end"]
    pieces = f"data.clusters[0][2].map(([, states]) => piecesOf(states, (at) => 110 + 534 * at / {end}, {end}))"
    for (_, states), drawn in zip(data["clusters"][0][2], asked(tmp_path, data, pieces) or (), strict=False):
        assert [what for _, _, what, *_ in drawn] == [what for _, what in states]
        assert all(right[0] == left[1] for left, right in pairwise(drawn))
        assert (drawn[0][0], drawn[-1][1]) == (110, 644)


def test_the_parts_of_a_gap_follow_one_another(drilled_lab: Lab, tmp_path: Path) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    data = data_of(recording, stage_of(recording))
    (gap,) = recording.gaps
    end = data["end"]
    drawn = asked(tmp_path, data, f"gapsIn(data, (at) => 110 + 534 * at / {end})") or []

    assert [words for _, _, words in drawn] in ([], [part.words for part in gap.parts])
    assert all(right[0] == left[1] for left, right in pairwise(drawn))
    for (_, right, _), part in zip(drawn, gap.parts, strict=False):
        assert right == pytest.approx(110 + 534 * (part.to_ns // 1_000) / end)


MIDDLE = """(() => {
  const svg = document.querySelector("#zoom svg");
  const lines = [...svg.querySelectorAll("path.line-faint")].map((one) => one.getAttribute("d"));
  const [x1, y1, x2, y2] = lines.find((d) => /^M[\\d.]+ [\\d.]+L/.test(d)).slice(1).split(/[LM ]/).map(Number);
  const box = svg.getBoundingClientRect();
  const scale = box.width / svg.viewBox.baseVal.width;
  return [box.x + (scale * (x1 + x2)) / 2, box.y + (scale * (y1 + y2)) / 2];
})()"""
"""Where the middle of a message's line is."""


def crowded(browser: Browser) -> list[str]:
    """The words of the large picture that are cut off, or stand over others."""
    texts = browser.evaluate(
        "[...document.querySelectorAll('#zoom text')].map((one) => [one.textContent, one.getBBox()])"
        ".map(([words, box]) => [words, box.x, box.y, box.x + box.width, box.y + box.height])"
    )
    width, height = browser.evaluate("(v => [v.width, v.height])(document.querySelector('#zoom svg').viewBox.baseVal)")
    found = [words for words, x, y, right, bottom in texts if x < 0 or y < 0 or right > width or bottom > height]
    for number, (words, x, y, right, bottom) in enumerate(texts):
        for _, other_x, other_y, other_right, other_bottom in texts[number + 1 :]:
            if x < other_right and other_x < right and y < other_bottom - 2 and other_y < bottom - 2:
                found.append(words)
    return found


@pytest.mark.slow
@in_a_browser
def test_a_line_of_the_large_picture_is_pressed_and_says_what_it_is(drilled_lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    drilled_lab.play().save(path)
    assert BROWSER is not None
    with Browser(BROWSER) as browser:
        browser.look(1280, 800)
        browser.open(path.as_uri())
        crash = drilled_lab.trace.select("fault", verb="crash")[0].at_ns // 1_000
        browser.evaluate(f"player.show({crash}); document.querySelector('#time').focus()")
        browser.press("z", 5)
        assert crowded(browser) == []
        x, y = browser.evaluate(MIDDLE)
        browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        assert browser.evaluate("document.querySelector('#answer h2').textContent").count(" from ") == 1
        assert "Chosen: " in browser.evaluate("document.querySelector('#said').textContent")
        assert browser.complaints() == []


@pytest.mark.slow
@in_a_browser
def test_it_is_zoomed_by_keys_buttons_and_a_drag(drilled_lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    drilled_lab.play().save(path)
    assert BROWSER is not None
    with Browser(BROWSER) as browser:
        browser.look(1280, 800)
        browser.open(path.as_uri())
        assert browser.evaluate("document.querySelector('#zoom').hidden")
        end = browser.evaluate("player.end()")
        browser.evaluate(f"player.show({end / 2}); document.querySelector('#time').focus()")
        browser.press("z", 2)
        assert browser.evaluate("player.zoom.bounds()") == [end * 3 / 8, end * 5 / 8]
        assert browser.evaluate("getComputedStyle(document.querySelector('#time > svg')).display") == "none"
        assert crowded(browser) == []
        assert "shown large: from" in browser.evaluate("document.querySelector('#spoken').textContent")
        browser.press("End")
        assert browser.evaluate("player.zoom.bounds()") == [end * 3 / 4, end]
        browser.press("x", 2)
        assert browser.evaluate("document.querySelector('#zoom').hidden")
        box = browser.evaluate(
            "(b => [b.x, b.y, b.width, b.height])(document.querySelector('#time svg').getBoundingClientRect())"
        )
        y = box[1] + box[3] / 2
        for kind, share in (("mousePressed", 0.4), ("mouseMoved", 0.5), ("mouseReleased", 0.6)):
            where = {"x": box[0] + box[2] * share, "y": y, "button": "left", "buttons": 1, "modifiers": 8}
            browser.call("Input.dispatchMouseEvent", type=kind, clickCount=1, **where)
        first, last = browser.evaluate("player.zoom.bounds()")
        assert 0.2 * end < last - first < 0.3 * end
        assert browser.evaluate("player.at()") <= last
        assert browser.evaluate("getSelection().toString()") == "", "a drag selects no text"
        assert crowded(browser) == []
        browser.evaluate("document.querySelector('#out').click()")
        assert browser.complaints() == []


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)])
def test_every_word_has_a_tone_of_the_page(drilled_lab: Lab, tmp_path: Path, dark: bool, theme: dict[str, str]) -> None:
    path = tmp_path / "run.html"
    drilled_lab.play().save(path)
    assert BROWSER is not None
    with Browser(BROWSER) as browser:
        browser.look(1280, 900, dark=dark)
        browser.open(path.as_uri())
        browser.evaluate("player.zoom.by(.25)")
        shown = "[...new Set([...document.querySelectorAll('%s text')].map((one) => getComputedStyle(one).fill))]"
        tones = {f"rgb({', '.join(str(part) for part in bytes.fromhex(tone[1:]))})" for tone in theme.values()}
        for place in ("#map", "#time", "#zoom"):
            found = browser.evaluate(shown % place)
            assert found
            assert set(found) <= tones, place
