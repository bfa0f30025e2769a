"""Each fault of a lab is a method of the lab, with the same parameters and the same help."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from labkit.lab.fault_verbs import FaultVerbs
from labkit.lab.faults import LabFaults

INNER = {"on_timer", "end_inside_commit"}  # called by the lab, not by its user


def verbs(kind: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(kind, inspect.isfunction)
    names = {name for name, _ in found if not name.startswith("_")} - INNER
    return {name: inspect.signature(member) for name, member in found if name in names}


def test_each_fault_is_a_method_with_the_same_parameters():
    assert verbs(FaultVerbs) == verbs(LabFaults)


def test_the_help_is_that_of_the_fault():
    for name in verbs(LabFaults):
        assert inspect.getdoc(getattr(FaultVerbs, name)) == inspect.getdoc(getattr(LabFaults, name)) != ""


def test_the_method_calls_the_fault():
    calls: list[tuple[str | None, ...]] = []
    made: Any = FaultVerbs()
    made._faults = SimpleNamespace(heal=lambda *ends: calls.append(ends))
    made.heal("paris")
    made.heal()

    assert calls == [("paris",), ()]


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (
            lambda lab: lab.partition("paris"),
            "partition: expected partition(a, b), where a and b are sites or clusters; "
            "missing a required argument: 'b'",
        ),
        (
            lambda lab: lab.crash("paris", node=1),
            "crash: expected crash(target), where target is a cluster or a node; "
            "got an unexpected keyword argument 'node'",
        ),
        (
            lambda lab: lab.cloud_slow(),
            "cloud_slow: expected cloud_slow(delay, endpoint=); missing a required argument: 'delay'",
        ),
    ],
)
def test_a_call_of_another_shape_is_answered_with_the_shape(act, says, calm):
    with pytest.raises(TypeError) as caught:
        act(calm)

    assert str(caught.value) == says


def test_an_error_inside_a_fault_is_not_taken_for_one_of_its_call():
    made: Any = FaultVerbs()

    def broken(*_: Any) -> None:
        raise TypeError("inside")

    made._faults = SimpleNamespace(heal=broken)
    with pytest.raises(TypeError, match=r"^inside$"):
        made.heal()
