"""Every way in which a command ends has a code and a meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.commands.exit_codes import BAD_FILE, BUG, MEANINGS, WORST_FIRST, listed, refuse, report_bug, worst


@pytest.mark.parametrize(
    ("codes", "code"), [([0, 3], 3), ([3, 1, 0], 1), ([1, 2, 3], 2), ([0, 0], 0), ([2, 4, 1], 4), ([4, 130], 130)]
)
def test_of_several_the_worst_counts(codes: list[int], code: int) -> None:
    assert worst(codes) == code


def test_every_code_has_a_rank_and_a_meaning(checkout: Path) -> None:
    assert sorted(WORST_FIRST) == sorted(MEANINGS) == [0, 1, 2, 3, 4, 130]
    assert all(f"{code} {meaning}" in listed() for code, meaning in MEANINGS.items())


def test_the_readme_lists_them(checkout: Path) -> None:
    readme = " ".join((checkout / "README.md").read_text(encoding="utf-8").split())

    assert "Exit codes: 0 as expected, 1 otherwise, 2 a bad file or argument, 3 unknown, 4 a bug, 130 stopped" in readme


def test_a_refusal_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert refuse("no such\nfile \x1b[31m") == BAD_FILE
    assert capsys.readouterr() == ("", "no such\nfile ·[31m\n")


def test_a_bug_is_one_line_that_says_how_to_report_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_bug(ValueError("two\nlines"), "x.lab.yaml") == BUG
    output = capsys.readouterr().err

    assert output.startswith("x.lab.yaml: a bug of labkit: ValueError: two lines; report it with ")
    assert len(output.splitlines()) == 1
