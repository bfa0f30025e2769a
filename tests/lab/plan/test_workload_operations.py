"""The operations of workloads: each name once, and what is said of them names none that is not there."""

from __future__ import annotations

from labkit.lab.plan.workload_operations import ISSUING, OPERATIONS, OPTIONS, TAKING, WITHOUT_BODY


def test_each_operation_has_a_name_of_its_own() -> None:
    assert len(set(OPERATIONS)) == len(OPERATIONS)


def test_what_is_said_of_operations_is_said_of_some_that_there_are() -> None:
    assert {*ISSUING, *TAKING, *WITHOUT_BODY, *OPTIONS.values()} <= set(OPERATIONS)
    assert not set(ISSUING) & set(TAKING)
