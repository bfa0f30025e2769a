"""Bugs: what is said of an exception that no request should cause: its kind and its place, never what it carries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from traceback import extract_tb

Log = Callable[[str], None]


def note_bug(log: Log | None, bug: BaseException | None, what: str = "a request was answered with 500") -> None:
    """Write one line about a bug: to the log, or to standard error where there is none."""
    places = extract_tb(bug.__traceback__) if bug is not None else ()
    at = f" at {places[-1].filename}:{places[-1].lineno} in {places[-1].name}" if places else ""
    note(log, f"a bug: {what}: {type(bug).__name__ if bug is not None else 'unknown'}{at}")


def note(log: Log | None, line: str) -> None:
    """Write one line to the log, or to standard error where there is none."""
    if log is not None:
        log(line)
    else:
        print(line, file=sys.stderr, flush=True)
