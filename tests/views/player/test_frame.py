"""Frame: it is as high as the page of its player, in a wide place and in a narrow one, and not much higher."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit import Lab
from labkit.places import scenarios
from labkit.views.player.frame import frame_heights
from labkit.views.player.player import Player
from tests.browser import BROWSER, Browser, in_a_browser

MOST_SPARE = 0.3


def quiet() -> Player:
    """A run of a second in which nothing is lost."""
    return Lab.pair(seed=7).run("1s").play()


def drilled() -> Player:
    """A run with losses and trees."""
    return Lab.load(scenarios() / "first" / "failover.lab.yaml").run().play()


def test_more_to_show_needs_more_room(drilled_lab: Lab) -> None:
    small, large = frame_heights(quiet()._shown), frame_heights(drilled_lab.play()._shown)

    assert small[0] < small[1]
    assert large[0] < large[1]
    assert small < large


def test_a_notebook_s_frame_has_both_heights(drilled_lab: Lab) -> None:
    player = drilled_lab.play()
    found = re.search(r"<iframe [^>]*style='width:100%;height:(\d+)px;--narrow:(\d+)px;", player._repr_html_())

    assert found
    assert tuple(map(int, found.groups())) == frame_heights(player._shown)


@pytest.mark.slow
@in_a_browser
@pytest.mark.parametrize("made", [quiet, drilled])
def test_the_page_fits_and_little_is_left_over(made: Callable[[], Player], tmp_path: Path) -> None:
    player = made()
    player.save(tmp_path / "run.html")
    with Browser(str(BROWSER)) as browser:
        for width, height in zip((1138, 636), frame_heights(player._shown), strict=True):
            browser.look(width, height)
            browser.open((tmp_path / "run.html").as_uri())
            bottom = browser.evaluate("document.querySelector('main').getBoundingClientRect().bottom")
            assert height * (1 - MOST_SPARE) < bottom <= height - 32, (width, "with what the page has below")
