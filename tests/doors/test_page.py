"""The page at ``/``: its files, and what a real browser shows and does with them, by keyboard only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from labkit import Lab, Vault
from labkit.doors.page import FILES, FOLDER, PLAYER_FILES, PLAYER_STYLE, POLICY, page_file
from labkit.doors.served_door import ServedDoor
from labkit.doors.served_lab import ServedLab
from labkit.doors.server_thread import DoorSettings
from labkit.views.player.script import MODULES
from tests.browser import BROWSER, Browser, in_a_browser, installed

STATUS = "document.querySelector('#status').textContent"
FOCUSED = "(e => `${e.tagName} ${e.textContent.trim().slice(0, 20)}`)(document.activeElement)"


def test_every_file_of_the_page_is_served_and_nothing_else() -> None:
    assert {name for name, _ in FILES.values()} == {path.name for path in FOLDER.iterdir()}
    of_player = {PLAYER_STYLE: ("", "text/css"), **dict.fromkeys(PLAYER_FILES, ("", "text/javascript"))}
    for path, (_, kind) in {**FILES, **of_player}.items():
        answer = page_file(path)
        assert answer is not None
        assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert answer.headers["Content-Security-Policy"] == POLICY
    assert page_file("/page.txt") is None


def test_the_player_s_scripts_are_those_of_its_page() -> None:
    assert (*PLAYER_FILES.values(),) == MODULES
    answer = page_file("/player/player.js")
    assert answer is not None
    assert b"export { inSeconds, startPlayer }" in answer.content


def test_the_page_loads_nothing_from_elsewhere() -> None:
    for path in FOLDER.iterdir():
        assert re.findall(r"https?://|//[a-z]+\.", path.read_text()) == []


def test_what_the_script_asks_for_is_there(lab: Lab) -> None:
    acts = lab.serve(control=True).control._acts
    script = "".join(path.read_text() for path in FOLDER.glob("*.js"))
    asked = set(re.findall(r'"(GET|POST)", [`"](/(?:page|control)/[\w/-]*)', script)) - {("POST", "/page/session")}

    assert len(asked) >= 8
    assert asked <= {(method, place.removesuffix("<name>")) for method, place in acts}


@pytest.mark.slow
def test_a_vault_and_a_lab_have_it(vault: Vault, lab: Lab) -> None:
    with vault.serve() as url, lab.serve() as urls:
        for door in (url, urls["paris"]):
            answer = requests.get(f"{door}/", timeout=10)
            assert "do not store real ones" in answer.text
            assert requests.get(f"{door}/page.js", timeout=10).headers["X-Content-Type-Options"] == "nosniff"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        yield opened


@pytest.fixture
def pair() -> Lab:
    """Two clusters, one of which follows the other."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab


def shown(browser: Browser, door: ServedLab) -> None:
    """Open a lab's page, and wait until it is drawn."""
    browser.evaluate("try { sessionStorage.clear() } catch {}")
    browser.open(door.page)
    browser.wait_for("document.querySelector('#time svg')")


def walk_to(browser: Browser, wanted: str, inside: str = "body") -> None:
    """Press Tab until what has the focus begins so."""
    for _ in range(60):
        browser.press("Tab")
        if browser.evaluate(f"{FOCUSED}.startsWith({wanted!r}) && !!document.activeElement.closest({inside!r})"):
            return
    raise AssertionError(f"no way by keyboard to {wanted}")


@pytest.mark.slow
@in_a_browser
def test_a_lab_is_seen_and_driven_by_keyboard(browser: Browser, pair: Lab) -> None:
    door = pair.serve(control=True)
    with door as urls:
        shown(browser, door)
        assert browser.evaluate("location.hash + location.search") == ""
        assert browser.evaluate("document.querySelector('#pace').value") == "0"
        before_ns = pair.now
        walk_to(browser, "BUTTON Run 10s")
        browser.press("Enter")
        browser.wait_for(f"{STATUS} === 'run 10s: done'")
        assert pair.now >= before_ns + 10_000_000_000
        walk_to(browser, "SELECT", "form:last-of-type")  # the faults; the first of them is crash
        walk_to(browser, "BUTTON Do it", "form:last-of-type")
        browser.press(" ")
        browser.wait_for(f"{STATUS}.startsWith('crash')")
        rows = browser.wait_for("document.querySelector('#rows').innerText.includes('paris-1: down') && 1")
        assert rows
        assert "crash" in browser.evaluate("document.querySelector('#lines').textContent")
        assert browser.complaints() == []
        assert {urlsplit(url).netloc for url in browser.requested()} == {urlsplit(urls["paris"]).netloc}


@pytest.mark.slow
@in_a_browser
def test_a_reader_s_place_is_kept_while_the_page_goes_on(browser: Browser, pair: Lab) -> None:
    door = pair.serve(control=True)
    with door:
        shown(browser, door)
        walk_to(browser, "BUTTON Run 1s")
        browser.press("Enter")
        browser.wait_for(f"{STATUS} === 'run 1s: done'")
        assert browser.evaluate(FOCUSED) == "BUTTON Run 1s"
        browser.evaluate("document.querySelector('form select').focus()")
        pair.run("5s")
        browser.wait_for("document.querySelector('#now').textContent.startsWith('7.4')")
        assert browser.evaluate(FOCUSED).startswith("SELECT")


@pytest.mark.slow
@in_a_browser
def test_a_broken_rule_stands_above_everything(browser: Browser, pair: Lab) -> None:
    door = pair.serve(control=True)
    with door:
        pair.partition("paris", "tokyo")
        pair["tokyo"].promote(force=True)
        pair.heal()
        shown(browser, door)
        assert browser.evaluate("document.querySelector('#broken').innerText").startswith("Broken rule: ")


@pytest.mark.slow
@in_a_browser
def test_an_address_opens_once_and_without_control_the_page_only_shows(browser: Browser, pair: Lab) -> None:
    door = pair.serve()
    with door as urls:
        address = door.page
        browser.open(address)
        browser.wait_for("document.querySelector('#map svg')")
        assert browser.evaluate(STATUS).startswith("This page only shows")
        assert browser.evaluate("document.querySelectorAll('#clock button, #forms button, #again').length") == 0
        browser.open(f"{urls['paris']}/")  # the tab keeps its key
        browser.wait_for("document.querySelector('#map svg')")
        browser.open(address.replace("/#", "/?again#"))  # and opens the address that it has opened before
        browser.wait_for("document.querySelector('#map svg')")
        browser.evaluate("sessionStorage.clear()")
        browser.open(f"{urls['paris']}/?")
        browser.wait_for(f"{STATUS}.includes('open the address that the server printed')")
        browser.open(f"{address.replace('/#', '/?once-more#')}")
        browser.wait_for(f"{STATUS}.includes('opened already')")


@pytest.mark.slow
@in_a_browser
def test_a_narrow_dark_window_shows_all(browser: Browser, pair: Lab) -> None:
    door = pair.serve(control=True)
    with door:
        browser.look(320, 900, dark=True)
        shown(browser, door)
        assert browser.evaluate("document.documentElement.scrollWidth") == 320
        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 17, 17)"
        browser.look(1280, 900)


LATE = """
const late = [], usual = window.fetch;
window.fetch = async (...asked) => {
  const answer = await usual(...asked);
  if (!late.length && String(asked[0]).endsWith("/control/clock")) await new Promise((done) => late.push(done));
  return answer;
};
"""
"""From now on the first answer that says what time it is is held back, until ``late`` is called."""


@pytest.mark.slow
@in_a_browser
def test_a_vault_that_is_controlled_shows_its_requests(browser: Browser, vault: Vault) -> None:
    door = ServedDoor(vault, 0, DoorSettings(control=True))
    with door as url:
        assert door.control is not None
        vault.get("secret/data/none")
        browser.evaluate("try { sessionStorage.clear() } catch {}")
        browser.open(door.control.guard.page_address(url))
        browser.wait_for("document.querySelector('#lines').textContent.endsWith('secret/data/none 404')")
        walk_to(browser, "BUTTON Fail the next")
        browser.press("Enter")
        browser.wait_for(f"{STATUS} === 'fail the next: done'")
        assert [vault.get("sys/health").status for _ in range(2)] == [503, 200]
        walk_to(browser, "BUTTON Run 1m")
        browser.evaluate(LATE)
        before_ns = vault.now()
        browser.wait_for("late.length")
        browser.press("Enter")
        browser.wait_for(f"{STATUS} === 'run 1m: done'")
        assert vault.now() - before_ns == 60_000_000_000
        assert browser.evaluate("document.querySelector('#now').textContent").startswith("2030-01-01T00:01:00")
        browser.evaluate("late.forEach((answer) => answer()); new Promise((done) => setTimeout(done, 100))")
        assert browser.evaluate("document.querySelector('#now').textContent").startswith("2030-01-01T00:01:00")
        assert browser.complaints() == []


@pytest.mark.slow
@in_a_browser
def test_a_page_of_another_origin_uses_the_api_once_it_is_allowed(browser: Browser, vault: Vault) -> None:
    """The browser itself judges what ``sys/config/cors`` allows."""
    with vault.serve() as url, Vault.dev().serve() as other:
        asking = f"""fetch("{url}/v1/secret/data/app", {{method: "POST", body: '{{"data": {{"a": 1}}}}',
          headers: {{"X-Vault-Token": "{vault.root_token}"}}}}).then(r => r.status, e => e.name)"""
        browser.open(f"{other}/v1/sys/health")
        assert browser.evaluate(asking) == "TypeError"
        vault.post("sys/config/cors", {"allowed_origins": "https://elsewhere.example.org"})
        assert browser.evaluate(asking) == "TypeError"
        vault.post("sys/config/cors", {"allowed_origins": other})
        assert browser.evaluate(asking) == 200
        assert vault.get("secret/data/app").data["data"] == {"a": 1}


def test_a_browser_that_is_not_there_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("LABKIT_BROWSER", raising=False)
    found: Any = installed()

    assert found is None


def test_a_file_of_the_page_is_an_answer_that_nobody_keeps() -> None:
    for path in FILES:
        answer = page_file(path)
        assert answer is not None
        assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
        assert (answer.headers["Referrer-Policy"], answer.headers["X-Content-Type-Options"]) == (
            "no-referrer",
            "nosniff",
        )
        assert page_file(path) is answer, "it is read once"
