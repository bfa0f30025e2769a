"""Patience: as long as there is progress, or a connection on which something may be slow."""

from __future__ import annotations

import pytest

from labkit.lab.operations.patience import (
    MAX_COMPARISONS,
    MAX_CROSSING_NS,
    MAX_POLL_NS,
    MAX_RETURNS,
    POLL_NS,
    Patience,
)

SECOND_NS = 1_000_000_000
APART = {"mode": "secondary", "connection_state": "transient_failure", "last_remote_wal": 3}
READY = {**APART, "connection_state": "ready"}


def waited_ns(patience: Patience, status: dict, looks: int = 100_000) -> int:
    """How long it waits while the status stays the same."""
    total_ns = 0
    for _ in range(looks):
        pause_ns = patience.pause_ns(status)
        if not pause_ns:
            return total_ns
        total_ns += pause_ns
    raise AssertionError("it waits for ever")


def test_without_a_connection_it_waits_as_long_as_the_step_says():
    patience = Patience(30 * SECOND_NS)

    assert waited_ns(patience, APART) == 30 * SECOND_NS
    assert patience.idle_s == 30


def test_on_a_ready_connection_it_waits_as_long_as_the_largest_value_may_take():
    patience = Patience(30 * SECOND_NS)

    assert MAX_CROSSING_NS <= waited_ns(patience, READY) < MAX_CROSSING_NS + MAX_POLL_NS
    assert MAX_CROSSING_NS // SECOND_NS > 2 * (32 << 20) * 8 // 64_000 - 1


def test_who_has_waited_long_looks_less_often():
    patience = Patience(SECOND_NS)
    pauses = [patience.pause_ns(READY) for _ in range(400)]

    assert pauses[:20] == [POLL_NS] * 20
    assert pauses == sorted(pauses)
    assert pauses[-1] == MAX_POLL_NS


def test_a_pause_is_a_thirty_second_of_what_was_waited():
    patience, waited = Patience(SECOND_NS), 0
    for _ in range(400):
        pause_ns = patience.pause_ns(READY)
        assert pause_ns == min(max(POLL_NS, waited // 32), MAX_POLL_NS)
        waited += pause_ns


@pytest.mark.parametrize(
    "change",
    [
        {"last_remote_wal": 4},
        {"merkle_root": "ff"},
        {"mode": "primary"},
        {"merkle_sync_progress": {"sync_total_keys": 5, "sync_progress": 1}},
    ],
)
def test_progress_begins_it_again(change):
    patience = Patience(2 * SECOND_NS)
    for _ in range(8):
        assert patience.pause_ns(APART)

    assert waited_ns(patience, {**APART, **change}) == 2 * SECOND_NS


def test_states_that_come_and_go_are_no_progress():
    patience, looks = Patience(2 * SECOND_NS), 0
    while patience.pause_ns({**APART, "state": ("merkle-diff", "stream-wals")[looks % 2]}):
        looks += 1

    assert looks == 2 * SECOND_NS // POLL_NS


def test_a_connection_that_comes_back_takes_nothing_off_the_time():
    patience = Patience(2 * SECOND_NS + 1)
    patience.pause_ns(APART)
    patience.pause_ns(READY)

    assert waited_ns(patience, APART) == 2 * SECOND_NS + POLL_NS


def test_a_connection_that_comes_back_is_given_its_time_again():
    patience = Patience(2 * SECOND_NS)
    for _ in range(3):
        for _ in range(7):
            assert patience.pause_ns(APART)
        assert patience.pause_ns(READY)


def test_a_connection_that_comes_and_goes_without_progress_is_not_waited_for_for_ever():
    """One over a line that flaps would be, for as long as the largest value may take."""
    patience, looks = Patience(2 * SECOND_NS), 0
    while patience.pause_ns(READY if looks % 4 == 3 else APART):
        looks += 1

    apart = 2 * SECOND_NS // POLL_NS
    assert looks == 4 * MAX_RETURNS + apart + apart // 3
    assert patience.why == f"made no progress for {looks * POLL_NS // SECOND_NS} s"


def test_progress_gives_a_connection_all_its_returns_again():
    patience = Patience(2 * SECOND_NS)
    for entry in range(5):
        for look in range(4 * MAX_RETURNS):
            assert patience.pause_ns({**(READY if look % 4 == 3 else APART), "last_remote_wal": entry})


def looping(patience: Patience, per_look: float, most: int = 10_000) -> tuple[int, int]:
    """How long it waits while comparisons go on in vain, and each fetches something; and how many it has seen."""
    total_ns, seen = 0, 0
    for look in range(most):
        seen = int(2 + look * per_look)
        pause_ns = patience.pause_ns({**READY, "last_remote_wal": look, "merkle_comparisons": seen})
        if not pause_ns:
            break
        total_ns += pause_ns
    return total_ns, seen


@pytest.mark.parametrize("limit_s", [30, 120])
def test_comparisons_in_vain_are_no_progress(limit_s):
    patience = Patience(limit_s * SECOND_NS)
    waited, seen = looping(patience, 1)

    assert waited == limit_s * SECOND_NS
    assert patience.why.startswith(f"compared {seen} times in a row in vain: more is written during a comparison than")
    assert patience.pause_ns({**READY, "last_remote_wal": -1, "merkle_comparisons": seen}) == 0


def test_a_few_slow_comparisons_in_vain_are_waited_for():
    patience = Patience(SECOND_NS)
    waited, seen = looping(patience, 1 / 1_000)

    assert seen == MAX_COMPARISONS
    assert waited > 1_000 * SECOND_NS
    few = Patience(SECOND_NS)
    assert looping(few, (MAX_COMPARISONS - 3) / 10_000)[0] == 10_000 * POLL_NS
    assert few.why == "made no progress for 0 s"


def test_one_that_streamed_meanwhile_has_its_time_again():
    patience = Patience(60 * SECOND_NS)
    for _ in range(3):
        for look in range(200):
            assert patience.pause_ns({**READY, "last_remote_wal": look, "merkle_comparisons": 20})
        assert patience.pause_ns(READY)
