"""Seed rows: what is kept of a run is what a run by itself shows, and an exception is the result of its seed."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import pytest

from labkit import Lab
from labkit.hunt.sweeping import seed_rows
from labkit.hunt.sweeping.experiments import experiments_of
from labkit.hunt.sweeping.seed_rows import SeedRow, play_seed
from labkit.scenario.verdict import judge

RECOVERY = """\
scenario: Who recovers
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: 20ms}]
  clusters: {paris: {site: paris, nodes: 1}, tokyo: {site: tokyo, nodes: 1}}
  clients: {old: {site: tokyo, use: [paris, tokyo], work: [{do: put-secret, every: 500ms, from: 3s, until: 4s}]}}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: crash, target: paris, at: 5s}
  - {do: promote, cluster: tokyo, after: 1s}
end: 8s
expect: {rto: {at most: 5s}}
"""


def test_a_row_is_what_the_run_of_the_file_shows(scenario_path: str, experiments):
    lab = Lab.load(scenario_path, seed=2).run()
    row, messages = play_seed(experiments[1], 2)
    assert lab.scenario is not None
    verdict = judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)

    assert row.digest == lab.trace.digest()[:16]
    assert (row.code, row.lost, row.rpo_s) == (verdict.exit_code, len(lab.ledger.lost()), lab.ledger.rpo().seconds)
    assert (row.wrong, row.unknown) == tuple(
        [tuple(found.key for found in verdict.rows if found.status == status) for status in ("broken", "unknown")]
    )
    assert messages == lab.network.delivered


@pytest.mark.parametrize(
    ("changes", "rto_s", "unknown"),
    [
        (("end: 8s", "end: 8s"), inf, ("rto",)),
        (("do: promote, cluster: tokyo", "do: note, text: x"), None, ("rto",)),
        (("from: 3s, until: 4s", "from: 3s, until: 7.5s"), 1.5004, ()),
    ],
)
def test_a_run_without_a_promotion_and_one_that_never_recovers(changes, rto_s, unknown, tmp_path: Path):
    path = tmp_path / "recovery.lab.yaml"
    path.write_text(RECOVERY.replace(*changes))
    row = play_seed(experiments_of(str(path))[0], 0).row

    assert (row.code, row.wrong, row.unknown) == (3 if unknown else 0, (), unknown)
    assert row.rto_s == rto_s


@pytest.mark.parametrize("rto_s", [None, 1.5, inf])
def test_a_row_is_read_as_it_was_written(rto_s: float | None):
    row = SeedRow(3, 1, ("lost",), 2, 0.5, rto_s, 1, 0, "abc", unknown=("step 2",))

    assert SeedRow.of(json.loads(json.dumps(row.data(), allow_nan=False))) == row
    assert row.text == "exit code 1, 2 lost, digest abc"


def test_a_row_of_an_earlier_labkit_does_not_know_what_is_unknown():
    data = SeedRow(3, 1, ("rto",)).data()
    del data["unknown"]

    assert (SeedRow.of(data).wrong, SeedRow.of(data).unknown) == (("rto",), None)
    assert SeedRow.of(SeedRow.of(data).data()).unknown is None


@pytest.mark.parametrize("more", [{"seed": "3"}, {"code": None}, {"wrong": None}, {"more": 1}, {"unknown": 3}])
def test_what_is_no_row_is_not_read_as_one(more):
    with pytest.raises((TypeError, KeyError)):
        SeedRow.of({**SeedRow(3, 1).data(), **more})


def test_an_exception_of_labkit_is_a_result(experiments, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("out of\nnowhere")

    monkeypatch.setattr(seed_rows, "judge", fail)
    row, messages = play_seed(experiments[0], 1)

    assert (row.seed, row.code, row.digest) == (1, 4, "")
    assert row.text.startswith("RuntimeError: out of nowhere (")
    assert messages
