"""Errors: why a file is not opened as a saved lab, or a lab is not saved."""

from __future__ import annotations


class LabFileError(ValueError):
    """A file is not a saved lab, is damaged or of another format, or a lab holds what no file can; the text says which.

    Nothing was opened, and nothing was written.
    """


class LabTooLarge(LabFileError):
    """A lab has more than a file may hold."""
