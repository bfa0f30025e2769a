"""What a command prints fits the terminal from 60 columns to 200, and is left as it is where nothing says how wide."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

from labkit.cli import main
from labkit.commands.terminal import columns, fitted, prose_columns, show_page

BAD = Path(__file__).parents[1] / "scenario" / "bad"


@pytest.mark.parametrize(("said", "wide"), [("80", 80), ("20", 60), ("1000", 200), ("", 0)])
def test_lines_are_as_wide_as_the_terminal_within_limits(said: str, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if said:
        monkeypatch.setenv("COLUMNS", said)

    assert columns() == wide
    assert prose_columns() == min(wide or 100, 100)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("one two", "one two"),
        ("one two three four five", "one two three four\n    five"),
        ("  one two three four five", "  one two three four\n      five"),
        ("1 s  step one two three", "1 s  step one two\n     three"),
        ("x" * 30, "x" * 30),
        ("    1 | abcdefghijklmnopqrstuvwxyz\n      |                         ^", "    1 | stuvwxyz\n      |       ^"),
        ("    1 | abcd\n      |  ^", "    1 | abcd\n      |  ^"),
    ],
)
def test_a_line_goes_on_under_its_own_text(text: str, wanted: str) -> None:
    assert fitted(text, 20) == wanted
    assert fitted(text, 0) == text


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "command",
    [
        ["demo"],
        ["run", "first/split-brain", "--why"],
        ["run", "-q", "first/failovr"],
        ["check", str(BAD)],
        *[["check", str(path)] for path in sorted(BAD.glob("*.yaml"))[::7]],
        ["scenarios"],
        ["lessons"],
        ["help"],
        ["coverage", "post", "secret/data"],
        ["prove", "election"],
    ],
    ids=lambda command: "-".join(command).replace(os.sep, "-")[-30:],
)
@pytest.mark.slow
def test_what_a_command_prints_fits(
    command: list[str], width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    main(command)
    shown = capsys.readouterr()

    assert shown.out or shown.err
    wide = [line for line in (shown.out + shown.err).split("\n") if len(line) > width and " " in line.strip()]
    assert wide == []


class Terminal(io.StringIO):
    """A stream that is shown by a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_page_is_shown_by_the_pager_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paged: list[str] = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.delenv("LESS", raising=False)
    show_page("a page")
    assert (capsys.readouterr().out, paged) == ("a page\n", [])
    stream: Any = Terminal()
    monkeypatch.setattr("sys.stdin", stream)
    monkeypatch.setattr("sys.stdout", stream)
    show_page("a page")

    assert (paged, os.environ["LESS"], stream.getvalue()) == (["a page\n"], "-FRX", "")
