"""Exercise alarms: what each alarm is like, and what becomes of a function that fails."""

from __future__ import annotations

import pytest

from labkit.lessons.disaster.alarms import ALARMS, THREE_ALARMS, alarmed, look
from labkit.lessons.judging import judge
from labkit.lessons.said import NOT_ATTEMPTED


@pytest.mark.parametrize("name", ALARMS)
def test_who_takes_writes_after_each_alarm(name):
    lab = alarmed(name)
    began_ns = lab.now
    if name == "region":
        with pytest.raises(TimeoutError):
            lab["paris"].post("secret/data/x", {"data": {}}, timeout="30s")
        return
    assert lab["paris"].post("secret/data/x", {"data": {}}).ok
    waited_s = (lab.now - began_ns) / 1e9
    assert 1 < waited_s < 5 if name == "node" else waited_s < 0.1  # the hint says seconds


def test_a_function_that_raises_is_said():
    seen = look(lambda lab: lab.crash("nowhere"))

    assert seen.region.error.startswith("ValueError: ")


def test_a_function_that_counts_its_calls_is_called_in_another_order_too():
    calls = []

    def counts(lab):
        calls.append(lab)
        if len(calls) == 3:
            lab["tokyo"].promote()

    judged = judge(THREE_ALARMS, (counts,))
    assert (judged.condition, len(calls)) == ("a region", 6)
    assert judged.seen.endswith("takes no writes; right at first, and not when it was called again, as call 4")


def test_what_is_right_is_said_with_its_reason():
    assert "Only where paris itself is silent" in judge(THREE_ALARMS, (THREE_ALARMS.ways["by health"],)).seen


def test_who_decides_to_do_nothing_has_tried():
    decided = judge(THREE_ALARMS, (lambda lab: lab["paris"].active is None and lab["tokyo"].promote(),))

    assert decided.condition == "a region"
    assert judge(THREE_ALARMS, (lambda lab: None,)).outcome == NOT_ATTEMPTED
