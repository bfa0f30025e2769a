"""The table of cloud faults: a row for each control of the cloud, by the name under which its host records it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from labkit import Lab
from labkit.cloud.fault_controls import FaultControls
from labkit.lab.cloud_fault_table import CLOUD_FAULTS, OBSERVED, CloudFault
from labkit.lab.wire.addresses import CLOUD_HOST

GIVEN: dict[str, tuple[Any, ...]] = {
    "fail_next": ("token",),
    "slow": ("2s",),
    "throttle": ("token", 1, 1),
    "spread_secrets": ("5s",),
    "set_clock_ahead": ("-5s",),
}
STAY = {"keys rolled", "key revoked", "secrets spread", "cloud clock"}


def test_each_control_has_one_row():
    controls = [name for name, _ in inspect.getmembers(FaultControls, inspect.isfunction) if not name.startswith("_")]

    assert sorted(fault.control for fault in CLOUD_FAULTS) == sorted(controls)
    assert len(OBSERVED) == len(CLOUD_FAULTS)


@pytest.mark.parametrize("fault", CLOUD_FAULTS, ids=lambda fault: fault.name)
def test_a_control_is_recorded_by_the_name_of_its_row_with_what_its_words_need(fault: CloudFault):
    lab = Lab.pair(seed=7)
    getattr(lab.cloud, fault.control)(*GIVEN.get(fault.control, ()))
    event = lab.trace.select("observed", node=CLOUD_HOST)[-1]

    assert event.what == fault.name
    assert fault.cause.format(**{name.removesuffix("_ns"): value for name, value in event.fields})


def test_a_fault_and_what_undoes_it_name_each_other():
    undoing = {fault.undone_by for fault in CLOUD_FAULTS} - {""}

    assert all(fault in OBSERVED[fault.undone_by].undoes for fault in CLOUD_FAULTS if fault.undone_by)
    assert not any(OBSERVED[name].undone_by for name in undoing)
    assert {fault.name for fault in CLOUD_FAULTS if not fault.undone_by and not fault.undoes} == STAY
