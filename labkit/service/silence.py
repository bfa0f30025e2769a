"""Silence: what a caller in this process gets where no answer comes."""

from __future__ import annotations


class Silence(TimeoutError):
    """No answer came within the time; what was asked may have happened."""


class Dropped(Silence):
    """The connection ended without an answer; what was asked may have happened."""
