"""The README: short enough to be read to its end, and everything in it that can be tried is tried."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from labkit import Vault
from labkit.cli import main
from tests.front import test_pytest_plugin
from tests.front.test_pytest_plugin import Play
from tests.reference import snippets

pytest_plugins = ["pytester"]

keeper, play = test_pytest_plugin.keeper, test_pytest_plugin.play  # fixtures

MAX_WORDS = 1_000
LONG = ("demo", "run dr/forced-too-early", "prove replication")  # each has tests of its own

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TESTS = [snippet for snippet in snippets.python(README) if "def test_" in snippet]


def test_it_is_short() -> None:
    assert len(README.split()) <= MAX_WORDS


def test_its_first_screen_names_every_engine_and_auth_type() -> None:
    refusal = Vault.dev(seed=7).post("sys/auth/x", {"type": "none"}).errors[0].partition("labkit has ")[2]
    there_are = set(re.findall(r"\w+", refusal)) - {"system"}

    assert {"kv", "transit", "azure", "userpass"} < there_are
    assert there_are <= set(re.findall(r"`(\w+)`", README.partition("## Install")[0]))


def test_its_python_runs() -> None:
    code = [snippet for snippet in snippets.python(README) if snippet not in TESTS]

    assert len(code) == 2
    assert snippets.run(code) == []


@pytest.mark.slow
def test_its_tests_pass(play: Play, pytester: pytest.Pytester) -> None:
    assert len(TESTS) == 1
    pytester.makepyfile(TESTS[0])

    play("-W", "ignore::DeprecationWarning").assert_outcomes(passed=1)


def test_its_drill_is_written_checked_run_and_collected(
    play: Play, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    (drill,) = [block.splitlines() for block in snippets.shell(README) if "labkit new" in block]
    commands = [line.partition("#")[0].split() for line in drill]

    assert [(program, words[0]) for program, *words in commands] == [
        ("labkit", "new"),
        ("labkit", "check"),
        ("labkit", "run"),
        ("pytest", "my-drill.lab.yaml"),
    ]
    assert [main(words) for program, *words in commands if program == "labkit"] == [0, 0, 0]
    assert "as expected" in capsys.readouterr().out
    play(*commands[-1][1:]).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=name, marks=pytest.mark.slow if name.startswith(LONG) else ())
        for command in snippets.commands(README)
        if (name := " ".join(command))
    ],
)
def test_its_commands_run(
    command: list[str],
    tmp_path: Path,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if command[0] == "serve":
        monkeypatch.setenv("PYTHONPATH", str(checkout))
        assert "labkit serves" in snippets.serve_and_stop(command, tmp_path)
        return
    if command[0] in ("check", "run") and "my-drill.lab.yaml" in command:
        assert main(["new", "scenario", "my-drill"]) == 0

    assert main(command) == 0
    assert capsys.readouterr().out.strip()


def test_its_targets_extras_and_links_exist(checkout: Path) -> None:
    targets = re.findall(r"(?m)^([a-z]+):", (checkout / "Makefile").read_text(encoding="utf-8"))
    extras = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    links = re.findall(r"\]\(([^)#]+)\)", README)
    installs = re.findall(r"pip install (\S+)", README)

    assert {"demo", "notebook"} <= set(re.findall(r"(?m)(?:^|`)make ([a-z]+)", README)) <= set(targets)
    assert "labkit/reference/failover.svg" in links
    assert [link for link in links if not (checkout / link).is_file()] == []
    assert len(installs) == 2
    assert [name for name in installs if not (name == "." or re.fullmatch(r"'\.\[(\w+)\]'", name))] == []
    assert {name for text in installs for name in re.findall(r"\w+", text)} <= set(extras)
