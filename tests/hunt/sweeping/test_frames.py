"""Frames: the rows as a DataFrame, with a column for each value that was swept over."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from labkit.hunt import rows
from labkit.hunt.sweeping.row_file import appending, line_of, read_rows
from labkit.hunt.sweeping.row_report import report_of
from tests.hunt.sweeping.test_row_file import ONE, OTHER, played


def test_a_row_for_each_seed(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    with appending(str(path)) as writer:
        for chunk in (played(OTHER, 4, 3, lost=2), played(ONE, 0)):
            writer.append(chunk)
    frame = rows(path)

    assert frame[["scenario", "lab.x", "seed", "lost"]].values.tolist() == [
        ["Über", 2, 3, 2],
        ["Über", 2, 4, 2],
        ["Über", 1, 0, 0],
    ]
    assert {"code", "wrong", "rpo_s", "rto_s", "in_doubt", "refused", "digest", "error", "experiment"} <= {
        *frame.columns
    }


def test_a_run_that_never_recovers_is_in_every_quantile(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    some = played(ONE, 0, 1, 2, 3)
    times = (inf, 2.0, None, inf)
    found = tuple([row._replace(rto_s=rto_s) for row, rto_s in zip(some.rows, times, strict=True)])
    path.write_bytes(line_of(some._replace(rows=found)))
    frame = rows(path)

    assert frame.rto_s.count() == 3
    assert frame.rto_s.median() == inf
    assert "recovery time 3 of 4 needs 5 runs with one" in " ".join(report_of(read_rows(str(path))).split())


def test_what_is_no_path():
    with pytest.raises(ValueError, match="path: expected the path of a file of rows"):
        rows(3)  # type: ignore[arg-type]  # what a caller may do
