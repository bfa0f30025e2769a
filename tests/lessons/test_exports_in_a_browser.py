"""Lessons as nbconvert exports them, every prediction answered: they play from a file, and axe finds nothing in them.

They need a browser and nbconvert; axe where ``LABKIT_AXE`` names it: ``make browser``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from labkit.lessons.catalogue import LESSONS
from tests.axe import violations, with_axe
from tests.browser import BROWSER, Browser, in_a_browser
from tests.notebooks.test_form import answered, cells_of
from tests.notebooks.test_notebooks import run

pytestmark = [pytest.mark.slow, in_a_browser]
nbformat = pytest.importorskip("nbformat")
nbconvert = pytest.importorskip("nbconvert", reason="nbconvert comes with the extra notebook")

EACH = pytest.mark.parametrize("number", LESSONS)
PLAYED = pytest.mark.parametrize("number", ["00", "04", "05", "06", "07", "08"])
FOCUSED = "document.activeElement?.textContent"
FRAME = "document.querySelector('iframe')"


@cache
def ended(number: str) -> Any:
    """A lesson's notebook with what each cell shows, as a kernel stores it."""
    from IPython.core.formatters import DisplayFormatter

    shown_as = DisplayFormatter()
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for kind, source in cells_of(number):
        if kind == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(source))
            continue
        text = answered(source, number)
        value, count = run(text, names), len(cells) + 1
        data = shown_as.format(value)[0] or {"text/html": value._repr_html_()}  # a widget: what is beside it
        output = nbformat.v4.new_output("execute_result", data, execution_count=count)
        outputs = [] if value is None else [output]
        cells.append(nbformat.v4.new_code_cell(text, outputs=outputs, execution_count=count))
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


@pytest.fixture
def exported(number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[bool, str]:
    """The addresses of a lesson's export, light and dark."""
    monkeypatch.chdir(tmp_path)
    pages = {}
    for dark, theme in ((False, "light"), (True, "dark")):
        page, _ = nbconvert.HTMLExporter(theme=theme).from_notebook_node(ended(number))
        path = tmp_path / f"{theme}.html"
        path.write_text(page, encoding="utf-8")
        pages[dark] = path.as_uri()
    return pages


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with Browser(str(BROWSER)) as opened:
        yield opened


@EACH
@with_axe
def test_axe_finds_nothing(number: str, exported: dict[bool, str], browser: Browser) -> None:
    found = []
    for dark, url in exported.items():
        browser.look(1280, 900, dark=dark)
        browser.open(url)
        found += violations(browser)

    assert found == []


@PLAYED
def test_it_plays_from_a_file_by_keyboard(number: str, exported: dict[bool, str], browser: Browser) -> None:
    browser.look(1280, 1000)
    browser.open(exported[False])
    browser.evaluate(f"{FRAME}.scrollIntoView(); {FRAME}.focus(); 0")
    frame = inside(browser)
    begun = said(browser, frame)
    go_to(browser, frame, "Play", "Tab")
    browser.press(" ")
    playing = evaluated(browser, frame, FOCUSED)
    browser.press(" ")
    go_to(browser, frame, "Later", "ArrowRight")
    browser.press("Enter")

    assert playing == "Pause"
    assert said(browser, frame) != begun


@PLAYED
def test_on_paper_a_player_gives_way_to_its_timeline_and_table(
    number: str, exported: dict[bool, str], browser: Browser
) -> None:
    browser.look(794, 1100)
    browser.open(exported[False])
    shown = f"[{FRAME}.offsetHeight > 0, document.querySelector('iframe + details table').checkVisibility(ALL)]"
    shown = shown.replace("ALL", "{contentVisibilityAuto: true}")
    on_screen = browser.evaluate(shown)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        on_paper = browser.evaluate(shown)
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")

    assert (on_screen, on_paper) == ([True, False], [False, True])


@EACH
def test_without_scripts_timeline_and_tables_are_shown(
    number: str, exported: dict[bool, str], browser: Browser
) -> None:
    browser.look(640, 900)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(exported[True])
        beside = browser.evaluate(
            "[...document.querySelectorAll('iframe + details')].map((one) => {"
            " one.querySelector('summary').click();"
            " return [one.open, one.querySelectorAll('svg, img').length > 0, one.querySelectorAll('tr').length > 1]; })"
        )
        tables = browser.evaluate("document.querySelectorAll('.jp-OutputArea table caption').length")
        wide = browser.evaluate("document.documentElement.scrollWidth")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)

    assert [row for row in beside if row != [True, True, True]] == []
    assert bool(beside) is (number in PLAYED.args[1])
    assert tables >= 1
    assert wide == 640, "nothing is wider than the page"


def inside(browser: Browser) -> str:
    """The session of the first player on the page: a frame of its own, which the page cannot reach."""
    wanted = browser.evaluate(f"{FRAME}.title")
    targets = browser.call("Target.getTargets")["targetInfos"]
    frames = [one["targetId"] for one in targets if one["type"] == "iframe"]
    sessions = [browser.call("Target.attachToTarget", targetId=one, flatten=True)["sessionId"] for one in frames]
    assert sessions, f"no frame runs for {wanted}"
    return str(min(sessions, key=lambda one: not evaluated(browser, one, "document.hasFocus()")))


def go_to(browser: Browser, frame: str, words: str, key: str) -> None:
    """Press a key until a button of a player has the focus."""
    for _ in range(30):
        if evaluated(browser, frame, FOCUSED) == words:
            return
        browser.press(key)
    pytest.fail(f"no way by keyboard to {words}")


def evaluated(browser: Browser, session: str, script: str) -> Any:
    """The value of an expression in a frame."""
    with browser.within(session):
        return browser.evaluate(script)


def said(browser: Browser, frame: str) -> str:
    """What a player says of the instant that it shows."""
    return str(evaluated(browser, frame, "document.getElementById('said').textContent"))
