"""Seed rows: what is kept of a run is what a run by itself shows, and an exception is the result of its seed."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.hunt.sweeping import seed_rows
from labkit.hunt.sweeping.seed_rows import SeedRow, play_seed
from labkit.scenario.verdict import judge


def test_a_row_is_what_the_run_of_the_file_shows(scenario_path: str, experiments):
    lab = Lab.load(scenario_path, seed=2).run()
    row, messages = play_seed(experiments[1], 2)
    assert lab.scenario is not None
    verdict = judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)

    assert row.digest == lab.trace.digest()[:16]
    assert (row.code, row.lost, row.rpo_s) == (verdict.exit_code, len(lab.ledger.lost()), lab.ledger.rpo().seconds)
    assert row.wrong == tuple(failed.key for failed in verdict.failures())
    assert messages == lab.network.delivered


def test_a_row_is_read_as_it_was_written():
    row = SeedRow(3, 1, ("lost",), 2, 0.5, None, 1, 0, "abc")

    assert SeedRow.of(row.data()) == row
    assert row.text == "exit code 1, 2 lost, digest abc"


@pytest.mark.parametrize("more", [{"seed": "3"}, {"code": None}, {"wrong": None}, {"more": 1}])
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
