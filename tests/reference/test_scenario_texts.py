"""The page of scenario files: every key has an example, and the file that it begins with runs."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from labkit.cli import main
from labkit.reference import page

KEY = re.compile(r" *([a-z][a-z ]*)\*?: (.+)")
SHOWS_A_VALUE = re.compile(r"such as |unless given|one of |: constant, |equal or different|(true|false|fine|ok|done)\b")


def keys_without_an_example(text: str) -> list[str]:
    """The keys of a page of keys whose line shows no value, and that stand in none of its examples."""
    paragraphs = text.split("\n\n")
    lists = [part for part in paragraphs if part.startswith(("scenario*: ", "A step of the timeline has do"))]
    assert len(lists) == 2
    examples = "\n".join(part for part in paragraphs if part not in lists)
    found = []
    for line in "\n".join(lists).splitlines():
        key = KEY.fullmatch(line)
        if key is None or SHOWS_A_VALUE.search(key[2]):
            continue
        if not re.search(rf"(?m)^    (?:.*[{{ ,-])?{key[1]}: ?", examples):
            found.append(line.strip())
    return found


def test_every_key_of_a_scenario_file_has_an_example() -> None:
    text = page("scenario")

    assert keys_without_an_example(text) == []
    assert keys_without_an_example(text.replace("  through: front,", "").replace("through: front, ", "")) == [
        "through: a load balancer, when they know nothing else"
    ]


@pytest.mark.slow
def test_the_whole_file_on_the_page_of_scenario_files_runs_as_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "whole.lab.yaml"
    file.write_text(dedent(page("scenario").split("  A whole file:\n")[1].split("\n\n")[0]))

    assert main(["run", "-q", str(file)]) == 0
    assert "A region is lost: as expected" in capsys.readouterr().out
