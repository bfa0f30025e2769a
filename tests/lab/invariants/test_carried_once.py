"""Carried out once: a request that a standby sends on twice is found, further attempts and other histories are not."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.carried_once import DROPPED_AT_ONCE, MIN_KEPT, CarriedOnce
from labkit.lab.invariants.rules import CARRIED_ONCE
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import BEGUN, ENDED, Committed
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

WHO = Correlation("app-1", 7, 1)
COMMITS = ((1, (("logical/a", b"x"),)),)


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[CARRIED_ONCE]
    return "" if violation is None else violation.detail


@pytest.fixture
def rule(calm: Lab) -> CarriedOnce:
    """The rule of a lab, for reports of one's own."""
    judge = calm.invariants._rules[CARRIED_ONCE]
    assert isinstance(judge, CarriedOnce)
    return judge


def test_it_holds_through_a_failover_and_its_retries(lab: Lab):
    lab.run("1s").crash("paris")
    lab["tokyo"].promote()
    lab.run("3s")

    assert lab.invariants.applies(CARRIED_ONCE)
    assert not found(lab)


@pytest.mark.parametrize("mistaken", [True, False])
def test_what_a_standby_sends_on_twice_is_found(calm: Lab, mistaken: bool):
    token = {"X-Vault-Token": calm["paris"].root_token}
    with planted(ZOO["forwarded-twice" if mistaken else "version-reused"]):
        calm["paris"].request("POST", "secret/data/a", {"data": {"n": 1}}, token, node="paris-2", timeout="3s")

    assert found(calm).startswith("paris carried attempt ") == mistaken


@pytest.mark.parametrize(
    ("again", "twice"),
    [
        (Committed("paris", COMMITS, WHO, "POST"), True),
        (Committed("paris", COMMITS, WHO._replace(attempt=2), "POST"), False),
        (Committed("paris", COMMITS, WHO._replace(number=8), "POST"), False),
        (Committed("tokyo", COMMITS, WHO, "POST"), False),
        (Committed("paris", (), WHO, "POST"), False),
        (Committed("paris", COMMITS), False),
        (Committed("paris", COMMITS, WHO, "POST", part=BEGUN), False),
        (Committed("paris", COMMITS, WHO, "POST", part=ENDED), True),
    ],
)
def test_only_the_same_attempt_in_the_same_history_is_twice(
    calm: Lab, rule: CarriedOnce, again: Committed, twice: bool
):
    calm.parts.ledger.histories.current["tokyo"] = 99
    rule.on_committed(Committed("paris", COMMITS, WHO, "POST"))
    rule.on_committed(again)

    assert found(calm) == ("paris carried attempt 1 of request 7 of app-1 out twice" if twice else "")


def test_the_newest_attempts_are_kept_and_saved(calm: Lab, rule: CarriedOnce):
    most = MIN_KEPT + DROPPED_AT_ONCE
    for number in range(10 * most):
        rule.on_committed(Committed("paris", COMMITS, WHO._replace(number=number), "POST"))
        assert min(number, MIN_KEPT) < len(rule.state()["done"]) <= most + 1
    rule.on_committed(Committed("paris", COMMITS, WHO._replace(number=number - most - 1), "POST"))
    assert not found(calm), "it is too long ago"
    again = Lab.restore(calm.snapshot())
    assert again.invariants.state() == calm.invariants.state()
    rule.on_committed(Committed("paris", COMMITS, WHO._replace(number=number - MIN_KEPT + 2), "POST"))
    assert found(calm)
