"""Failures: what is planned comes first, then silence, then the limit on the rate; all of it is state."""

from __future__ import annotations

from labkit.cloud.failures import CloudFailures, PlannedFailure
from labkit.service.durations import SECOND_NS


def test_planned_failures_come_in_their_order_and_are_used_up() -> None:
    failures = CloudFailures()
    failures.plan("compute", PlannedFailure(429, "10"), 2)
    failures.plan("compute", PlannedFailure(503, "1500ms", True), 1)
    answers = [failures.answer("compute", 0) for _ in range(4)]
    seen = [answer and (answer.status, answer.headers.get("Retry-After"), answer.body is None) for answer in answers]

    assert seen == [(429, "10", False), (429, "10", False), (503, None, True), None]
    assert answers[2] is not None
    assert answers[2].headers["Retry-After-Ms"] == "1500"
    assert failures.answer("keys", 0) is None


def test_many_failures_are_planned_as_one_row() -> None:
    failures = CloudFailures()
    failures.plan("compute", PlannedFailure(503), 1_000_000)
    for _ in range(1_000):
        assert failures.answer("compute", 0) is not None

    assert failures.state()["planned"] == {"compute": ((PlannedFailure(503), 999_000),)}


def test_what_is_down_is_silent_after_what_was_planned() -> None:
    failures = CloudFailures({"down": {"keys": True}})
    failures.plan("keys", PlannedFailure(500), 1)

    assert [answer.status for answer in (failures.answer("keys", 0), failures.answer("keys", 0)) if answer] == [500, 0]


def test_a_limit_refills_and_says_when_to_come_again() -> None:
    failures = CloudFailures()
    failures.limit("compute", 2, 3, 0)

    assert [failures.answer("compute", 0) for _ in range(3)] == [None] * 3
    refused = failures.answer("compute", 0)
    assert refused is not None
    assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
    assert failures.answer("compute", SECOND_NS // 2 - 1) is not None
    assert failures.answer("compute", SECOND_NS // 2) is None
    assert [failures.answer("compute", 99 * SECOND_NS) for _ in range(4)][:3] == [None] * 3
    assert failures.answer("compute", 99 * SECOND_NS) is not None


def test_who_comes_half_way_waits_for_the_rest() -> None:
    failures = CloudFailures()
    failures.limit("compute", 1, 1, 0)
    failures.answer("compute", 0)
    refused = [failures.answer("compute", at_ns) for at_ns in (0, SECOND_NS // 2, SECOND_NS - 1)]

    assert [answer and answer.headers["Retry-After"] for answer in refused] == ["1", "1", "1"]
    assert failures.answer("compute", SECOND_NS) is None


def test_a_clock_that_is_put_back_costs_no_more_than_the_pause() -> None:
    failures = CloudFailures()
    failures.limit("keys", per_second=1, burst=1, now_ns=9 * SECOND_NS)

    assert failures.answer("keys", 0) is None
    refused = failures.answer("keys", 0)
    assert refused is not None
    assert (refused.status, refused.headers["Retry-After"]) == (429, "1")


def test_state_goes_on_the_same() -> None:
    failures = CloudFailures()
    failures.plan("token", PlannedFailure(503), 3)
    failures.limit("compute", 1, 1, 0)
    failures.answer("token", 0)
    again = CloudFailures(failures.state())
    failures.answer("token", 0)

    assert again.planned["token"] == ((PlannedFailure(503), 2),)
    assert again.limits == failures.limits
