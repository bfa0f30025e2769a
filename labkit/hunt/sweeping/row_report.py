"""Row report: what the rows of a sweep say: rates with their bounds, quantiles with theirs, and the worst seeds.

It is the same for the same rows, in whatever order they were played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from labkit.hunt.sweeping.quantiles import quantile, runs_needed
from labkit.hunt.sweeping.row_file import Rows, Swept
from labkit.hunt.sweeping.seed_rows import EXCEPTION, NEVER, SeedRow
from labkit.scenario.documents.combination import Combination
from labkit.scenario.many.many_runs import AS_EXPECTED, NOT_AS_EXPECTED, UNKNOWN, ManyRuns, PlayedRun, rate_text
from labkit.scenario.report import columns_of

QUANTILES = (50, 90, 99)
MAX_ERRORS = 3
KEY_HEADINGS = ("runs", "rate")
MEASURE_HEADINGS = ("combination", "measure", "runs", "median", "90 %", "99 %", "worst", "its seed")


class RowMeasure(NamedTuple):
    """One measure of a run: what it is called, its value (None: there was none), and how one is written."""

    name: str
    of: Callable[[SeedRow], float | None]
    write: Callable[[float], str]


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if value < inf else NEVER


def _count(value: float) -> str:
    return f"{value:,.0f}"


MEASURES = (
    RowMeasure("recovery time", lambda row: row.rto_s, _seconds),
    RowMeasure("lost writes", lambda row: row.lost, _count),
    RowMeasure("loss reaches back", lambda row: row.rpo_s, _seconds),
    RowMeasure("in doubt", lambda row: row.in_doubt, _count),
    RowMeasure("refused", lambda row: row.refused, _count),
)


def report_of(rows: Rows, columns: int = 0) -> str:
    """Return the report of a file of rows, no wider than a number of columns; 0 is as wide as it is."""
    return "\n".join(_lines(rows, columns))


def exit_code_of(rows: Rows) -> int:
    """Return 4 for an exception of labkit, else the worst of the runs: 1 not as expected, 3 unknown, 0 as expected.

    Without rows nothing is known: 3.
    """
    codes = {kept.row.code for found in rows.found.values() for kept in found.values()} or {UNKNOWN}
    return next((code for code in (EXCEPTION, NOT_AS_EXPECTED, UNKNOWN) if code in codes), AS_EXPECTED)


def _lines(rows: Rows, columns: int) -> Iterator[str]:
    titles: dict[str, dict[Swept, list[SeedRow]]] = {}
    for swept, found in rows.found.items():
        titles.setdefault(swept.title, {})[swept] = [found[seed].row for seed in sorted(found)]
    for title, experiments in titles.items():
        named = _named(experiments)
        yield from _verdicts(title, named, columns)
        yield from _tables(named, columns)
        yield from _earlier(named)
        yield from _errors(named)
    count = sum(len(found) for found in rows.found.values())
    torn = f"; half a line at the end, of {rows.torn:,} bytes, is left out" if rows.torn else ""
    yield f"{count:,} row{'' if count == 1 else 's'}, digest {rows.digest}{torn}" if count else f"no rows{torn}"


def _named(experiments: dict[Swept, list[SeedRow]]) -> dict[Combination, list[SeedRow]]:
    """Return rows by the values of their experiment; those of other files or code of the same title have a digest."""
    texts = Counter(swept.combination.text for swept in experiments)
    found = {}
    for swept, rows in sorted(experiments.items(), key=lambda item: (item[0].combination.text, item[0].digest)):
        others = texts[swept.combination.text] > 1
        found[Combination((*swept.values, *([("experiment", swept.digest[:6])] if others else [])))] = rows
    return found


def _verdicts(title: str, named: dict[Combination, list[SeedRow]], columns: int) -> Iterator[str]:
    many = ManyRuns(title)
    for combination, rows in named.items():
        played = [PlayedRun(row.seed, row.code, len(row.wrong) + len(row.unknown or ())) for row in _played(rows)]
        if played:
            many.runs[combination] = played
    if many.runs:
        yield many.text(columns)
        yield ""


def _played(rows: Sequence[SeedRow]) -> list[SeedRow]:
    """Return the rows of runs that came to their end; an exception of labkit has no measures."""
    return [row for row in rows if row.code != EXCEPTION]


def _tables(named: dict[Combination, list[SeedRow]], columns: int) -> Iterator[str]:
    played = {combination.text: _played(rows) for combination, rows in named.items()}
    wrong = [row for name, rows in played.items() for row in _keys(name, [row.wrong for row in rows])]
    unknown = [row for name, rows in played.items() for row in _keys(name, [row.unknown or () for row in rows])]
    measured = [row for measure in MEASURES for row in _measured(measure, played)]
    first = 0 if any(combination.values for combination in named) else 1
    for headings, found in (
        (("combination", "not as expected", *KEY_HEADINGS), wrong),
        (("combination", "unknown", *KEY_HEADINGS), unknown),
        (MEASURE_HEADINGS, measured),
    ):
        if found:
            yield from columns_of([row[first:] for row in (headings, *found)], columns)
            yield ""


def _keys(name: str, keys: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each key, with how many of the runs have it."""
    counts = Counter(key for of_run in keys for key in dict.fromkeys(of_run))
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield name, key, f"{count:,} of {len(keys):,}", rate_text(count, len(keys))


def _measured(measure: RowMeasure, played: dict[str, list[SeedRow]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each experiment, unless there is nothing to see in any."""
    values = {
        name: [(value, row.seed) for row in rows if (value := measure.of(row)) is not None]
        for name, rows in played.items()
    }
    if not any(value for pairs in values.values() for value, _ in pairs):
        return
    for name, pairs in values.items():
        if pairs:
            ordered, count = sorted(value for value, _ in pairs), len(played[name])
            worst = max(pairs, key=lambda pair: (pair[0], -pair[1]))
            all_have_one = len(pairs) == count
            needed = "seeds" if all_have_one else "runs with one"
            cells = [
                _quantile(ordered, percent, measure.write) or f"needs {runs_needed(percent)} {needed}"
                for percent in QUANTILES
            ]
            runs = f"{count:,}" if all_have_one else f"{len(pairs):,} of {count:,}"
            yield name, measure.name, runs, *cells, measure.write(worst[0]), str(worst[1])


def _quantile(ordered: Sequence[float], percent: int, write: Callable[[float], str]) -> str:
    """Write a quantile with its bounds; empty where values are too few for them."""
    found = quantile(ordered, percent)
    if found is None:
        return ""
    value, low, high = map(write, found)
    return value if low == high else f"{value} ({low} to {high})"


def _earlier(named: dict[Combination, list[SeedRow]]) -> Iterator[str]:
    """Say what rows of labkits that kept no unknown keys do not tell apart."""
    for combination, rows in named.items():
        if any(row.unknown is None for row in rows):
            name = f" ({combination.text})" if combination.values else ""
            yield (
                f"rows of an earlier labkit{name}: keys that are unknown count as not as expected, and the recovery "
                "time leaves out runs in which no write followed a promotion; sweep again to tell them apart"
            )


def _errors(named: dict[Combination, list[SeedRow]]) -> Iterator[str]:
    errors = [(combination.text, row) for combination, rows in named.items() for row in rows if row.code == EXCEPTION]
    for name, row in errors[:MAX_ERRORS]:
        yield f"an exception of labkit with seed {row.seed}{f' ({name})' if name else ''}: {row.error}"
    if len(errors) > MAX_ERRORS:
        yield f"and {len(errors) - MAX_ERRORS} more"
