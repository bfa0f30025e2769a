"""Counts: whole numbers within limits; anything else is refused with what was wanted."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from labkit.commands.search.counts import jobs, seed_count


def test_numbers_within_limits() -> None:
    assert (seed_count("1"), seed_count("9999999"), jobs("1"), jobs("64")) == (1, 9_999_999, 1, 64)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "10000000", "²", "x"])
def test_what_is_no_number_of_seeds(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a whole number from 1 up, of at most 7 digits, got "):
        seed_count(text)


@pytest.mark.parametrize("text", ["", "0", "65", "100", "-1", "two"])
def test_what_is_no_number_of_processes(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a number of processes from 1 to 64, got "):
        jobs(text)
