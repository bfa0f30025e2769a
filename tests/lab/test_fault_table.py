"""The table of faults: a row for each fault of a lab, and what undoes what, as the behaviour has it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.cloud_fault_table import OBSERVED
from labkit.lab.fault_table import AROUND, CLOUD, FAULTS, NAMED, Fault
from labkit.lab.faults import LabFaults

INNER = {"on_timer", "end_inside_commit"}  # called by the lab, not by its user
STAY = {"corrupt", "stray write", "roll keys"}

LINE = ("paris", "tokyo")
CALLS: dict[str, tuple[Any, ...]] = {
    "crash": ("paris-2",),
    "crash in commit": ("paris",),
    "restart": ("paris-2",),
    "crash site": ("paris",),
    "restart site": ("paris",),
    "pause": ("paris-2",),
    "resume": ("paris-2",),
    "skew": ("paris-2", "90s"),
    "correct": ("paris-2",),
    "impersonate": ("paris-2",),
    "expose": ("paris-2",),
    "partition": LINE,
    "cut": LINE,
    "isolate": ("paris",),
    "slow": LINE,
    "lose": (*LINE, 5),
    "duplicate": (*LINE, 5),
    "flap": (*LINE, "1s", "1s"),
    "corrupt": ("paris", "storage"),
    "stray write": ("paris",),
    "cloud slow": ("2s",),
}
FACTOR = {"slow": {"factor": 2}}


def make(lab: Lab, fault: Fault) -> set[str]:
    """Make a fault; return the names under which the trace records it."""
    begins = len(lab.trace)
    getattr(lab, fault.method)(*CALLS.get(fault.name, ()), **FACTOR.get(fault.name, {}))
    rows = [row for chunk in lab.trace.state()[1] for row in chunk][begins:]
    return {row[2] if row[0] == "fault" else row[3] for row in rows if row[0] in ("fault", "observed")}


def test_each_fault_has_one_row():
    methods = [name for name, _ in inspect.getmembers(LabFaults, inspect.isfunction) if not name.startswith("_")]

    assert sorted(fault.method for fault in FAULTS) == sorted(set(methods) - INNER)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_each_parameter_beside_the_target_is_a_field():
    for fault in FAULTS:
        taken = list(inspect.signature(getattr(LabFaults, fault.method)).parameters)[1:]
        fields = [field.name for field in fault.fields]
        assert taken[len(taken) - len(fields) :] == fields
        assert set(fault.one_of) <= set(fields)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_history_has_the_name_of_the_row(fault: Fault):
    lab = Lab.pair(seed=7)
    if fault.name == "steady":
        make(lab, NAMED["flap"])

    assert (fault.observed or fault.name) in make(lab, fault)


def test_a_fault_and_what_undoes_it_name_each_other():
    for fault in FAULTS:
        opposite = fault.opposite
        if fault.undone_by:
            assert opposite is NAMED[fault.undone_by]
            assert fault in opposite.undoes
            assert not opposite.undone_by, "what undoes faults is no fault"
            assert not fault.undoes
        elif fault.undoes:
            assert opposite in fault.undoes
        else:
            assert opposite is None
    assert {fault.name for fault in FAULTS if fault.opposite is None} == STAY
    assert all(fault.target in (each.target, AROUND) for fault in FAULTS for each in fault.undoes)


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if fault.undone_by and fault.target != CLOUD and fault.name != "crash in commit"],
    ids=lambda fault: fault.name,
)
def test_what_undoes_a_fault_does_so(fault: Fault):
    lab, undoing = Lab.pair(seed=7), NAMED[fault.undone_by]
    for each in (fault, undoing, undoing):
        make(lab, each)

    done, *again = [event.detail for event in lab.trace.select("fault", verb=undoing.name)]
    assert done == ""
    assert again == ([] if fault.name == "flap" else ["no change"])


def test_what_ends_a_fault_is_a_fault():
    assert all(name in NAMED for fault in FAULTS for name in fault.ended_by)
    assert {fault.name: fault.ended_by for fault in FAULTS if fault.ended_by} == {"pause": ("crash",)}


def test_a_pause_is_over_when_the_process_is():
    lab = Lab.pair(seed=7)
    lab.pause("paris-2")
    lab.crash("paris-2")
    lab.restart("paris-2")

    assert not lab.parts.processes["paris-2"].paused


def test_each_row_has_words_for_causes():
    for fault in FAULTS:
        assert bool(fault.cause) != bool(fault.observed), fault.name
        assert fault.cause.format(target="paris", detail="page") or OBSERVED[fault.observed].cause


def test_the_cloud_is_undone_in_both_tables_alike():
    for fault in FAULTS:
        if fault.observed:
            undoing = NAMED[fault.undone_by].observed if fault.undone_by else ""
            assert OBSERVED[fault.observed].undone_by == undoing
