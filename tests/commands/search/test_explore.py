"""explore: a report, files of what is found, exit codes, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cli import main
from labkit.hunt import campaign
from labkit.hunt.playing import PlayedSeed
from labkit.hunt.processes import WorkersLost

Capsys = pytest.CaptureFixture[str]
BEFORE_CONDITIONS = """\
scenario: many conditions
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: 20ms}]
  clusters: {paris: {site: paris, nodes: 1}, tokyo: {site: tokyo, nodes: 1}}
timeline: [{do: replicate, primary: paris, secondary: tokyo, at: 1s}]
always:
"""
SPLIT = "one primary, after request of survivor"


def explored(*arguments: str, capsys: Capsys) -> tuple[int, str]:
    """The exit code, and the report without its time."""
    code = main(["explore", *arguments])
    return code, re.sub(r", \d+ s$", "", capsys.readouterr().out, count=1, flags=re.MULTILINE)


@pytest.mark.slow
def test_a_campaign_without_findings_ends_with_0_and_writes_nothing(tmp_path: Path, capsys: Capsys) -> None:
    code, said = explored("--seeds", "2", "--out", str(tmp_path / "found"), capsys=capsys)

    assert code == 0
    assert said.startswith("2 seeds (1 swarm, 1 all on), runbook operator\n")
    assert "nothing in 2 seeds: at most 100.0% of schedules" in said
    assert not (tmp_path / "found").exists()


@pytest.mark.slow
def test_what_is_found_is_a_file_that_fails_and_any_number_of_processes_says_the_same(
    tmp_path: Path, capsys: Capsys
) -> None:
    given = ("--operator", "careless", "--seeds", "4", "--out", str(tmp_path / "found"))
    one, two = explored(*given, capsys=capsys), explored(*given, "--jobs", "2", capsys=capsys)
    saved, path = sorted((tmp_path / "found").iterdir())

    assert one == two
    assert one[0] == 0, "what a careless operator breaks is a lesson"
    assert f"1. {SPLIT}: 1 seed" in one[1]
    assert f"\nsaved: {saved}, " in one[1]
    assert main(["run", "--quiet", str(path)]) == 1
    assert main(["open", str(saved)]) == 0


@pytest.mark.slow
def test_many_findings_are_a_report_of_25_lines_and_each_is_saved(tmp_path: Path, capsys: Capsys) -> None:
    conditions = "".join(f"  - {{name: c{number}, modes: {{paris: disabled}}}}\n" for number in range(10))
    path, folder = tmp_path / "x.lab.yaml", tmp_path / "found"
    path.write_text(BEFORE_CONDITIONS + conditions)
    code, said = explored(str(path), "--seeds", "1", "--out", str(folder), capsys=capsys)

    assert code == 1
    assert "\nand 2 more\n" in said
    assert said.endswith("before it breaks; and 9 more\n")
    assert said.count("\n") <= 25
    assert len(list(folder.glob("*.lab"))) == len(list(folder.glob("*.lab.yaml"))) == 10


@pytest.mark.slow
def test_the_lab_of_a_file_is_explored_and_known_findings_are_named(tmp_path: Path, capsys: Capsys) -> None:
    known = tmp_path / "known"
    known.write_text(f"2026-05-01 {SPLIT} # x\n", encoding="utf-8-sig")
    code, said = explored("first/failover", "--seeds", "1", "--known", str(known), capsys=capsys)

    assert code == 0
    assert f"no longer found: {SPLIT}, accepted on 2026-05-01 (x)" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], "expected a whole number from 1 up, of at most 7 digits, got '0'"),
        (["--seeds", "x"], "expected a whole number from 1 up"),
        (["--jobs", "0"], "expected a number of processes from 1 to 64, got '0'"),
        (["--jobs", "65"], "expected a number of processes from 1 to 64, got '65'"),
        (["--operator", "lazy"], "invalid choice: 'lazy'"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: list[str], said: str, capsys: Capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explore", *arguments])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_processes_that_end_again_and_again_are_a_text_and_exit_code_4(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*given: object) -> Iterator[PlayedSeed]:
        raise WorkersLost("processes that play ended")

    monkeypatch.setattr(campaign, "in_order", lost)

    assert main(["explore", "--seeds", "8", "--jobs", "2", "--out", str(tmp_path)]) == 4
    assert capsys.readouterr().err == "processes that play ended\n"


@pytest.mark.parametrize(
    ("name", "why"), [("a/" + 300 * "b", "File name too long"), ("", "No such file or directory"), ("a/b", "")]
)
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_played(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    played: list[int] = []

    def nothing(*given: object) -> Iterator[PlayedSeed]:
        played.append(1)
        return iter(())

    monkeypatch.setattr(campaign, "in_order", nothing)
    monkeypatch.chdir(tmp_path)

    code = main(["explore", "--seeds", "8", "--out", name])

    assert (code == 2, bool(played)) == (bool(why), not why)
    assert (f"{name}: cannot be written: {why}\n" == capsys.readouterr().err) == bool(why)
    assert list(tmp_path.iterdir()) == [], "a folder that stays empty does not stay"


@pytest.mark.slow
def test_files_that_cannot_be_used(tmp_path: Path, capsys: Capsys) -> None:
    wrong, folder = tmp_path / "wrong", tmp_path / "file"
    wrong.write_text("one primary # since ever\n")
    folder.write_text("")
    for arguments, said in (
        (["--known", str(wrong)], f"{wrong}:1: expected a line such as 2026-05-01"),
        (["--known", str(tmp_path / "none")], "none: cannot be read: No such file or directory"),
        (["first/failver"], "did you mean 'first/failover'?"),
        ([str(tmp_path / "none.lab.yaml")], "cannot be read"),
        (["--seeds", "999999", "--out", str(folder)], f"{folder}: cannot be written: {folder} is not a folder"),
        (["--seeds", "999999", "--out", str(folder / "x")], f"cannot be written: {folder} is not a folder"),
    ):
        assert main(["explore", *arguments]) == 2
        assert said in capsys.readouterr().err


def test_a_file_that_cannot_be_written_hides_no_finding(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    path, folder = tmp_path / "x.lab.yaml", tmp_path / "found"
    path.write_text(BEFORE_CONDITIONS + "  - {name: c1, modes: {paris: disabled}}\n")

    assert main(["explore", str(path), "--seeds", "1", "--out", str(folder)]) == 1
    said = capsys.readouterr()
    assert "\n   no file: it cannot be written: No space left on device\n" in said.out
    assert re.search(r"found/c1-.*\.lab\.yaml: cannot be written: No space left on device\n", said.err)
    assert list(folder.iterdir()) == []
