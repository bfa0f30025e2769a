"""Counts: how many seeds and processes a search is asked for."""

from __future__ import annotations

import argparse

MAX_JOBS = 64


def seed_count(text: str) -> int:
    """Read a number of seeds."""
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, of at most 7 digits, got {text!r}")
    return int(text)


def jobs(text: str) -> int:
    """Read a number of processes."""
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and 0 < int(text) <= MAX_JOBS):
        raise argparse.ArgumentTypeError(f"expected a number of processes from 1 to {MAX_JOBS}, got {text!r}")
    return int(text)
