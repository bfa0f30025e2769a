"""Crash memory: a request that is answered after the crash of who took it is found; a crash that forgets is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import Lab
from labkit.lab.invariants.crash_memory import CrashMemory
from labkit.lab.invariants.rules import CRASH_FORGETS
from labkit.lab.wire.messages import ApiRequest, Correlation
from labkit.service.message import Request
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

FILES = Path(__file__).resolve().parents[2] / "zoo" / "files"


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[CRASH_FORGETS]
    return "" if violation is None else violation.detail


@pytest.mark.parametrize("name", ["held-over-a-crash", "waits-over-a-crash"])
@pytest.mark.parametrize("mistaken", [True, False])
def test_what_outlives_a_crash_and_is_answered_is_found(name: str, mistaken: bool):
    with planted(ZOO[name if mistaken else "version-reused"]):
        lab = Lab.load(str(FILES / f"{name}.yaml"))
        lab.run()

    assert found(lab).endswith("which it took before it crashed") == mistaken
    assert lab.invariants.applies(CRASH_FORGETS)


def test_what_is_held_and_not_answered_is_no_fault_and_is_saved(calm: Lab):
    correlation = Correlation("app-1", 3, 1)
    calm.parts.nodes["paris-1"].waiting.append(("app-1", ApiRequest(correlation, Request("POST", "secret/data/a"))))
    with planted(ZOO["waits-over-a-crash"]):
        calm.crash("paris-1")
    rule = calm.invariants._rules[CRASH_FORGETS]
    assert isinstance(rule, CrashMemory)

    assert rule.state()["held"] == ((("paris-1", correlation), 1),)
    assert not found(calm)
    assert Lab.restore(calm.snapshot()).invariants.state() == calm.invariants.state()


def test_a_crash_leaves_nothing(calm: Lab):
    calm.parts.nodes["paris-1"].waiting.append(
        ("app-1", ApiRequest(Correlation("app-1", 3, 1), Request("POST", "secret/data/a")))
    )
    calm.crash("paris-1")

    assert calm.invariants.state()["rules"][CRASH_FORGETS]["held"] == ()
    assert not Lab.pair().run("1s").invariants.applies(CRASH_FORGETS)
