"""The wall clock counts integer nanoseconds of the epoch; entropy has the asked size and never repeats."""

from __future__ import annotations

import time

import pytest

from labkit import real


def test_now_is_the_epoch_in_integer_nanoseconds() -> None:
    before = time.time_ns()
    reading = real.now()
    after = time.time_ns()

    assert type(reading) is int
    assert before <= reading <= after


@pytest.mark.parametrize("size_bytes", [0, 1, 12, 32, 4096])
def test_entropy_has_the_asked_size(size_bytes: int) -> None:
    drawn = real.entropy(size_bytes)

    assert type(drawn) is bytes
    assert len(drawn) == size_bytes


def test_entropy_never_repeats() -> None:
    assert len({real.entropy(16) for _ in range(1000)}) == 1000


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        real.entropy(-1)
