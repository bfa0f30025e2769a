"""Health checks: who is in service, after how many failures no more, and where traffic goes."""

from __future__ import annotations

import pytest

from labkit.lab.hosts.health_checks import HealthChecks

NODES = ("paris-1", "paris-2", "tokyo-1")


def checked(checks: HealthChecks, *statuses: int) -> str:
    """One round with these answers, 0 for none; return where traffic goes."""
    number = checks.begin()
    for node, status in zip(NODES, statuses, strict=True):
        if status:
            checks.answered(number, node, status)
    return checks.chosen


def test_the_first_node_is_taken_until_something_is_known():
    assert HealthChecks(NODES, 2).chosen == "paris-1"


@pytest.mark.parametrize("status", [429, 472, 473, 501, 503, 200])
def test_only_200_is_in_service(status):
    checks = HealthChecks(NODES, 2)
    assert checked(checks, 429, status, 472) == ("paris-2" if status == 200 else "paris-1")


def test_a_node_goes_out_of_service_after_failures_in_a_row_silence_included():
    checks = HealthChecks(NODES, 2)
    assert checked(checks, 200, 200, 472) == "paris-1"
    assert checked(checks, 503, 200, 472) == "paris-1"
    assert checked(checks, 200, 200, 472) == "paris-1", "not in a row"
    assert checked(checks, 0, 200, 472) == "paris-1"
    assert checked(checks, 0, 200, 472) == "paris-1", "the silence of a round is known at the next"
    assert checked(checks, 0, 200, 472) == "paris-2"
    assert checked(checks, 200, 200, 200) == "paris-1", "back at once"


def test_while_none_is_in_service_it_stays_where_it_was():
    checks = HealthChecks(NODES, 1)
    assert checked(checks, 429, 200, 472) == "paris-2"
    assert checked(checks, 503, 503, 472) == "paris-2"
    assert checked(checks, 503, 503, 200) == "tokyo-1"


def test_a_late_answer_and_a_second_one_are_ignored():
    checks = HealthChecks(NODES, 1)
    number = checks.begin()
    checks.begin()
    assert not checks.answered(number, "paris-2", 200)
    assert checks.answered(number + 1, "paris-2", 200)
    assert not checks.answered(number + 1, "paris-2", 503)
    assert checks.chosen == "paris-2"


def test_what_was_seen_is_state():
    checks = HealthChecks(NODES, 2)
    checked(checks, 503, 200, 0)
    again = HealthChecks(NODES, 2, checks.state())
    for statuses in ((503, 503, 200), (200, 0, 200), (0, 0, 0)):
        assert checked(checks, *statuses) == checked(again, *statuses)
        assert repr(checks) == repr(again)
