"""Pages have no violation that axe knows, light and dark: a run's report, the player, the page of a served lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit import Lab, Vault
from labkit.commands.playing import judged
from labkit.commands.run_report import player_of
from labkit.doors.served_door import ServedDoor
from labkit.doors.server_thread import DoorSettings
from labkit.places import scenarios
from tests.axe import violations, with_axe
from tests.browser import BROWSER, Browser, in_a_browser

pytestmark = [pytest.mark.slow, in_a_browser, with_axe]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        yield opened


@pytest.fixture(scope="module")
def failover() -> Lab:
    """The scenario that the demo plays, at its end."""
    lab = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    lab.keep_pictures()
    return lab.run()


dark_and_light = pytest.mark.parametrize("dark", [False, True])


def test_it_finds_what_is_wrong(browser: Browser) -> None:
    browser.open("data:text/html,<img src='x.png'>")
    assert any(line.startswith("image-alt") for line in violations(browser))


@dark_and_light
def test_a_run_s_report(browser: Browser, failover: Lab, tmp_path: Path, dark: bool) -> None:
    path = tmp_path / "run.html"
    player_of(failover, judged(failover)).save(path)
    browser.look(1280, 720, dark=dark)
    browser.open(path.as_uri())
    assert violations(browser) == []
    browser.evaluate("document.querySelector('#happened tbody tr:nth-last-child(3)').click()")
    assert violations(browser) == []
    browser.evaluate("player.show(20050000); document.getElementById('time').focus()")
    browser.press("z", 8)
    assert violations(browser) == []


@dark_and_light
@pytest.mark.parametrize("width", [1280, 320])
def test_a_player(browser: Browser, tmp_path: Path, dark: bool, width: int) -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.partition("paris", "tokyo")
    lab.run("5s")
    path = tmp_path / "run.html"
    lab.play().save(path)
    browser.look(width, 720, dark=dark)
    browser.open(path.as_uri())
    browser.evaluate("player.show(2e6)")
    assert violations(browser) == []


@dark_and_light
def test_the_page_of_a_served_lab(browser: Browser, dark: bool) -> None:
    def made() -> Lab:
        lab = Lab.pair(seed=7)
        lab.replicate("paris", "tokyo")
        return lab

    settings = DoorSettings(control=True)
    door = made().serve(settings=settings)
    door.again = lambda: made().serve(settings=settings)
    browser.look(1280, 720, dark=dark)
    with door:
        door.lab.crash("paris-2")
        door.lab.run("5s")
        browser.evaluate("try { sessionStorage.clear() } catch {}")
        browser.open(door.page)
        browser.wait_for("document.querySelector('#time svg') && document.querySelector('form')")
        browser.evaluate("document.querySelector('#ten').click(); document.querySelector('#answers summary').click()")
        browser.wait_for("document.querySelector('#status').textContent.startsWith('back 10 s: ')")
        browser.evaluate("fetch('/v1/sys/health')")
        browser.evaluate("document.querySelector('#compare').click(); document.querySelector('#ask').click()")
        browser.wait_for("document.querySelector('#status').textContent.startsWith('compare')")
        browser.wait_for("document.querySelector('#answer-rows button')")
        assert violations(browser) == []


@dark_and_light
def test_the_page_of_a_served_vault(browser: Browser, dark: bool) -> None:
    door = ServedDoor(Vault.dev(seed=7), 0, DoorSettings(control=True))
    browser.look(1280, 720, dark=dark)
    with door as url:
        assert door.control is not None
        browser.evaluate("try { sessionStorage.clear() } catch {}")
        browser.open(door.control.guard.page_address(url))
        browser.wait_for("document.querySelector('#clock button')")
        assert violations(browser) == []
