"""What is said of a bug: its kind and place on one line, and nothing that it carries."""

from __future__ import annotations

import pytest

from labkit.doors.bugs import note_bug


def test_one_line_says_kind_and_place_only(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    try:
        raise ValueError("a secret\nof two lines")
    except ValueError as bug:
        note_bug(said.append, bug)
        note_bug(None, bug, "elsewhere")
    (line,) = said

    assert line.startswith("a bug: a request was answered with 500: ValueError at ")
    assert line.endswith("in test_one_line_says_kind_and_place_only")
    assert "secret" not in line
    (printed,) = capsys.readouterr().err.splitlines()
    assert printed.startswith("a bug: elsewhere: ValueError at ")


def test_what_has_no_place_is_said_too() -> None:
    said: list[str] = []
    note_bug(said.append, None)
    note_bug(said.append, KeyError("secret"))

    assert said == ["a bug: a request was answered with 500: " + kind for kind in ("unknown", "KeyError")]
