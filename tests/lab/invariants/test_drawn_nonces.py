"""Drawn nonces: a stream that goes back, or that two nodes draw from, is found; restarts and branches are not."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import NO_NONCE_TWICE
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[NO_NONCE_TWICE]
    return "" if violation is None else violation.detail


def test_it_holds_over_restarts_branches_and_a_failover(lab: Lab):
    lab.run("1s").crash("paris-1")
    lab.restart("paris-1")
    branches = [lab, lab.branch("one"), lab.branch("one"), Lab.restore(lab.snapshot())]
    for each in branches:
        each["paris"].unseal()
        each.run("2s")
        each.failover("paris", "tokyo")

    assert not any(map(found, branches))
    assert lab.invariants.applies(NO_NONCE_TWICE)


def test_a_restart_that_draws_again_is_found(calm: Lab):
    calm["paris"].post("secret/data/a", {"data": {"n": 1}})
    calm.run("1s")
    with planted(ZOO["same-entropy-again"]):
        calm.crash("paris-1")

    assert found(calm).startswith("paris-1 draws again from its stream: 0 after ")


def test_nodes_with_one_stream_are_found():
    with planted(ZOO["streams-shared"]):
        lab = Lab.pair(seed=4).run("2s")

    assert found(lab) == "paris-2 draws from the stream that paris-1 drew from"


@pytest.mark.parametrize("back", [0, 1])
def test_a_count_that_goes_back_is_found_at_rest(calm: Lab, back: int):
    calm.run("1s")
    calm.parts.nodes["tokyo-1"].entropy.counter -= back
    calm.run("1ms")

    assert bool(found(calm)) == bool(back)


def test_what_was_drawn_is_saved(calm: Lab):
    calm.run("1s")
    again = Lab.restore(calm.snapshot())

    assert again.invariants.state() == calm.invariants.state()
    assert calm.invariants.state()["rules"][NO_NONCE_TWICE]["drawn"]
