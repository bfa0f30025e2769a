"""The command line answers with what happened and an exit code, and never with a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit import places
from labkit.cli import main, parser, worst
from labkit.reference import TOPICS

GOOD = """\
scenario: A small lab
lab:
  sites: [here]
  clusters:
    one: {site: here, nodes: 1}
timeline:
  - {do: seal, cluster: one}
settle: 1s
expect:
  lost: 0
"""
BROKEN = GOOD.replace("lost: 0", "lost: 3")
UNKNOWN = GOOD.replace("lost: 0", "rto: {at most: 1s}")
BAD = GOOD.replace("do: seal", "do: sela")

Written = Callable[[str, str], str]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write a file into the current folder; its name comes back."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> str:
        Path(name).write_text(text, encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BROKEN, 1), (BAD, 2), (UNKNOWN, 3)])
@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_the_exit_code_is_the_verdict(text: str, code: int, quiet: list[str], written: Written) -> None:
    assert main(["run", *quiet, written("x.lab.yaml", text)]) == code


@pytest.mark.parametrize(("codes", "code"), [([0, 3], 3), ([3, 1, 0], 1), ([1, 2, 3], 2), ([0, 0], 0)])
def test_of_several_files_the_worst_counts(codes: list[int], code: int, written: Written) -> None:
    texts = {0: GOOD, 1: BROKEN, 2: BAD, 3: UNKNOWN}
    names = [written(f"{number}.lab.yaml", texts[one]) for number, one in enumerate(codes)]

    assert worst(codes) == code
    assert main(["run", "-q", *names]) == code


def test_a_run_prints_what_happened_and_the_verdict(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", written("x.lab.yaml", GOOD)])
    output = capsys.readouterr()

    assert output.out.startswith("A small lab\n===========\n")
    assert "step 1     seal one" in output.out
    assert "A small lab: as expected (seed 7, " in output.out
    assert output.err.startswith("ran 1 s of lab time and ")
    assert "\r" not in output.err


def test_a_quiet_run_is_one_line(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "-q", written("x.lab.yaml", GOOD)])
    output = capsys.readouterr()

    assert output.out == "x.lab.yaml: A small lab: as expected (seed 7, 1s of lab time)\n"
    assert output.err == ""


def test_a_quiet_run_reports_what_was_not_as_expected(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "-q", written("x.lab.yaml", BROKEN)])

    assert "x.lab.yaml:10:3: of them lost: expected 3, got 0 (broken)" in capsys.readouterr().out


def test_a_seed_may_be_given(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    name = written("x.lab.yaml", GOOD)
    digests = []
    for seed in ("8", "8", "9"):
        assert main(["run", name, "--seed", seed]) == 0
        output = capsys.readouterr().out
        assert f"(seed {seed}, " in output
        digests.append(output.splitlines()[-1])

    assert digests[0] == digests[1]


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("name", ["nothing.lab.yaml", "folder", "binary.lab.yaml", "empty.lab.yaml"])
def test_what_is_not_a_scenario_is_reported_in_a_line(
    command: str, name: str, written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    written("empty.lab.yaml", "")
    Path("folder").mkdir()
    Path("binary.lab.yaml").write_bytes(bytes(range(256)))

    assert main([command, name]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"{name}:")
    assert len(output.err.splitlines()) <= 3


def test_checking_runs_nothing(
    written: Written, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.lab.lab.Lab.load", None)
    good, bad = written("good.lab.yaml", GOOD), written("bad.lab.yaml", BAD)

    assert main(["check", good]) == 0
    assert main(["check", bad, good]) == 2
    output = capsys.readouterr()
    assert output.out == "good.lab.yaml: valid: A small lab, 1 step\n" * 2
    assert "bad.lab.yaml:7:10: step 1, do: expected a verb, got 'sela' — did you mean 'seal'?" in output.err


def test_the_demo_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    output = capsys.readouterr()

    for word in ("crash paris", "promote tokyo", "recovery point (RPO)", "as expected"):
        assert word in output.out
    assert len(output.err.splitlines()) == 1


def test_a_terminal_shows_how_far_it_is_and_sees_the_same_run(
    written: Written, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = written("x.lab.yaml", GOOD.replace("settle: 1s", "end: 20s"))
    main(["run", name])
    quiet = capsys.readouterr()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["run", name])
    output = capsys.readouterr()

    assert "running, lab time |" in output.err
    assert output.err.splitlines()[-1].strip().startswith("ran 20 s of lab time")
    assert output.out == quiet.out


@pytest.mark.parametrize("command", ["demo", "lessons"])
def test_a_copy_without_its_folders_says_so(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "scenarios", missing)
    monkeypatch.setattr(places, "notebooks", missing)

    assert main([command]) == 2
    assert capsys.readouterr().err == "no folder of them\n"


def test_lessons_are_listed_by_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def notebook(name: str, *cells: tuple[str, str]) -> None:
        content = [{"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in cells]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": content}), encoding="utf-8")

    notebook("00_tour", ("code", "1"), ("markdown", "# The tour\n\nAll in one go.\nMore."))
    notebook("01_bare", ("code", "1"))
    (tmp_path / "02_torn.ipynb").write_text("{", encoding="utf-8")
    monkeypatch.setattr(places, "notebooks", lambda: tmp_path)

    assert main(["lessons"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "00_tour  The tour",
        "    All in one go.",
        "01_bare",
        "02_torn",
        "",
        f"to open one: jupyter lab {tmp_path}/NAME.ipynb (the notebook extra brings jupyterlab)",
    ]


def test_help_names_the_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])

    output = capsys.readouterr().out
    assert left.value.code == 0
    assert [
        name
        for name in ("demo", "run", "check", "lessons")
        if f"\n  {name} " not in output and f" {name} " not in output
    ] == []


@pytest.mark.parametrize("arguments", [[], ["rnu"], ["run"], ["run", "x", "--seed", "-1"], ["demo", "--seed", "x"]])
def test_a_wrong_call_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parser().parse_args(arguments)

    assert left.value.code == 2
    assert "labkit" in capsys.readouterr().err


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


def test_a_reader_that_has_seen_enough_is_no_error(checkout: Path) -> None:
    program = f"{sys.executable} -m labkit check scenarios/first/*.lab.yaml"
    output = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program} | true"], cwd=checkout, capture_output=True, text=True, check=False
    )

    assert "Traceback" not in output.stderr
    assert "BrokenPipe" not in output.stderr


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


def test_help_lists_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [
        ["labkit", "help", topic] for topic in TOPICS
    ]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["rules"], "# Rules and decisions"),
        (["rules", "R4"], "R4 One step, one transaction"),
        (["architecture"], "# Architecture"),
        (["verbs", "crash"], "crash: Take a node, or all nodes of a cluster, down"),
    ],
)
def test_help_shows_a_page_or_an_entry(arguments: list[str], first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *arguments]) == 0
    assert capsys.readouterr().out.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "hint"), [(["rulez"], "did you mean rules?"), (["rules", "rs"], "no entry of rules is called 'rs'")]
)
def test_an_unknown_page_is_refused_in_a_line(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert hint in shown.err
    assert len(shown.err.splitlines()) == 1
