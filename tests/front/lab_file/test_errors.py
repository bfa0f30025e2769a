"""Errors: a refused file is a wrong value to whoever asked, and a word of its own to who looks closer."""

from __future__ import annotations

from labkit.front.lab_file.errors import LabFileError


def test_a_refused_file_is_a_value_error() -> None:
    assert issubclass(LabFileError, ValueError)
