"""What the written pages show to be tried is tried: Python, commands, make targets, extras, options."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from labkit.cli import main, parser
from labkit.commands import serve_options
from labkit.reference import page
from tests.reference import snippets

WITH_PYTHON = {"vault": 11, "lab": 9, "serve": 2}
WITH_COMMANDS = ("vault", "lab", "serve", "differences", "words", "speed", "rules")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients' libraries
@pytest.mark.parametrize("topic", WITH_PYTHON)
def test_the_python_of_a_page_runs(topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = snippets.python(page(topic))

    assert len(code) == WITH_PYTHON[topic]
    assert snippets.run(code) == []


@pytest.mark.parametrize("topic", WITH_COMMANDS)
def test_the_commands_of_a_page_exist(topic: str) -> None:
    found = snippets.commands(page(topic))

    assert found
    assert all(parser().parse_args(command) for command in found)


@pytest.mark.parametrize("topic", WITH_COMMANDS)
def test_the_pages_that_a_page_names_are_shown(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = [command for command in snippets.commands(page(topic)) if command[0] in ("help", "coverage")]

    assert [command for command in named if main(command) != 0] == []
    assert capsys.readouterr().err == ""


def test_targets_and_extras_exist(checkout: Path) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (checkout / "labkit" / "reference").glob("*.md"))
    targets = re.findall(r"(?m)^([a-z]+):", (checkout / "Makefile").read_text(encoding="utf-8"))
    extras = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    made, installed = set(re.findall(r"`make ([a-z]+)", text)), set(re.findall(r"pip install '\.\[(\w+)\]'", text))

    assert made
    assert made <= set(targets)
    assert {"serve", "pgp"} <= installed <= set(extras)


def test_every_option_of_serve_is_described() -> None:
    made = argparse.ArgumentParser(add_help=False)
    serve_options.add_arguments(made)
    described = re.findall(r"(?m)^ {4}(--[\w-]+)(?: [A-Z]+)? +\S", page("serve").partition("## options")[2])

    assert described == [option for action in made._actions for option in action.option_strings]


def test_a_comment_that_is_a_value_is_compared() -> None:
    assert snippets.run(["1 + 1   # 2\n", "x = 3   # 4\n", "x       # words\n"]) == []
    assert snippets.run(["1 + 1   # 3\n"]) == ["1 + 1 is 2, not 3"]


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
