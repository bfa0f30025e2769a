"""No key that is pressed in a widget is a command of the notebook, and the focus is never lost: in a browser."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import Lab
from labkit.views.keyboard import Keyboard
from labkit.views.merkle_explorer import STATIC
from tests.browser import BROWSER, Browser, in_a_browser

KEYS = (*string.ascii_letters, *string.digits, *"#/.-=", "Escape", "Enter", " ", "ArrowUp", "ArrowDown", "ArrowLeft")
MOVES = (*("Enter",) * 4, "Escape", "n", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", " ", "d")

NOTEBOOK = """(async () => {
  document.body.innerHTML = '<div class="labkit-board"><button>Step</button><select><option>paris</option>'
    + '<option>tokyo</option></select></div><button id="other">Another</button><div id="place"></div>';
  window.commands = [];
  window.clicks = 0;
  document.querySelector("button").onclick = () => { window.clicks += 1; };
  const look = (event) => {  // as the notebook does: outwards from what has the focus, up to the element that ends it
    for (let at = event.target; at; at = at.parentElement) {
      if (at.hasAttribute("data-lm-suppress-shortcuts")) return;
      if (at.matches(":focus")) { window.commands.push(event.key); event.preventDefault(); return; }
    }
  };
  document.onkeydown = null;
  if (!window.looked) document.addEventListener("keydown", look, true);
  window.looked = true;
  return 1;
})()"""
LOADED = """(async () => {
  const source = new Blob([%s], { type: "text/javascript" });
  const { default: widget } = await import(URL.createObjectURL(source));
  const listeners = {}, state = %s;
  const model = {
    get: (name) => state[name],
    on: (name, act) => { listeners[name] = act; },
    off: () => {},
    send: ({ tree, page }) => {
      state.page = { tree, number: page, subpages: [], leaves: [] };
      listeners["change:page"]();
    },
  };
  widget.render({ model, el: document.querySelector("#place") });
  return 1;
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        yield opened


def load(browser: Browser, script: str, state: dict[str, Any]) -> None:
    """Put a widget's script into a page that takes every key for a command, as a notebook does."""
    browser.open("about:blank")
    browser.evaluate(NOTEBOOK)
    source = (STATIC / script).read_text(encoding="utf-8")
    assert browser.evaluate(LOADED % (json.dumps(source), json.dumps(state))) == 1


def pressed(browser: Browser, place: str, keys: tuple[str, ...]) -> list[str]:
    """The commands that keys were taken for, pressed at a place."""
    browser.evaluate(f"window.commands.length = 0; document.querySelector({place!r}).focus()")
    for key in keys:
        browser.press(key)
    found: list[str] = browser.evaluate("window.commands")
    return found


@pytest.mark.slow
@in_a_browser
def test_no_key_in_a_dashboard_is_a_command_and_each_keeps_its_meaning(browser: Browser) -> None:
    load(browser, "keyboard.js", {})

    assert pressed(browser, "#other", ("d", "d")) == ["d", "d"]
    for key, value in (("ArrowDown", "tokyo"), ("p", "paris"), ("t", "tokyo")):
        assert pressed(browser, ".labkit-board select", (key,)) == []
        assert browser.evaluate("document.querySelector('select').value") == value
        browser.evaluate("new Promise((done) => setTimeout(done, 1200))")  # else letters are one word
    for place in (".labkit-board button", ".labkit-board select"):
        assert pressed(browser, place, (*KEYS, "d", "d")) == []
        assert browser.evaluate("document.activeElement.closest('.labkit-board') !== null")
    assert browser.evaluate("window.clicks") == 2  # Enter and the space bar


@pytest.mark.slow
@in_a_browser
def test_no_key_in_the_explorer_is_a_command_and_it_keeps_the_focus(browser: Browser) -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    explorer = lab["tokyo"].merkle().explore()
    load(browser, "merkle.js", {"index": explorer.index, "page": explorer.page, "note": ""})
    draws, focused = random.Random(7), "document.activeElement.closest('.labkit-merkle .board') !== null"

    assert pressed(browser, ".labkit-merkle [tabindex='0']", (*KEYS, "d", "d")) == []
    for _ in range(150):
        browser.press(draws.choice(MOVES))
        assert browser.evaluate(focused)
    assert browser.evaluate("window.commands") == []


@pytest.mark.slow
@in_a_browser
def test_a_level_without_items_has_the_focus_itself_and_leads_back(browser: Browser) -> None:
    index = {
        "title": "an index",
        "summary": "two trees",
        "cluster": "tokyo",
        "trees": [{"name": name, "digest": "", "leaves": 0, "states": [], "pages": []} for name in ("one", "two")],
    }
    load(browser, "merkle.js", {"index": index, "page": {}, "note": ""})
    where = "document.querySelector('.labkit-merkle nav').textContent"

    assert pressed(browser, ".labkit-merkle [tabindex='0']", ("Enter", "Enter", "Enter")) == []
    assert browser.evaluate(where).endswith("subpage 0")
    assert browser.evaluate("document.activeElement.className") == "board"
    browser.press("Escape")
    assert browser.evaluate(where).endswith("page 0")
    assert browser.evaluate("document.activeElement.className").startswith("cell")


def test_the_widget_has_the_script_and_no_state() -> None:
    assert str(Keyboard._esm).endswith("keyboard.js") or "labkit-board" in str(Keyboard._esm)
    assert not [name for name in Keyboard().get_state() if not name.startswith(("_", "layout", "tabbable", "tooltip"))]
