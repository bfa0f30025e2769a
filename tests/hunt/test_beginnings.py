"""Beginnings: lab, steps up to the first fault, and conditions that name no step."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.hunt.beginnings import of_blueprint, of_file
from labkit.hunt.canary import canary_of
from labkit.hunt.drawing import drawn
from labkit.hunt.swarm import FENCING, OF_TWO
from labkit.hunt.world import read, world_of
from labkit.lab.plan.blueprint import triangle
from labkit.places import shipped_scenarios
from labkit.scenario.problems import ScenarioError

SHIPPED = shipped_scenarios()
FILE = """\
scenario: two
matrix: {latency: [20ms, 80ms]}
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: $(matrix.latency)}]
  clusters: {paris: {site: paris}, tokyo: {site: tokyo}}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 2s}
  - {do: wait, for: 20s}
  - {do: partition, between: [paris, tokyo], at: 30s}
  - {do: promote, cluster: tokyo}
always:
  - {lag: {at most: 0}, after: step 2}
  - {lag: {at most: 5}}
leads to:
  - {if: {connections: {tokyo: not ready}}, then: {connections: {tokyo: ready}}, within: 40s}
eventually: [{roots: equal, within: 15s}]
"""


def test_a_file_gives_lab_first_steps_and_conditions_without_steps(tmp_path: Path):
    path = tmp_path / "two.lab.yaml"
    path.write_text(FILE)
    start = of_file(str(path))

    assert start.lab["links"][0]["latency"] == "20ms"
    assert [step["do"] for step in start.steps] == ["replicate", "wait"]
    assert {key: [row["name"] for row in rows] for key, rows in start.over_time.items()} == {
        "always": ["always 2"],
        "leads to": ["leads to 1"],
    }
    assert start.from_ns == 25_000_000_000
    assert read(drawn(1, "runbook", start).data).over_time


@pytest.mark.parametrize("name", sorted(SHIPPED)[::6])
def test_every_shipped_file_is_a_beginning(name: str):
    start = of_file(str(SHIPPED[name]))

    for seed in (0, 1):
        read(drawn(seed, "runbook", start).data)


def test_a_lab_replicates_from_its_first_cluster():
    start = of_blueprint(triangle())
    world = world_of(read(drawn(1, "runbook", start).data)).run("8s")

    assert world.queries.mode_of("paris") == "primary"
    assert [step["secondary"] for step in start.steps] == ["tokyo", "lima"]


SMALL = {
    "one cluster": "  clusters: {paris: {site: paris, nodes: 3}}\n  sites: [paris]\n",
    "two at one site": "  clusters: {paris: {site: paris}, tokyo: {site: paris}}\n  sites: [paris]\n",
    "nothing replicates": "  clusters: {paris: {site: paris}, tokyo: {site: tokyo}}\n  sites: [paris, tokyo]\n"
    "  links: [{between: [paris, tokyo], latency: 20ms}]\n",
}


@pytest.mark.parametrize("operator", ["runbook", "careless"])
@pytest.mark.parametrize("lab", SMALL.values(), ids=SMALL)
def test_what_a_lab_lacks_is_not_drawn_and_the_canary_is_found_in_it(lab: str, operator: str, tmp_path: Path):
    path = tmp_path / "small.lab.yaml"
    path.write_text(f"scenario: small\nlab:\n{lab}timeline: []\nend: 5s\n")
    start = of_file(str(path))

    for seed in range(8):
        found = drawn(seed, operator, start)
        read(found.data)
        assert start.lab["links"] or "partition" not in found.swarm.faults
        assert len(start.lab["clusters"]) > 1 or not set(OF_TWO) & set(found.swarm.blocks)
        assert len(start.lab["sites"]) > 1 or not set(FENCING) & set(found.swarm.blocks)
    assert canary_of(operator, start) is not None


def test_in_a_lab_in_which_nothing_replicates_every_line_is_healed_at_last(tmp_path: Path):
    path = tmp_path / "small.lab.yaml"
    path.write_text(f"scenario: small\nlab:\n{SMALL['nothing replicates']}timeline: []\nend: 5s\n")
    start = of_file(str(path))

    for seed in range(12):
        found = drawn(seed, "runbook", start)
        undone = [step for step in found.data["timeline"][found.quiet_from - 1 :] if step["do"] in ("heal", "restart")]
        assert [list(step) for step in undone if step["do"] == "heal"] == [["do", "after", "fails", "idle"]]
        assert [step["target"] for step in undone if step["do"] == "restart"] == ["paris", "tokyo"] * 3


def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path):
    path = tmp_path / "two.lab.yaml"
    path.write_text("scenario: two\n")

    with pytest.raises(ScenarioError):
        of_file(str(path))


def test_a_condition_without_a_name_has_none_that_another_has(tmp_path: Path):
    path = tmp_path / "two.lab.yaml"
    named = "  - {name: leads to 1, lag: {at most: 7}}\n  - {name: always 2, lag: {at most: 8}}\n"
    path.write_text(FILE.replace("leads to:\n", f"{named}leads to:\n"))
    start = of_file(str(path))

    assert [row["name"] for row in start.over_time["always"]] == ["always 5", "leads to 1", "always 2"]
    assert [row["name"] for row in start.over_time["leads to"]] == ["leads to 2"]
    read(drawn(0, "runbook", start).data)
