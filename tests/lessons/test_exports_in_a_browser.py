"""Lessons as the documented command exports them, every prediction answered: what a page shows, and what it asks for.

They need a browser and nbconvert; axe where ``LABKIT_AXE`` names it: ``make browser``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from labkit.lessons.catalogue import LESSONS, plan
from labkit.places import notebooks
from tests import environment
from tests.axe import violations, with_axe
from tests.browser import BROWSER, Browser, in_a_browser
from tests.notebooks.test_form import answered

pytestmark = [pytest.mark.slow, in_a_browser]
pytest.importorskip("nbconvert", reason="nbconvert comes with the extra notebook")

EACH = pytest.mark.parametrize("number", LESSONS)
PLAYED = pytest.mark.parametrize("number", ["00", "04", "05", "06", "07", "08"])
FOCUSED = "document.activeElement?.textContent"
FRAME = "document.querySelector('iframe')"
COMMAND = ("--to", "html", "--execute", "--template", "labkit")
WIDER_THAN_ITS_PLACE = """[...document.querySelectorAll('.highlight pre, .jp-OutputArea-output table')]
  .filter((one) => one.checkVisibility()
    && Math.max(one.scrollWidth, one.offsetWidth) > one.parentElement.clientWidth + 1)
  .map((one) => one.textContent.trim().slice(0, 80))"""
CUT_PICTURES = """[...document.querySelectorAll('.labkit-picture')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.querySelector('title').textContent)"""
CUT_FRAMES = """[...document.querySelectorAll('iframe')].flatMap((frame) => {
  const cut = [], { left, right } = frame.getBoundingClientRect();
  for (let one = frame.parentElement; one !== document.body; one = one.parentElement) {
    const box = one.getBoundingClientRect(), shows = getComputedStyle(one).overflowX;
    if (shows !== "visible" && (box.left > left + 1 || box.right < right - 1)) cut.push(one.className);
  }
  return cut;
})"""
PAPER_OF_PICTURES = """[...document.querySelectorAll('svg.labkit')]
  .map((one) => getComputedStyle(one).getPropertyValue('--labkit-paper'))"""
A4_PX = 697
"""What a sheet of A4 has between its margins."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Path:
    """A folder to export in, which has this checkout's template, whatever is installed."""
    made = tmp_path_factory.mktemp("exports")
    templates = made / "share" / "nbconvert" / "templates"
    templates.mkdir(parents=True)
    (templates / "labkit").symlink_to(checkout / "labkit" / "lessons" / "export_template")
    return made


@pytest.fixture
def exported(number: str, folder: Path) -> str:
    """The address of a lesson's export, which is made when it is first asked for."""
    lesson = plan(number)
    page = (folder / lesson.file).with_suffix(".html")
    if not page.exists():
        notebook = json.loads((notebooks() / lesson.file).read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = answered("".join(cell["source"]), number)
        (folder / lesson.file).write_text(json.dumps(notebook), encoding="utf-8")
        command = [sys.executable, "-m", "nbconvert", *COMMAND, lesson.file]
        own = environment.users() | {"JUPYTER_PATH": str(folder / "share")}
        done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return page.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with Browser(str(BROWSER)) as opened:
        yield opened


@EACH
def test_it_asks_no_host_and_runs_no_script_but_a_players(number: str, exported: str, browser: Browser) -> None:
    page = Path(exported.removeprefix("file://")).read_text(encoding="utf-8")
    browser.look(1280, 900)
    browser.open(exported)

    assert [url for url in browser.requested() if not url.startswith(("file:", "data:", "about:"))] == []
    assert re.findall(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//|@import|\bimport\(", page) == []
    assert "<script" not in re.sub(r"srcdoc='[^']*'", "", page)
    assert browser.complaints() == []


@EACH
def test_page_and_pictures_are_as_light_as_the_reader_wants(number: str, exported: str, browser: Browser) -> None:
    for dark, paper in ((False, "#ffffff"), (True, "#111111")):
        browser.look(1280, 900, dark=dark)
        browser.open(exported)

        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(paper)
        assert set(browser.evaluate(PAPER_OF_PICTURES)) <= {paper}


@EACH
def test_nothing_is_cut_at_an_edge(number: str, exported: str, browser: Browser) -> None:
    for width in (1280, 640, 360):
        browser.look(width, 900)
        browser.open(exported)

        assert browser.evaluate("document.documentElement.scrollWidth") == width
        assert browser.evaluate(WIDER_THAN_ITS_PLACE) == [], width
    browser.look(A4_PX, 900)
    browser.open(exported)
    with on_paper(browser):
        assert browser.evaluate(WIDER_THAN_ITS_PLACE) == []
        assert browser.evaluate(CUT_PICTURES) == []


@pytest.mark.parametrize("number", ["07"])
def test_of_what_needs_a_kernel_a_page_shows_the_picture(number: str, exported: str, browser: Browser) -> None:
    browser.look(1280, 900)
    browser.open(exported)

    titles = browser.evaluate("[...document.querySelectorAll('svg.labkit > title')].map((one) => one.textContent)")

    assert len([title for title in titles if title.startswith("Merkle index of tokyo")]) == 1
    assert browser.evaluate("document.querySelectorAll('.jupyter-widgets').length") == 0


@EACH
@with_axe
def test_axe_finds_nothing(number: str, exported: str, browser: Browser) -> None:
    found = []
    for dark in (False, True):
        browser.look(1280, 900, dark=dark)
        browser.open(exported)
        found += violations(browser)

    assert found == []


@PLAYED
def test_it_plays_from_a_file_by_keyboard(number: str, exported: str, browser: Browser) -> None:
    browser.look(1280, 1000)
    browser.open(exported)
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
@pytest.mark.parametrize("width", [1280, 640])
def test_the_pictures_of_a_player_fit_its_frame(number: str, width: int, exported: str, browser: Browser) -> None:
    browser.look(width, 1000)
    browser.open(exported)
    browser.evaluate(f"{FRAME}.scrollIntoView(); {FRAME}.focus(); 0")
    frame = inside(browser)

    assert browser.evaluate(CUT_FRAMES) == []
    assert evaluated(browser, frame, CUT_PICTURES.replace("one.querySelector('title').textContent", "one.id")) == []
    assert evaluated(browser, frame, "document.documentElement.scrollHeight <= innerHeight"), "to its last table"
    assert browser.evaluate("document.documentElement.scrollWidth") == width


@PLAYED
def test_on_paper_a_player_gives_way_to_its_timeline_and_table(number: str, exported: str, browser: Browser) -> None:
    browser.look(794, 1100)
    browser.open(exported)
    shown = f"[{FRAME}.offsetHeight > 0, document.querySelector('iframe + details table').checkVisibility(ALL)]"
    shown = shown.replace("ALL", "{contentVisibilityAuto: true}")
    on_screen = browser.evaluate(shown)
    with on_paper(browser):
        printed = browser.evaluate(shown)

    assert (on_screen, printed) == ([True, False], [False, True])


@EACH
def test_without_scripts_timeline_and_tables_are_shown(number: str, exported: str, browser: Browser) -> None:
    browser.look(640, 900)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(exported)
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


def rgb(colour: str) -> str:
    """A colour such as #ffffff as a browser says it."""
    return f"rgb{tuple(bytes.fromhex(colour[1:]))}"


@contextmanager
def on_paper(browser: Browser) -> Iterator[None]:
    """Show the page as it is printed."""
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        yield
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


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
