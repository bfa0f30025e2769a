"""Frames: the rows of a sweep as a DataFrame, a row for each seed of each experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.hunt.sweeping.row_file import read_rows
from labkit.service.arguments import wrong

if TYPE_CHECKING:
    from os import PathLike

    from pandas import DataFrame


def rows(path: str | PathLike[str]) -> DataFrame:
    """Read what ``labkit sweep`` wrote; each value that was swept over has a column of its own.

    ``rto_s`` is infinite where no write followed a promotion, so no quantile leaves such a run out; without a promotion
    there is none (NaN).
    UnusableRows says where the file is not as it was written, TwoResults that a seed has two.
    """
    from pandas import DataFrame

    if not isinstance(path, str) and not hasattr(path, "__fspath__"):
        raise wrong("path", "the path of a file of rows", path)
    found = read_rows(str(path))
    data = [
        {"scenario": swept.title, **dict(swept.values), **kept[seed].row.values(), "experiment": swept.digest}
        for swept, kept in found.found.items()
        for seed in sorted(kept)
    ]
    return DataFrame(data)
