"""Exercise backlog: what has left the backlog is compared, what has not is streamed."""

from __future__ import annotations

import pytest

from labkit.lessons.distance.backlog import ENTRIES, OF_LINES, look, many_secrets, one_secret, start
from labkit.lessons.distance.line import since


@pytest.mark.parametrize(("writes", "compared"), [(ENTRIES // 2, 0), (ENTRIES + 6, 1)])
def test_more_writes_than_are_remembered_are_compared(writes, compared):
    lab = start()
    lab.partition("paris", "tokyo")
    for number in range(writes):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {}})
    lab.run("2s")
    lab.heal()
    seen = look(lab)

    assert (seen.writes, seen.compared, seen.roots_equal) == (writes, compared, True)


@pytest.mark.slow
def test_one_secret_differs_in_fewer_pages_than_many():
    pages = []
    for way in (many_secrets, one_secret):
        lab = start()
        way(lab)
        (event,) = since(lab, start(), "observed", what="merkle_diff")
        pages.append(dict(event.fields)["pages"])

    assert pages[0] > pages[1] > 0


def test_what_may_fail_is_the_line():
    assert {"partition", "cut", "isolate", "heal", "slow", "lose", "flap"} <= OF_LINES
    assert OF_LINES.isdisjoint({"crash", "crash site", "corrupt", "pause", "restart", "skew", "stray write"})
