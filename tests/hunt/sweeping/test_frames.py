"""Frames: the rows as a DataFrame, with a column for each value that was swept over."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.hunt import rows
from labkit.hunt.sweeping.row_file import appending
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


def test_what_is_no_path():
    with pytest.raises(ValueError, match="path: expected the path of a file of rows"):
        rows(3)  # type: ignore[arg-type]  # what a caller may do
