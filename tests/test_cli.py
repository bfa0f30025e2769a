"""The command line knows its commands, and answers a mistake with a sentence, never with a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from labkit import places
from labkit.cli import main, parser

BAD = "scenario: x\nlab: {sites: [here], clusters: {one: {site: here}}}\ntimeline: [{do: sela, cluster: one}]\n"


def test_help_names_the_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])

    output = capsys.readouterr().out
    assert left.value.code == 0
    names = ("demo", "run", "check", "new", "scenarios", "lessons", "serve", "coverage", "prove", "help")
    assert [name for name in names if not re.search(rf"(?m)^ +{name}\b", output)] == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["rnu"],
        ["run"],
        ["run", "x", "--seed", "-1"],
        ["run", "x", "--seed", "9" * 30],
        ["new"],
        ["new", "lesson", "x"],
        ["demo", "--seed", "x"],
    ],
)
def test_a_wrong_call_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parser().parse_args(arguments)

    assert left.value.code == 2
    assert "labkit" in capsys.readouterr().err


def test_without_a_command_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2

    assert re.search(r"(?m)^ +scenarios\b", capsys.readouterr().err)


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop() -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(places, "notebooks", stop)

    assert main(["lessons"]) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_help_is_light(checkout: Path) -> None:
    code = "import sys; from labkit.cli import parser; parser(); print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)

    assert {"simpy", "pydantic", "yaml", "networkx", "tqdm", "pandas"} & set(output.stdout.split()) == set()


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(checkout: Path) -> None:
    program = f"{sys.executable} -m labkit check scenarios/first/*.lab.yaml"
    output = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program} | true"], cwd=checkout, capture_output=True, text=True, check=False
    )

    assert "Traceback" not in output.stderr
    assert "BrokenPipe" not in output.stderr


@pytest.mark.slow
def test_signs_that_a_terminal_lacks_are_no_error(tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "x.lab.yaml"
    path.write_text(BAD, encoding="utf-8")
    output = subprocess.run(
        [sys.executable, "-m", "labkit", "check", str(path)],
        cwd=checkout,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert output.returncode == 2
    assert "did you mean 'seal'?" in output.stderr


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert re.fullmatch(r"labkit \S+, Python 3\.\d+\.\S+\n", capsys.readouterr().out)

    monkeypatch.setattr("labkit.cli.DISTRIBUTION", "no-such-distribution")
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("labkit (a checkout that is not installed), Python 3.")


@pytest.mark.parametrize("command", [[], ["run"], ["check"], ["demo"]])
def test_help_explains_the_exit_codes(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])

    text = " ".join(capsys.readouterr().out.split())
    for code in ("0 as expected", "1 not as expected", "2 a file", "3 unknown", "4 a bug of labkit", "130 stopped"):
        assert code in text


def test_a_bug_of_a_command_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> Path:
        raise RuntimeError("out of nowhere")

    monkeypatch.setattr(places, "notebooks", fail)

    assert main(["lessons"]) == 4
    assert capsys.readouterr().err.startswith("labkit lessons: a bug of labkit: RuntimeError: out of nowhere;")
    monkeypatch.setenv("LABKIT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["lessons"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo"],
        ["run", "x"],
        ["check", "x"],
        ["new", "scenario", "x"],
        ["scenarios"],
        ["lessons"],
        ["prove", "replication"],
        ["help"],
    ],
)
def test_every_command_has_its_file(arguments: list[str]) -> None:
    _, module, name = parser().parse_args(arguments).command

    assert callable(getattr(import_module(f"labkit.commands.{module}"), name))


@pytest.mark.parametrize("page", ["README.md", ".github/CONTRIBUTING.md"])
def test_the_pages_name_commands_that_exist(page: str, checkout: Path) -> None:
    text = (checkout / page).read_text(encoding="utf-8")
    commands = [command.split() for command in re.findall(r"(?m)(?:^|`)labkit ([^`&#\n]+)", text)]
    targets = set(re.findall(r"(?m)^([a-z]+):", (checkout / "Makefile").read_text(encoding="utf-8")))

    assert commands
    assert all(map(parser().parse_args, commands))
    assert set(re.findall(r"(?m)(?:^|`)make ([a-z]+)", text)) <= targets
