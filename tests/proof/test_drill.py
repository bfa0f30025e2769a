"""A way as a scenario file: it is valid, keeps its order, and is played as expected by the shipped code."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import Lab
from labkit.commands.playing import judged
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


TIMELINE = """\
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: ask, cluster: paris, method: POST, path: secret/data/x, body: {data: {number: 1}}, after: 40ms}
  - {do: ask, cluster: paris, method: POST, path: secret/data/more, body: {data: {number: 1}}, after: 1ms}
  - {do: partition, between: [paris, tokyo], after: 40ms}
  - {do: heal, between: [paris, tokyo], after: 20s}
  - {do: partition, between: [paris, tokyo], after: 40ms}
  - {do: heal, between: [paris, tokyo], after: 1s}
  - {do: ask, cluster: paris, method: DELETE, path: secret/metadata/y, after: 40ms}
  - {do: ask, cluster: paris, method: POST, path: secret/data/more, body: {data: {number: 2}}, after: 1ms}
settle: 30s

expect: {}
"""


def test_a_way_is_written_out_with_a_cut_that_lasts_where_the_connection_is_given_up() -> None:
    way = (*WAY[:5], Occurrence(WROTE, ("token/y", None)))
    head, _, timeline = drill(way, Bounds(2, 2, backlog=4), "it streams at entry 1").partition("timeline:\n")

    assert timeline == TIMELINE
    assert "about: >\n  It streams at entry 1.\n" in head
    assert head.count("backlog: 8}") == 2


@pytest.mark.parametrize(("backlog", "labs", "writes"), [(1, 8, 8), (3, 9, 3), (8, 8, 1), (20, 20, 1)])
def test_a_backlog_is_as_large_as_a_lab_s_and_each_write_stands_for_as_many(
    backlog: int, labs: int, writes: int
) -> None:
    text = drill(WAY[:2], Bounds(1, backlog=backlog), "why")

    assert text.count(f"backlog: {labs}}}") == 2
    assert text.count("{do: ask,") == writes
