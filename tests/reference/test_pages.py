"""What the written pages show to be tried is tried: Python, commands, make targets, extras, options."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

import pytest

from labkit.cli import main, parser
from labkit.commands import serve_options
from labkit.reference import page
from tests.reference import snippets

WITH_PYTHON = {"vault": 11, "lab": 9, "serve": 2}
WITH_COMMANDS = ("vault", "lab", "serve", "differences", "words", "speed", "rules")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients' libraries
@pytest.mark.parametrize(
    "topic", [topic if topic == "serve" else pytest.param(topic, marks=pytest.mark.slow) for topic in WITH_PYTHON]
)
def test_the_python_of_a_page_runs(topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = snippets.python(page(topic))

    assert len(code) == WITH_PYTHON[topic]
    assert snippets.run(code) == []


@pytest.mark.parametrize("topic", WITH_COMMANDS)
def test_the_commands_of_a_page_exist(topic: str) -> None:
    found, parse = snippets.commands(page(topic)), parser().parse_args

    assert found
    assert all(map(parse, found))


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
