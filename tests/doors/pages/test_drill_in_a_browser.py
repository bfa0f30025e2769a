"""A drill on a served lab's page: begun, cut, promoted, taken back, promoted earlier, compared; by mouse or keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import Lab
from labkit.doors.served_lab import ServedLab
from labkit.doors.server_thread import DoorSettings
from labkit.service.durations import SECOND_NS
from tests.browser import BROWSER, Browser, in_a_browser

STATUS = "document.querySelector('#status').textContent"
BUTTON = "[...document.querySelectorAll('main button')].find((one) => one.textContent === {!r})"
FORM = "[...document.querySelectorAll('form')].find((one) => one.querySelector('h2').textContent === {!r})"

BOTTOM = """Math.max(...["#time", "#controls", "#map", "#past", "#forms", "#said", "#got"]
  .map((name) => document.querySelector(name).getBoundingClientRect().bottom))"""
AXIS_IN_VIEW = """[...document.querySelectorAll("#time > svg text")].filter((one) => / s$/.test(one.textContent))
  .every((one) => one.getBoundingClientRect().bottom <= document.querySelector("#time").getBoundingClientRect().bottom)
"""
CUT_FIELDS = """[...document.querySelectorAll("select, input:not([type=checkbox])")].filter((one) => {
  const style = getComputedStyle(one), pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  const text = one.selectedOptions ? one.selectedOptions[0].textContent : one.value || one.placeholder;
  const arrow = one.selectedOptions ? 20 : 0;
  return pen.measureText(text).width > one.clientWidth - parseFloat(style.paddingLeft) * 2 - arrow;
}).map((one) => one.name || one.selectedOptions[0].textContent)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        opened.look(1280, 720)
        yield opened


@pytest.fixture
def door() -> ServedLab:
    """The door of two clusters, one of which follows the other; the lab is nobody else's."""

    def made() -> ServedLab:
        lab = Lab.pair(seed=7)
        lab.replicate("paris", "tokyo")
        return lab.serve(settings=DoorSettings(control=True))

    found = made()
    found.again = made
    return found


class Hand(ABC):
    """Whoever uses the page: finds a button or a field of a form, and waits for what was said."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    @abstractmethod
    def click(self, element: str) -> None:
        """Press an element of the page."""

    @abstractmethod
    def choose(self, element: str, value: str) -> None:
        """Choose from a list."""

    def press(self, words: str, said: str) -> None:
        """Press a button, and wait for the end of what it does."""
        self.click(BUTTON.format(words))
        self.browser.wait_for(f"{STATUS}.startsWith({said!r}) && !{STATUS}.endsWith('…')")

    def do(self, form: str, verb: str, said: str, **fields: str) -> None:
        """Carry out a verb by its form."""
        place = FORM.format(form)
        self.choose(f"{place}.querySelector('select')", verb)
        for name, value in fields.items():
            self.choose(f"{place}.elements[{name!r}]", value)
        self.click(f"{place}.querySelector('button')")
        self.browser.wait_for(f"{STATUS}.startsWith({said!r}) && !{STATUS}.endsWith('…')")


class Mouse(Hand):
    """Moves a pointer; the list of a choice is the system's, so what is chosen in it is set."""

    def click(self, element: str) -> None:
        box = (
            "e => (e.scrollIntoView({block: 'nearest'}), e = e.getBoundingClientRect(), [e.x, e.y, e.width, e.height])"
        )
        x, y, width, height = self.browser.evaluate(f"({box})({element})")
        where: dict[str, Any] = {"x": x + width / 2, "y": y + height / 2, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, **where)

    def choose(self, element: str, value: str) -> None:
        chosen = f"(e => (e.value = {value!r}, e.dispatchEvent(new Event('change')), e.value))({element})"
        assert self.browser.evaluate(chosen) == value


class Keyboard(Hand):
    """Presses keys only: Tab to walk, arrows to choose, Enter and blank to act."""

    def walk(self, element: str) -> None:
        """Walk to an element."""
        for _ in range(80):
            if self.browser.evaluate(f"document.activeElement === {element}"):
                return
            if self.browser.evaluate(
                f"!!document.activeElement.closest('#controls') && {element}.closest('#controls') !== null"
            ):
                self.browser.press("ArrowRight")
            else:
                self.browser.press("Tab")
        raise AssertionError(f"no way by keyboard to {element}")

    def click(self, element: str) -> None:
        self.walk(element)
        self.browser.press("Enter")

    def choose(self, element: str, value: str) -> None:
        self.walk(element)
        self.browser.press("Home")
        for _ in range(60):
            if self.browser.evaluate(f"{element}.value") == value:
                return
            self.browser.press("ArrowDown")
        raise AssertionError(f"no way by keyboard to {value}")


def shown(browser: Browser, door: ServedLab) -> None:
    browser.evaluate("try { sessionStorage.clear() } catch {}")
    browser.open(door.page)
    browser.wait_for("document.querySelector('#time svg') && document.querySelector('form')")


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize("kind", [Mouse, Keyboard])
def test_a_drill_is_done_again_and_compared(browser: Browser, door: ServedLab, kind: type[Hand]) -> None:
    hand = kind(browser)
    with door:
        shown(browser, door)
        first = door.lab
        hand.press("Begin again", "begin again: done")
        assert door.lab is not first
        hand.press("Run 10s", "run 10s: done")
        began_ns = door.lab.now
        hand.do("Faults", "partition", "partition", between0="paris", between1="tokyo")
        browser.wait_for("document.querySelectorAll('#map .cut').length === 2")
        hand.press("Run 10s", "run 10s: done")
        hand.do("Runbooks", "promote", "promote tokyo: ", cluster="tokyo")
        late = door.lab
        assert late["tokyo"].mode == "primary"
        promoted_ns = late.now

        hand.press("Back 10 s", "back 10 s: done")
        assert door.lab is not late
        assert door.lab.now == promoted_ns - 10 * SECOND_NS
        assert (door.lab["tokyo"].mode, began_ns <= door.lab.now) == ("secondary", True)
        hand.do("Runbooks", "promote", "promote tokyo: ", cluster="tokyo")
        assert door.lab["tokyo"].mode == "primary"
        hand.press("Run 10s", "run 10s: done")
        hand.press("Compare", "compare with the run before: the same")
        found = door.lab.trace.digest(), late.trace.digest()
        assert found[0] != found[1]
        words = browser.evaluate("document.querySelector('#apart-words').textContent")
        assert "they part at" in words
        assert (
            browser.evaluate("!!document.querySelector('#apart-picture svg') && document.activeElement.id") == "apart"
        )
        y = browser.evaluate("document.querySelector('#apart-title').getBoundingClientRect().y")
        assert 0 <= y < 100
        assert browser.complaints() == []


@pytest.mark.slow
@in_a_browser
def test_what_makes_no_sense_now_says_why_and_does_nothing(browser: Browser, door: ServedLab) -> None:
    hand = Mouse(browser)
    with door:
        shown(browser, door)
        form = FORM.format("Faults")
        hand.choose(f"{form}.querySelector('select')", "restart")
        browser.wait_for(f"{form}.querySelector('.why').textContent === 'Not now: no node is down.'")
        before = door.lab.trace.digest()
        assert browser.evaluate(f"{form}.querySelector('button').getAttribute('aria-disabled')") == "true"
        hand.click(f"{form}.querySelector('button')")
        browser.wait_for(f"{STATUS} === 'restart: no node is down'")
        hand.click("document.querySelector('#compare')")
        browser.wait_for(f"{STATUS}.includes('this is the first run')")
        assert door.lab.trace.digest() == before
        hand.do("Faults", "crash", "crash", target="paris-2")
        hand.choose(f"{form}.querySelector('select')", "restart")
        browser.wait_for(f"!{form}.querySelector('button').hasAttribute('aria-disabled')")
        offered = f"[...{form}.elements.target.options].filter((one) => !one.disabled).map((one) => one.value)"
        assert browser.evaluate(offered) == ["paris", "paris-2"]


@pytest.mark.slow
@in_a_browser
def test_a_lab_is_looked_at_and_taken_back_to_what_its_cursor_shows(browser: Browser, door: ServedLab) -> None:
    hand = Mouse(browser)
    with door:
        door.lab.run("20s")
        shown(browser, door)
        assert browser.evaluate("document.querySelector('#where').textContent") == "As it is now."
        hand.click("document.querySelector('#time svg')")
        where = browser.wait_for(
            "document.querySelector('#where').textContent.startsWith('Looking back at') && player.at()"
        )
        before_ns = door.lab.now
        hand.press("Back to the cursor", "back to the cursor: done")
        assert door.lab.now == int(where) * 1_000 < before_ns
        browser.wait_for("document.querySelector('#where').textContent === 'As it is now.'")
        assert browser.complaints() == []


@pytest.mark.slow
@in_a_browser
def test_an_answer_shows_its_values_when_asked(browser: Browser, door: ServedLab) -> None:
    hand = Mouse(browser)
    with door:
        shown(browser, door)
        door.lab.run("2s")
        ask = (
            "fetch('/v1/secret/data/app', {method: %s, headers: {'X-Vault-Token': %r}, body: %s}).then((r) => r.status)"
        )
        token = door.lab["paris"].root_token
        assert browser.evaluate(ask % ("'POST'", token, """'{"data": {"user": "ada-1815"}}'""")) == 200
        assert browser.evaluate(ask % ("'GET'", token, "undefined")) == 200
        hand.click("document.querySelector('#answers summary')")
        rows = "document.querySelector('#answer-rows').innerText"
        browser.wait_for(f"{rows}.includes('GET secret/data/app, 200')")
        assert "ada-1815" not in browser.evaluate("document.documentElement.innerHTML")
        hand.click("document.querySelector('#answer-rows button')")
        browser.wait_for(f"{rows}.includes('ada-1815')")
        hand.click("document.querySelector('#answer-rows button')")
        browser.wait_for(f"!{rows}.includes('ada-1815')")


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize(("width", "height", "dark"), [(1280, 720, False), (640, 360, True), (320, 640, False)])
def test_state_act_and_effect_are_on_one_screen(
    browser: Browser, door: ServedLab, width: int, height: int, dark: bool
) -> None:
    """Of 1280 pixels at 200 % there are 640."""
    with door:
        browser.look(width, height, dark=dark)
        door.lab.run("20s")
        shown(browser, door)
        assert browser.evaluate("document.documentElement.scrollWidth") == width
        for act in (None, break_a_rule):
            if act is not None:
                act(door.lab)
                browser.wait_for("document.querySelector('#broken p') && document.querySelector('#map .cut')")
            assert browser.evaluate("document.documentElement.scrollWidth") == width
            if width == 1280:
                browser.wait_for(f"Math.abs(player.at() - {door.lab.now // 1_000}) < 1")
                assert browser.evaluate(BOTTOM) <= height
                assert browser.evaluate(AXIS_IN_VIEW)
        browser.look(1280, 720)


def break_a_rule(lab: Any) -> None:
    """Cut what stands between two clusters and let both be primaries."""
    lab.partition("paris", "tokyo")
    lab.run("10s")
    lab["tokyo"].promote()
    lab.run("1s")


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize("width", [1280, 640, 320])
def test_no_field_cuts_what_it_shows(browser: Browser, door: ServedLab, width: int) -> None:
    with door:
        browser.look(width, 720)
        break_a_rule(door.lab)
        shown(browser, door)
        browser.wait_for("document.querySelector('form option').textContent && document.querySelector('#broken p')")
        hand = Mouse(browser)
        for form, verb in (("Runbooks", "promote"), ("Runbooks", "ask"), ("Faults", "partition"), ("Faults", "skew")):
            hand.choose(f"{FORM.format(form)}.querySelector('select')", verb)
            assert browser.evaluate(CUT_FIELDS) == []
            hints = f"[...{FORM.format(form)}.querySelectorAll('.hint')].filter((one) => one.checkVisibility())"
            hand.click(f"{FORM.format(form)}.querySelector('select')")
            assert bool(browser.evaluate(f"{hints}.length")) is (verb != "partition")
            browser.press("Escape")
        browser.look(1280, 720)


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize(("motion", "least", "most"), [("reduce", 1, 1), ("no-preference", 5, 10_000)])
def test_what_came_since_the_last_look_passes_by_unless_motion_is_reduced(
    browser: Browser, door: ServedLab, motion: str, least: int, most: int
) -> None:
    with door:
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": motion}])
        shown(browser, door)
        browser.wait_for("window.player")
        browser.evaluate(
            "window.count = 0; const show = player.show; player.show = (...a) => { count += 1; show(...a); }"
        )
        door.lab.run("2s")
        browser.wait_for(f"player.at() === {door.lab.now // 1_000}")
        assert least <= browser.evaluate("count") <= most
