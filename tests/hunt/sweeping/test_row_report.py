"""Row report: rates and quantiles with their bounds, worst seeds, what went wrong; the same in any order."""

from __future__ import annotations

import pytest

from labkit.hunt.sweeping.row_file import Rows, Swept
from labkit.hunt.sweeping.row_report import exit_code_of, report_of
from labkit.hunt.sweeping.seed_rows import SeedRow

FIRST, SECOND = Swept("Cut", (("x", "1ms"),), "aaaaaaaa"), Swept("Cut", (("x", "2ms"),), "bbbbbbbb")


def rows_of(*pairs: tuple[Swept, SeedRow]) -> Rows:
    """Rows, all of one line."""
    rows = Rows("rows.jsonl")
    for swept, row in pairs:
        rows.add(swept, row, 1)
    return rows


MANY = [
    *((FIRST, SeedRow(seed, 0, rto_s=1 + seed / 100, digest=f"{seed}")) for seed in range(300)),
    *((SECOND, SeedRow(seed, int(seed < 2), ("lost",) * (seed < 2), 3 * (seed < 2), digest="d")) for seed in range(40)),
]


def test_rates_and_quantiles_have_bounds_and_the_worst_seed():
    lines = [" ".join(line.split()) for line in report_of(rows_of(*MANY)).splitlines()]

    assert "x: 2ms 40 38 0 2 5.0% (1.3% to 16.6%) 0" in lines
    assert "x: 2ms lost 2 of 40 5.0% (1.3% to 16.6%)" in lines
    recovery = next(line for line in lines if line.startswith("x: 1ms recovery time"))
    assert recovery.startswith("x: 1ms recovery time 300 2.490 s (2.350 s to 2.640 s) 3.690 s (")
    assert recovery.endswith("3.990 s 299")
    assert next(line for line in lines if line.startswith("x: 2ms lost writes 40")).endswith("needs 299 seeds 3 0")
    assert not any("x: 2ms recovery time" in line or "in doubt" in line for line in lines)
    assert lines[-1].startswith("340 rows, digest ")


def test_the_order_does_not_matter_and_the_width_is_kept():
    assert report_of(rows_of(*MANY)) == report_of(rows_of(*reversed(MANY)))
    assert max(map(len, report_of(rows_of(*MANY), 80).splitlines())) <= 80


def test_two_experiments_of_the_same_values_have_their_digests():
    text = report_of(rows_of((FIRST, SeedRow(0, 0)), (FIRST._replace(digest="cccccccc"), SeedRow(0, 1, ("lost",)))))

    assert "x: 1ms, experiment: aaaaaa" in text
    assert "x: 1ms, experiment: cccccc  lost" in text


def test_exceptions_are_named_and_counted_apart():
    errors = [(FIRST, SeedRow(seed, 4, error="KeyError: 'x' (core.read)")) for seed in range(5)]
    text = report_of(rows_of(*errors, (SECOND, SeedRow(0, 0))))

    assert text.count("an exception of labkit with seed") == 3
    assert "an exception of labkit with seed 0 (x: 1ms): KeyError: 'x' (core.read)" in text
    assert "and 2 more" in text


def test_no_rows_and_half_a_line_are_said():
    rows = Rows("rows.jsonl")
    rows.torn = 1_234

    assert report_of(rows) == "no rows; half a line at the end, of 1,234 bytes, is left out"


@pytest.mark.parametrize(("codes", "code"), [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 4], 4)])
def test_the_worst_row_is_the_exit_code(codes: list[int], code: int):
    assert exit_code_of(rows_of(*[(FIRST, SeedRow(seed, found)) for seed, found in enumerate(codes)])) == code
