"""Many runs: what became of the runs of one file with many seeds and combinations, as one table.

1. What is to be seen in any of a combination's runs (``sometimes``, ``covers``) is judged where all its seeds were
   played, else listed.
2. A share has the bounds between which it is with 95 % certainty (Wilson's interval): 0 of 50 may be 7 in 100.
3. The worst seed of a combination is the first whose run has the worst verdict and the most rows that are not as
   expected.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import sqrt
from textwrap import wrap
from typing import NamedTuple

from labkit.scenario.documents.combination import Combination
from labkit.scenario.measures import BROKEN, VerdictRow
from labkit.scenario.measures import UNKNOWN as STATUS_UNKNOWN
from labkit.scenario.report import columns_of
from labkit.scenario.scenario import Scenario
from labkit.scenario.timed.spanning import Sighting, spanned
from labkit.scenario.verdict import JUDGEMENTS, Verdict

AS_EXPECTED, NOT_AS_EXPECTED, UNKNOWN = 0, 1, 3
WORST_FIRST = (NOT_AS_EXPECTED, UNKNOWN, AS_EXPECTED)
HEADINGS = ("combination", "runs", "as expected", "unknown", "not as expected", "share not as expected", "worst seed")
BOUNDS = "In brackets: what that share may be over all seeds, with 95% certainty."
SPANNING_HEADINGS = ("combination", "in any run", "expected", "measured", "verdict")
CODES = {BROKEN: NOT_AS_EXPECTED, STATUS_UNKNOWN: UNKNOWN}
DEVIATIONS = 1.96
"""How many standard deviations 95 % of a normal distribution is within, on both sides."""


class PlayedRun(NamedTuple):
    """One run: its seed, its exit code, and how many rows of its verdict are not as expected."""

    seed: int
    code: int
    wrong: int

    @classmethod
    def of(cls, verdict: Verdict) -> PlayedRun:
        """What is kept of a verdict."""
        return cls(verdict.seed, verdict.exit_code, len(verdict.failures()))


class ManyRuns:
    """The runs of one file so far, by combination."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.runs: dict[Combination, list[PlayedRun]] = {}
        self._seeds: dict[Combination, range] = {}
        self._sightings: dict[Combination, list[tuple[Sighting, ...]]] = {}

    def add(self, scenario: Scenario, verdict: Verdict) -> None:
        """Add one run, which was not judged as if it were the only one."""
        combination = scenario.combination
        self._seeds[combination] = scenario.all_seeds
        self.runs.setdefault(combination, []).append(PlayedRun.of(verdict))
        self._sightings.setdefault(combination, []).append(verdict.sightings)

    def spanned(self) -> dict[Combination, tuple[VerdictRow, ...]]:
        """The rows of what is to be seen in any run, for each combination that wants such a thing."""
        found = {
            combination: spanned(sightings, judged=len(sightings) == len(self._seeds[combination]))
            for combination, sightings in self._sightings.items()
        }
        return {combination: rows for combination, rows in found.items() if rows}

    @property
    def exit_code(self) -> int:
        """The worst of the runs and of what spans them: 1 not as expected, 3 unknown, 0 as expected."""
        codes = {run.code for runs in self.runs.values() for run in runs}
        codes |= {CODES.get(row.status, AS_EXPECTED) for rows in self.spanned().values() for row in rows}
        return next((code for code in WORST_FIRST if code in codes), AS_EXPECTED)

    @property
    def word(self) -> str:
        """The judgement in words."""
        return JUDGEMENTS[self.exit_code]

    @property
    def summary(self) -> str:
        """The judgement in one line."""
        runs = [run for played in self.runs.values() for run in played]
        found = sum(run.code == self.exit_code for run in runs)
        share = f"all {len(runs):,}" if found in (0, len(runs)) else f"{found:,} of {len(runs):,}"
        counts = [f"{len(self.runs)} combinations"] if len(self.runs) > 1 else []
        seeds = len({run.seed for run in runs})
        counts.append(f"{seeds:,} seed{'' if seeds == 1 else 's'}")
        where = "in" if found else "over"
        return f"{self.title}: {self.word} {where} {share} runs ({', '.join(counts)})"

    def text(self, columns: int = 0) -> str:
        """The table, one row for each combination, no wider than a number of columns; then what spans the runs."""
        rows = [_row(combination, runs) for combination, runs in self.runs.items()]
        lines = columns_of([row[self._first :] for row in (HEADINGS, *rows)], columns)
        spanning = self.spanning_text(columns)
        about = wrap(BOUNDS, columns or len(BOUNDS))
        return "\n".join([*lines, "", *about, *(["", spanning] if spanning else []), "", self.summary])

    def spanning_text(self, columns: int = 0) -> str:
        """The table of what is to be seen in any run; empty where nothing is."""
        rows = [(combination.text, *row[:4]) for combination, rows in self.spanned().items() for row in rows]
        return (
            "\n".join(columns_of([row[self._first :] for row in (SPANNING_HEADINGS, *rows)], columns)) if rows else ""
        )

    @property
    def _first(self) -> int:
        """The first column that is shown: that of the combination, where there are any."""
        return 0 if any(combination.values for combination in self.runs) else 1


def _row(combination: Combination, runs: list[PlayedRun]) -> tuple[str, ...]:
    counts = {code: sum(run.code == code for run in runs) for code in WORST_FIRST}
    worst = min(runs, key=lambda run: (WORST_FIRST.index(run.code), -run.wrong, run.seed))
    return (
        combination.text,
        f"{len(runs):,}",
        f"{counts[AS_EXPECTED]:,}",
        f"{counts[UNKNOWN]:,}",
        f"{counts[NOT_AS_EXPECTED]:,}",
        rate_text(counts[NOT_AS_EXPECTED], len(runs)),
        str(worst.seed) if worst.code != AS_EXPECTED else "",
    )


def rate_text(count: int, total: int) -> str:
    """Write a rate with its bounds: ``6.2% (1.1% to 28.4%)``, ``0% (at most 19.4%)``."""
    low, high = bound_texts(count, total)
    if count == 0:
        return f"0% (at most {high})"
    if count == total:
        return f"100% (at least {low})"
    return f"{percent(count / total)} ({low} to {high})"


def bound_texts(count: int, total: int) -> tuple[str, str]:
    """Write the bounds of a rate, the lower one rounded down and the upper one up, so that they still hold."""
    low, high = rate_bounds(count, total)
    return percent(low, ROUND_FLOOR), percent(high, ROUND_CEILING)


def percent(share: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a share: ``6.2%``, and below 1 % with two digits that are not leading zeros: ``0.017%``."""
    value = 100 * Decimal(repr(share))
    places = max(1, 1 - value.adjusted()) if value else 0
    return f"{value.quantize(Decimal(1).scaleb(-places), rounding):f}%"


def rate_bounds(count: int, total: int) -> tuple[float, float]:
    """Return the bounds between which a rate is with 95 % certainty, when so many of so many runs had it."""
    rate, square = count / total, DEVIATIONS**2
    middle = rate + square / (2 * total)
    reach = DEVIATIONS * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    scale = 1 + square / total
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
