"""Every fault of a lab is a verb of scenario files, and each has its opposite."""

from __future__ import annotations

import inspect

from labkit.lab.faults import LabFaults
from labkit.scenario.fault_verbs import FAULT_VERBS
from labkit.scenario.verb import FAULT

NAMES = {"restore_links": "restore"}
WITHOUT_OPPOSITE = {"roll-keys", "corrupt", "stray-write"}
INNER = {"on_timer", "end_inside_commit"}  # called by the lab, not by its user


def test_every_fault_is_a_verb():
    methods = [
        name
        for name, _ in inspect.getmembers(LabFaults, inspect.isfunction)
        if not name.startswith("_") and name not in INNER
    ]

    assert sorted(NAMES.get(name, name).replace("_", "-") for name in methods) == sorted(v.name for v in FAULT_VERBS)


def test_every_fault_has_its_opposite():
    names = {verb.name for verb in FAULT_VERBS}

    assert {verb.kind for verb in FAULT_VERBS} == {FAULT}
    assert {verb.name for verb in FAULT_VERBS if verb.undo not in names} == WITHOUT_OPPOSITE
