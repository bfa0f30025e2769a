"""A way as a scenario file: it is valid, keeps its order, and is played as expected by the shipped code."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import Lab
from labkit.commands.run import judged
from labkit.proof.bounds import Bounds
from labkit.proof.drill import drill
from labkit.proof.steps import BEGAN, CAUGHT, CUT, GAVE_UP, RESTARTED, TOOK_OVER, TRIED, WROTE, Occurrence

WAY = (
    Occurrence(BEGAN),
    Occurrence(WROTE, ("logical/x", b"1")),
    Occurrence(CUT, -1),
    Occurrence(GAVE_UP),
    Occurrence(CAUGHT, Occurrence(TRIED), (4,)),
    Occurrence(WROTE, ("logical/x", None)),
    Occurrence(RESTARTED),
    Occurrence(TOOK_OVER),
)


@pytest.mark.slow
def test_the_shipped_code_plays_it_and_keeps_every_rule(tmp_path: Path) -> None:
    file = tmp_path / "way.lab.yaml"
    file.write_text(drill(WAY, Bounds(2, 2, 1, 1), "it streams at entry 1: not as it should"))
    lab = Lab.load(str(file))
    lab.run()

    verdict = judged(lab)
    assert (verdict.exit_code, verdict.failures()) == (0, ())


def test_order_and_number_are_kept() -> None:
    lines = [
        line.split(",")[0] for line in drill(WAY, Bounds(2, 2, 1, 1, backlog=4), "why").splitlines() if "{do:" in line
    ]

    assert [line.removeprefix("  - {do: ") for line in lines] == [
        "replicate",
        *["ask"] * 2,
        *["partition", "heal"] * 2,
        *["ask"] * 2,
        *["crash"] * 2,
    ]


@pytest.mark.parametrize("network", ["late", "losing", "duplicating"])
def test_what_the_lab_cannot_do_has_no_file(network: str) -> None:
    assert drill(WAY, Bounds(network=network), "why") == ""


def test_a_fault_of_an_ordered_network_cuts_nothing() -> None:
    assert "partition" not in drill(WAY, Bounds(network="ordered"), "why")


def test_the_nodes_of_a_cluster_are_crashed_one_after_the_other_while_one_is_left() -> None:
    way = (*[Occurrence(RESTARTED)] * 3, *[Occurrence(TOOK_OVER)] * 3)
    lines = drill((Occurrence(BEGAN), *way), Bounds(1, 0, 3, 3), "why").splitlines()

    assert [line.split("target: ")[1].split(",")[0] for line in lines if "crash" in line] == [
        *["tokyo-1", "tokyo-2"],
        *["paris-1", "paris-2"],
    ]
