"""Why a condition is broken: what keeps an entry away, and what is counted; without it the condition is not broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.causes.explanation import FAULT, OPERATOR
from tests.lab.causes.test_why import shop

SHORT = {"lag": {"at most": 2}}


def replicating() -> Lab:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab.run("2s")


def write(lab: Lab, count: int = 5) -> None:
    for number in range(count):
        lab["paris"].post(f"secret/data/{number}", {"data": {"user": "ada"}})
        lab.run("200ms")


def cut(lab: Lab) -> None:
    lab.partition("paris", "tokyo")


def slowed(lab: Lab) -> None:
    lab.slow("paris", "tokyo", factor=20)


def paused(lab: Lab) -> None:
    lab.pause("tokyo-1")


def revoke(lab: Lab) -> None:
    lab["paris"].post("sys/replication/dr/primary/revoke-secondary", {"id": "tokyo"})


def disconnected(lab: Lab) -> None:
    """A cut, behind which another node leads the primary: nobody is connected to that, so it sends nothing."""
    lab.partition("paris", "tokyo")
    lab.crash("paris-1")
    lab.run("60s")


LAGS: dict[str, tuple[Callable[[Lab], None], str, str]] = {
    "cut": (cut, "is lost: the line is cut", "the line paris <> tokyo is cut both ways"),
    "slowed": (slowed, "and arrives at", "slower"),
    "paused": (paused, "paris made at", "tokyo-1 stands still"),
    "not connected": (disconnected, "no heartbeat was answered", "the line paris <> tokyo is cut both ways"),
}


@pytest.mark.parametrize("name", LAGS)
def test_a_lag_is_broken_by_what_keeps_its_oldest_entry_away(name: str) -> None:
    does, said, root = LAGS[name]
    lab, calm = replicating(), replicating()
    for one, fault in ((lab, does), (calm, None)):
        if fault is not None:
            fault(one)
        one.watch("short lag", SHORT)
        write(one)
        one.run("5s")
    why = lab.why("short lag")

    assert said in str(why)
    assert (why.origin, root in why.root.sentence) == (FAULT, True), str(why)
    assert "short lag" not in calm.invariants.broken


def refused(lab: Lab) -> None:
    lab["paris"].get("secret/data/none", token="nobody")


def promoted(lab: Lab) -> None:
    cut(lab)
    write(lab, 1)
    lab["tokyo"].promote()


OTHERS: dict[str, tuple[dict[str, Any], Callable[[Lab], Any], str, str]] = {
    "connection": ({"connections": {"tokyo": "ready"}}, cut, "has no connection to its primary", FAULT),
    "mode": ({"modes": {"paris": "primary"}}, lambda lab: lab["paris"].demote(), "an operator sends", OPERATOR),
    "state": ({"states": {"tokyo": "stream-wals"}}, lambda lab: lab["tokyo"].promote(), "tokyo is primary", OPERATOR),
    "primary": ({"primary": "paris"}, lambda lab: lab["tokyo"].promote(), "tokyo is primary", OPERATOR),
    "refused": ({"refused": 0}, refused, "403", OPERATOR),
    "lost": ({"lost": 0}, promoted, "is lost: the line is cut", FAULT),
    "observed": ({"observed": {"secondary_revoked": 0}}, revoke, "secondary revoked", OPERATOR),
    "roots": ({"roots": "equal"}, lambda lab: lab.corrupt("tokyo", layer="root"), "damaged", FAULT),
    "rule": ({"invariants": {"one primary": "held"}}, lambda lab: lab["tokyo"].promote(), "'one primary'", OPERATOR),
    "acknowledged": ({"acknowledged": 0}, lambda lab: write(lab, 1), "an operator sends", OPERATOR),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_measured_leads_to_the_last_row_of_its_kind(name: str) -> None:
    condition, does, said, origin = OTHERS[name]
    lab = replicating()
    lab.watch("mine", condition)
    lab.run("3s")
    assert "mine" not in lab.invariants.broken
    does(lab)
    lab.run("20s")
    why = lab.why("mine")

    assert (said in str(why), why.origin) == (True, origin), str(why)


def test_clients_that_get_no_answer_break_what_counts_them() -> None:
    lab = Lab(shop())
    lab.watch("sure", {"in doubt": 0})
    lab.run(until="1990ms").crash("paris")
    lab.run("2s")
    why = lab.why("sure")

    assert "is in doubt: it may have happened or not" in str(why)
    assert (why.origin, why.cause.what) == (FAULT, "crash")
