"""Row report: rates and quantiles with their bounds, worst seeds, what went wrong; the same in any order."""

from __future__ import annotations

from math import inf

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


def lines_of(*pairs: tuple[Swept, SeedRow]) -> list[str]:
    return [" ".join(line.split()) for line in report_of(rows_of(*pairs)).splitlines()]


def test_keys_that_are_unknown_have_a_table_of_their_own():
    rows = [SeedRow(seed, 3, unknown=("rto",)) for seed in range(6)]
    rows += [SeedRow(seed, 1, ("rto",), unknown=("lag",)) for seed in (6, 7)]
    lines = lines_of(*[(FIRST, row) for row in (*rows, SeedRow(8, 0), SeedRow(9, 0))])

    assert "x: 1ms 10 2 6 2 20.0% (5.6% to 51.0%) 6" in lines
    broken, unknown = lines.index("combination not as expected runs rate"), lines.index("combination unknown runs rate")
    assert lines[broken + 2 : broken + 4] == ["x: 1ms rto 2 of 10 20.0% (5.6% to 51.0%)", ""]
    assert [line.partition(" of ")[0] for line in lines[unknown + 2 : unknown + 4]] == ["x: 1ms rto 6", "x: 1ms lag 2"]


def test_a_run_that_never_recovers_is_beyond_all_others():
    rows = [SeedRow(seed, 0, rto_s=1 + seed / 100 if seed < 32 else inf) for seed in range(60)]
    recovery = next(line for line in lines_of(*[(FIRST, row) for row in rows]) if "recovery time" in line)

    assert recovery == ("x: 1ms recovery time 60 1.290 s (1.230 s to never) never needs 299 seeds never 32")


def test_runs_without_a_promotion_are_counted():
    rows = [SeedRow(seed, 0, rto_s=1 if seed < 20 else None) for seed in range(40)]
    recovery = next(line for line in lines_of(*[(FIRST, row) for row in rows]) if "recovery time" in line)

    assert recovery == "x: 1ms recovery time 20 of 40 1.000 s needs 29 runs with one needs 299 runs with one 1.000 s 0"


def test_exceptions_have_no_part_in_what_is_measured():
    errors = [(FIRST, SeedRow(seed, 4, error="x")) for seed in range(5)]
    lines = lines_of(*errors, *[(FIRST, SeedRow(seed, 1, ("lost",), 3)) for seed in range(5, 10)])

    assert "x: 1ms lost 5 of 5 100% (at least 56.5%)" in lines
    assert "x: 1ms lost writes 5 3 needs 29 seeds needs 299 seeds 3 5" in lines


def test_rows_of_earlier_labkits_are_named():
    earlier = SeedRow.of({key: value for key, value in SeedRow(0, 1, ("rto",)).data().items() if key != "unknown"})
    lines = lines_of((FIRST, earlier), (SECOND, SeedRow(0, 0)))

    assert (
        sum(line.startswith("rows of an earlier labkit (x: 1ms): keys that are unknown count as") for line in lines)
        == 1
    )
    assert not any(line.startswith("rows of an earlier labkit (x: 2ms)") for line in lines)


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


@pytest.mark.parametrize(("codes", "code"), [([], 3), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 4], 4)])
def test_the_worst_row_is_the_exit_code(codes: list[int], code: int):
    assert exit_code_of(rows_of(*[(FIRST, SeedRow(seed, found)) for seed, found in enumerate(codes)])) == code
