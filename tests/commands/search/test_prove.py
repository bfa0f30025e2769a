"""prove: counts, a way in sentences, exit codes, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labkit.cli import main

REPLICATION = ["prove", "replication"]


@pytest.mark.slow
def test_a_proof_is_printed_with_its_bounds_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REPLICATION, "--writes", "1", "--cuts", "1", "--late"]) == 0
    output = capsys.readouterr().out

    assert "1 write, 1 cut, 0 restarts of the secondary, 0 takeovers at the primary" in output
    assert re.search(r"(?m)^[\d,]+ states, [\d,]+ transitions, depth \d+ \([\d.]+ s, [\d,]+ states/s\)$", output)
    assert "exhausted: yes" in output
    assert "every state leads on, without any further fault" in output


def test_a_broken_property_is_printed_with_the_way_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REPLICATION, "--losing", "--planted", "gap-ignored"]) == 1
    lines = capsys.readouterr().out.splitlines()

    at = lines.index("broken: it streams at entry 2, and its contents are not those of that entry")
    assert lines[at + 1] == f"the shortest way, {len(lines) - at - 2} events:"
    assert lines[-1].endswith("A push arrives: entry 2.")
    assert any("A fault loses one message (a push)." in line for line in lines)


def test_a_limit_of_states_ends_it_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REPLICATION, "--max-states", "20"]) == 3
    assert "exhausted: no\nunknown: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--writes", "-1"], "expected a whole number from 0 to 9, got '-1'"),
        (["--writes", "10"], "expected a whole number from 0 to 9, got '10'"),
        (["--cuts", "two"], "expected a whole number from 0 to 9, got 'two'"),
        (["--restarts", "1.5"], "expected a whole number from 0 to 9, got '1.5'"),
        (["--takeovers", "²"], "expected a whole number from 0 to 9, got '²'"),
        (["--backlog", "0"], "expected a whole number from 1 up, of at most 9 digits, got '0'"),
        (["--max-states", "9" * 10], "expected a whole number from 1 up"),
        (["--planted", "gap"], "expected one of gap-ignored, stream-from-newest"),
        (["--late", "--losing"], "not allowed with argument --late"),
        (["--seeds", "3"], "unrecognized arguments: --seeds 3"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*REPLICATION, *arguments])

    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_a_way_that_the_lab_can_play_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(tmp_path / "way.lab.yaml")
    command = [*REPLICATION, "--planted", "deletions-forgotten", "--scenario", name]

    assert main(command) == 1
    assert f"wrote {name}" in capsys.readouterr().out
    assert main(["check", name]) == 0
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "no" / "way.lab.yaml")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_what_the_lab_cannot_play_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = tmp_path / "way.lab.yaml"

    assert main([*REPLICATION, "--losing", "--planted", "gap-ignored", "--scenario", str(name)]) == 1
    assert "no scenario file is written" in capsys.readouterr().out
    assert not name.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["election", "--nodes", "2", "--terms", "2"], 0, "every state leads on"),
        (["election", "--unfenced"], 1, "a commit of node one under term 1 is accepted, and term 2 is taken"),
        (["election", "--max-states", "9"], 3, "not all states were visited"),
        (["client", "--nodes", "1"], 0, "every state leads on"),
        (["operation-token", "--attempts", "1"], 0, "25 states, 135 transitions"),
        (["client", "--nodes", "1", "--forgetful"], 1, "the operation ends as refused, and it had an effect"),
    ],
)
def test_the_other_machines_are_searched_too(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", *arguments]) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["election", "--nodes", "1"],
        ["election", "--nodes", "5"],
        ["election", "--terms", "x"],
        ["election", "--late"],
        ["client", "--nodes", "0"],
        ["client", "--retries", "-1"],
        ["client", "--planted", "x"],
        ["operation-token", "--mistakes", "x"],
    ],
)
def test_their_bad_input_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["prove", *arguments])

    assert left.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["prove"], ["prove", "consensus"]])
def test_a_machine_is_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)

    assert left.value.code == 2
    assert "MACHINE" in capsys.readouterr().err
