"""Each fault of a lab is a method of the lab, with the same parameters and the same help."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

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
