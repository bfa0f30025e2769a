"""Scenario files as items of pytest: a failure is reported in the file's words."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from labkit.cli import main
from tests.front import test_pytest_plugin
from tests.front.test_pytest_plugin import CHECKOUT, Play, Vary, installed_as_plugin

pytest_plugins = ["pytester"]

keeper, play = test_pytest_plugin.keeper, test_pytest_plugin.play  # fixtures

QUICK = {"refusals.lab.yaml", "split-brain.lab.yaml"}


@pytest.mark.slow
def test_each_file_is_one_test(play: Play, vary: Vary) -> None:
    result = play("-v", one=vary(), two=vary(("lost: 0", "lost: 1")))

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["one.lab.yaml::one PASSED*", "two.lab.yaml::two FAILED*"])


def test_both_endings_are_collected(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    (pytester.path / "one.lab.yml").write_text(vary(), encoding="utf-8")

    result = play("-v", one=vary())
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["one.lab.yaml::one PASSED*", "one.lab.yml::one PASSED*"])


def test_a_failure_is_reported_without_a_traceback(play: Play, vary: Vary) -> None:
    result = play(two=vary(("lost: 0", "lost: 1")))

    result.stdout.fnmatch_lines(
        [
            "*_ two _*",
            "A small lab: not as expected (seed 7, 10s of lab time)",
            "two.lab.yaml:15:3: of them lost: expected 1, got 0 (broken)",
            "   15 |   lost: 1",
            "      |   ^^^^",
            "the last events:",
            "to run it again: labkit run two.lab.yaml --seed 7",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_typo_is_reported_in_a_few_lines(play: Play, vary: Vary) -> None:
    result = play("-q", "--no-header", three=vary(("do: promote", "do: promot")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["three.lab.yaml:12:10: step 3, do: expected a verb, got 'promot' — did you mean 'promote'?"]
    )
    assert len(result.outlines) <= 10


def test_what_stays_unknown_fails(play: Play, vary: Vary) -> None:
    result = play(four=vary(("after: 2s", "at: 9900ms"), ("end: 10s", "end: 9900ms"), ("  primary: tokyo\n", "")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["A small lab: unknown *", "*step 3: promote tokyo: expected done, got 1 step not begun (unknown)"]
    )


@pytest.mark.slow
def test_an_error_of_labkits_own_shows_its_traceback(play: Play, vary: Vary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("labkit.scenario.verdict.judge", fail)
    result = play(five=vary())

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*RuntimeError: a bug of ours"])


def test_a_junit_file_says_seed_losses_and_digest(play: Play, pytester: pytest.Pytester, vary: Vary) -> None:
    play("--junitxml=all.xml", good=vary(), bad=vary(("lost: 0", "lost: 3")))
    tests = ElementTree.parse(pytester.path / "all.xml").iter("testcase")
    found = {test.get("name"): {row.get("name"): row.get("value") for row in test.iter("property")} for test in tests}

    for name, word in (("good", "as expected"), ("bad", "not as expected")):
        digest = found[name].pop("digest")
        assert found[name].items() >= {"seed": "7", "lost": "0", "rpo": "0s", "verdict": word}.items()
        assert digest is not None
        assert re.fullmatch("[0-9a-f]{64}", digest)


def test_collecting_reads_no_file(play: Play) -> None:
    result = play("--collect-only", "-q", nine="not: [a scenario")

    assert "nine.lab.yaml::nine" in result.outlines
    assert result.ret == 0


MANY = (
    (
        "lab:\n",
        "seeds: 52\nmatrix:\n  latency: [1ms, 80ms]\n  lost: [0, 1]\n  exclude: [{latency: 1ms, lost: 1}]\nlab:\n",
    ),
    ("latency: 80ms}\n  c", "latency: $(matrix.latency)}\n  c"),
    ("lost: 0", "lost: $(matrix.lost)"),
)
MANY_IDS = [
    f"many[latency={latency}-lost={lost}-seeds {seeds}]"
    for latency, lost in (("1ms", 0), ("80ms", 0), ("80ms", 1))
    for seeds in ("0-49", "50-51")
]


def test_a_file_with_seeds_and_a_matrix_is_an_item_for_each_block(play: Play, vary: Vary) -> None:
    result = play("--collect-only", "-q", many=vary(*MANY))

    assert [line for line in result.outlines if "::" in line] == [f"many.lab.yaml::{name}" for name in MANY_IDS]


def test_a_block_that_fails_names_its_seeds_and_reports_the_first(play: Play, vary: Vary) -> None:
    result = play("-q", "--labkit-seeds", "2", "--junitxml=all.xml", many=vary(*MANY))

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ many[[]latency=80ms-lost=1-seeds 0-1[]] _*",
            "A small lab: not as expected in all 2 runs (2 seeds)",
            "seeds that are not as expected: 0, 1",
            "the first of them:",
            "A small lab: not as expected (latency: 80ms, lost: 1, seed 0, 10s of lab time)",
            "*of them lost: expected 1, got 0 (broken)",
            "to run it again: labkit run many.lab.yaml --seed 0 --only latency=80ms-lost=1",
        ]
    )


def test_what_any_run_is_to_show_is_judged_over_all_seeds_in_one_item(play: Play, vary: Vary) -> None:
    text = vary(("lab:\n", "seeds: 3\nsometimes:\n  - {primary: [paris, tokyo]}\nlab:\n"), ("end: 10s", "end: 8s"))
    result = play("-q", seen=text)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*_ seen[[]seeds 0-2[]] _*", "A small lab: not as expected over all 3 runs (3 seeds)"])
    result.stdout.fnmatch_lines(["*true in none of 3 runs *broken"])
    play("-q", "--labkit-seeds", "2", seen=text).assert_outcomes(passed=1)


def test_a_file_with_many_runs_is_read_once(play: Play, vary: Vary, monkeypatch: pytest.MonkeyPatch) -> None:
    from labkit.scenario.documents.yaml_positions import read

    seen = []

    def noted(path: str) -> object:
        seen.append(path)
        return read(path)

    monkeypatch.setattr("labkit.scenario.many.run_blocks.read", noted)
    play("-q", "--labkit-seeds", "1", many=vary(*MANY), one=vary()).assert_outcomes(passed=3, failed=1)

    assert seen == ["many.lab.yaml"]


@pytest.mark.parametrize("head", ["seeds: 0\n", "matrix: {a: []}\n", "seeds: [3\n"])
def test_runs_that_cannot_be_known_are_one_item_that_says_why(head: str, play: Play, vary: Vary) -> None:
    result = play("-v", many=vary(("lab:\n", f"{head}lab:\n")))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["many.lab.yaml::many FAILED*", "many.lab.yaml:2:*: *expected *"])


@pytest.mark.slow
def test_another_repository_sees_the_same_items_and_verdicts_in_any_number_of_processes(
    tmp_path: Path, vary: Vary
) -> None:
    (tmp_path / "many.lab.yaml").write_text(vary(*MANY), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTEST_ADDOPTS": ""}
    found = []
    for processes in ("0", "2"):
        named = [] if installed_as_plugin() else ["-p", "labkit.front.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", *named, "-n", processes, "--junitxml=all.xml", "-q", "many.lab.yaml"]
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        tests = ElementTree.parse(tmp_path / "all.xml").iter("testcase")
        found.append(
            {
                str(test.get("name")): (
                    test.find("failure") is None,
                    {row.get("name"): row.get("value") for row in test.iter("property")},
                )
                for test in tests
            }
        )

    assert found[0] == found[1]
    assert sorted(found[0]) == sorted(MANY_IDS)
    assert [found[0][name][0] for name in MANY_IDS] == [True, True, True, True, False, False]
    assert len({found[0][name][1]["digest"] for name in MANY_IDS[:4]}) == 4


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.name, marks=[] if path.name in QUICK else pytest.mark.slow)
        for path in sorted((CHECKOUT / "scenarios" / "first").glob("*.lab.yaml"))
    ],
)
@pytest.mark.slow
def test_the_command_line_and_the_plugin_agree(path: Path, play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "-q", str(path)])
    output = capsys.readouterr().out
    result = play("-q", again=path.read_text(encoding="utf-8"))

    items = math.prod(len(values) for values in (yaml.safe_load(path.read_text()).get("matrix") or {}).values())
    result.assert_outcomes(**{"passed" if code == 0 else "failed": items})
    assert "as expected" in output
    assert ("not as expected" in output) == (code == 1)
