"""Experiments: what a file is played as, checked before anything is played; the same digest means the same runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.hunt.sweeping.experiments import TooManyExperiments, code_digest, digest_of, experiments_of
from labkit.hunt.sweeping.settings import UnusableSetting, read_settings
from labkit.scenario.loading import load, loads
from labkit.scenario.problems import ScenarioError

TWO = "matrix: {latency: [5ms, 9ms], nodes: [1, 3]}\n"


def test_without_values_a_file_is_one_experiment_that_is_the_file(scenario_path: str):
    (one,) = experiments_of(scenario_path)
    loaded = load(scenario_path)

    assert (one.title, one.values, one.combination.text) == ("Cut short", (), "")
    assert one.scenario(3).blueprint == loaded.blueprint
    assert one.scenario(3).timeline == loaded.timeline
    assert [*one.scenario(3).all_seeds] == [3]


def test_a_matrix_and_settings_make_each_their_choices(scenario_path: str):
    text = Path(scenario_path).read_text()
    Path(scenario_path).write_text(TWO + text.replace("latency: 19ms", "latency: $(matrix.latency)"))
    found = experiments_of(scenario_path, read_settings(["settle=1s,2s"]))

    assert [one.combination.text for one in found] == [
        f"settle: {settle}, latency: {latency}, nodes: {nodes}"
        for settle in ("1s", "2s")
        for latency in ("5ms", "9ms")
        for nodes in (1, 3)
    ]
    assert len({one.digest for one in found}) == 8
    assert found[2].scenario(0).blueprint.links[0].latency_ns == 9_000_000


def test_a_digest_goes_by_what_is_played(scenario_path: str):
    (before,) = experiments_of(scenario_path)
    text = Path(scenario_path).read_text()
    digests = []
    for other in (f"# why\nlesson: because\nseeds: 9\n{text}", text.replace("100ms", "101ms")):
        Path(scenario_path).write_text(other)
        digests += [one.digest for one in experiments_of(scenario_path)]

    assert digests[0] == before.digest
    assert digests[1] != before.digest
    assert digest_of(1, "a") != digest_of("a", 1)
    assert len(code_digest()) == 20


def test_a_lab_that_is_shared_is_in_the_text(scenario_path: str, tmp_path: Path):
    sharing = tmp_path / "sharing.lab.yaml"
    sharing.write_text("scenario: Sharing\nlab: cut.lab.yaml\ntimeline: []\nend: 1s\n")

    (one,) = experiments_of(str(sharing))
    assert one.scenario(0).blueprint == load(scenario_path).blueprint


@pytest.mark.parametrize(
    ("written", "error", "said"),
    [
        (["lab.links.0.latency=20mss"], ScenarioError, "(with lab.links.0.latency: 20mss)"),
        (["timeline.1.target=pari"], ScenarioError, "did you mean 'paris'?"),
        (["lab.links.3.latency=20ms"], UnusableSetting, "expected a place from 0 to 0, got '3'"),
        (
            [f"{place}={','.join(f'{number}s' for number in range(1, 41))}" for place in ("end", "settle")],
            TooManyExperiments,
            "expected at most 256 choices of values, got 1,600",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is(scenario_path: str, written, error, said):
    with pytest.raises(error) as refused:
        experiments_of(scenario_path, read_settings(written))

    assert said in str(refused.value)


def test_a_place_that_the_matrix_gives_its_values_is_refused(scenario_path: str):
    text = Path(scenario_path).read_text()
    Path(scenario_path).write_text(TWO + text.replace("latency: 19ms", "latency: $(matrix.latency)"))

    with pytest.raises(UnusableSetting, match=r"the matrix leaves alone, got that of \$\(matrix.latency\)"):
        experiments_of(scenario_path, read_settings(["lab.links.0.latency=20ms,80ms"]))


@pytest.mark.parametrize("written", ["a\\x7fb", "a\\u2028b", "a\\x85b", "08", "1e3"])
def test_every_text_is_played_as_the_file_has_it(scenario_path: str, written: str):
    text = Path(scenario_path).read_text()
    Path(scenario_path).write_text(text.replace("scenario: Cut short", f'scenario: "{written}"'))

    (one,) = experiments_of(scenario_path)

    assert loads(one.text.encode(), "x").title == load(scenario_path).title != "Cut short"
