"""A file with seeds or a matrix is cut into blocks, in the order in which it is written, called alike everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.scenario.many.run_blocks import run_blocks
from labkit.scenario.problems import ScenarioError

Vary = Callable[..., str]
Written = Callable[..., Path]
MATRIX = "matrix: {latency: [20ms, 80ms]}\n"


def blocks(text: str, scenario_file: Written, most: int | None = None) -> list[str]:
    return [block.id for block in run_blocks(scenario_file(text), most)]


@pytest.mark.parametrize(
    ("head", "most", "ids"),
    [
        ("", None, [""]),
        ("seed: 4\n", 3, [""]),
        ("seeds: 1\n", None, ["seed 0"]),
        ("seeds: 50\n", None, ["seeds 0-49"]),
        ("seeds: 51\n", None, ["seeds 0-49", "seed 50"]),
        ("seeds: 120\n", None, ["seeds 0-49", "seeds 50-99", "seeds 100-119"]),
        ("seeds: 120\n", 60, ["seeds 0-49", "seeds 50-59"]),
        ("seeds: 120\n", 1, ["seed 0"]),
        ("seeds: 2\n", 60, ["seeds 0-1"]),
        (MATRIX, None, ["latency=20ms", "latency=80ms"]),
        (f"{MATRIX}seeds: 3\n", None, ["latency=20ms-seeds 0-2", "latency=80ms-seeds 0-2"]),
        ("seeds: 120\nsometimes: []\n", None, ["seeds 0-119"]),
        ("seeds: 120\ncovers: []\n", 70, ["seeds 0-69"]),
    ],
)
def test_its_blocks(head: str, most: int | None, ids: list[str], vary: Vary, scenario_file: Written) -> None:
    assert blocks(vary(("lab:\n", f"{head}lab:\n")), scenario_file, most) == ids


def test_a_block_is_a_scenario_with_its_seeds(vary: Vary, scenario_file: Written) -> None:
    text = vary(("lab:\n", f"{MATRIX}seeds: 60\nlab:\n"), ("latency: 80ms", "latency: $(matrix.latency)"))
    first, _, _, last = run_blocks(scenario_file(text.replace("[20ms, $(matrix.latency)]", "[20ms, 80ms]")))

    assert (first.seeds, last.seeds) == (range(50), range(50, 60))
    assert [block.scenario().blueprint.links[0].latency_ns for block in (first, last)] == [20_000_000, 80_000_000]
    assert first.scenario().all_seeds == range(60)


def test_what_is_wrong_is_reported_when_it_is_played(vary: Vary, scenario_file: Written) -> None:
    text = vary(("latency: 80ms", "latency: $(matrix.latency)"), ("lab:\n", "matrix: {latency: [20ms, fast]}\nlab:\n"))
    good, bad = run_blocks(scenario_file(text))

    assert good.scenario().title == "A small lab"
    with pytest.raises(ScenarioError, match=r"got 'fast' \(with latency: fast\)"):
        bad.scenario()


@pytest.mark.parametrize("head", ["matrix: [20ms]\n", "matrix: {a: []}\n", "seeds: 3\nseeds: 4\n"])
def test_a_matrix_that_cannot_be_used_has_no_blocks(head: str, vary: Vary, scenario_file: Written) -> None:
    with pytest.raises(ScenarioError):
        run_blocks(scenario_file(vary(("lab:\n", f"{head}lab:\n"))))


@pytest.mark.parametrize("written", ["0", "10001", "many", "[1]"])
def test_seeds_that_cannot_be_used_are_one_block(written: str, vary: Vary, scenario_file: Written) -> None:
    (block,) = run_blocks(scenario_file(vary(("lab:\n", f"seeds: {written}\nlab:\n"))))

    assert block.id == ""
    with pytest.raises(ScenarioError, match="seeds: expected a number of runs from 1 to 10,000"):
        block.scenario()
