"""Exercise backlog: what has left the backlog is compared, what has not is streamed."""

from __future__ import annotations

import pytest

from labkit.lessons.distance.backlog import BACKLOG, ENTRIES, OF_LINES, look, many_secrets, one_secret, start
from labkit.lessons.distance.line import since
from labkit.lessons.judging import judge
from labkit.lessons.said import RIGHT


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


@pytest.mark.parametrize(
    ("act", "condition", "said"),
    [
        (lambda lab: lab.partition("paris", "tokyo"), "healed", "70 writes since the start, and the line is still cut"),
        (lambda lab: lab.crash("tokyo"), "the line only", "besides the line, this happened: crash"),
        (
            lambda lab: lab.run("1s"),
            "compared",
            "70 writes since the start, and tokyo never compared: it streamed them",
        ),
        (lambda lab: lab.lose("paris", "tokyo", percent=100), "compared", "never compared: it still lacks some"),
    ],
)
def test_what_is_said_is_so(act, condition, said):
    lab = start()
    act(lab)
    for number in range(ENTRIES + 6):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {}})
    judged = judge(BACKLOG, (lab,))

    assert judged.condition == condition
    assert said in judged.seen


def test_a_secondary_that_was_restarted_is_sealed_and_that_is_no_failure_of_the_check():
    lab = start()
    lab.crash("tokyo")
    lab.restart("tokyo")

    assert look(lab).state == ""
    assert judge(BACKLOG, (lab,))[1:3] == ("the line only", "besides the line, this happened: crash, restart")


@pytest.mark.parametrize(("wait", "is_later"), [("0s", True), ("10s", False)])
def test_how_long_it_took_and_what_the_readers_lab_has_not_seen_yet_is_said(wait, is_later):
    lab = start()
    lab.partition("paris", "tokyo")
    for number in range(ENTRIES + 6):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {}})
    lab.heal()
    lab.run(wait)
    judged = judge(BACKLOG, (lab,))

    assert judged.outcome == RIGHT
    assert judged.seen.startswith("The pair began to compare 3.3 s after the line was whole.")
    assert ("The check let a copy go on" in judged.seen) is is_later


def test_of_a_lab_that_took_no_write_it_is_said_that_nothing_was_missed():
    lab = start()
    lab.partition("paris", "tokyo")
    lab.heal()

    assert judge(BACKLOG, (lab,)).seen == "no cluster took a write since the start, so tokyo missed none"
