"""Report: what a reader needs of a scenario that did not go as expected, on one screen.

The verdict first; then each expectation that was not met, with its place in the file; the last things that happened;
and the command that plays the same run again.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from labkit.scenario.chronicle import chronicle
from labkit.scenario.findings import excerpt
from labkit.scenario.verdict import Row, Verdict

if TYPE_CHECKING:
    from labkit.scenario.scenario import Scenario
    from labkit.trace import Trace

MOST_ROWS = 3
LAST_LINES = 5


def report(scenario: Scenario, verdict: Verdict, trace: Trace) -> str:
    """Report a run that was not as expected."""
    # The row of the whole timeline only counts the steps that have rows of their own.
    failures = [row for row in verdict.failures() if row.key != "timeline"]
    lines = [verdict.summary]
    for row in failures[:MOST_ROWS]:
        lines += _failure(scenario, row)
    if len(failures) > MOST_ROWS:
        lines.append(f"and {len(failures) - MOST_ROWS} more: {', '.join(row.what for row in failures[MOST_ROWS:])}")
    lines += ["the last that happened:", *map(str, chronicle(trace)[-LAST_LINES:])]
    if scenario.path:
        lines.append(f"to see it again: labkit run {quote(scenario.path)} --seed {verdict.seed}")
    return "\n".join(lines)


def _failure(scenario: Scenario, row: Row) -> list[str]:
    """One expectation that was not met, as ``file:line:column: what: wanted this, came that`` and its excerpt."""
    mark = scenario.mark_of(row.key)
    place = f"{scenario.path}:{mark.line}:{mark.column}: " if mark else f"{scenario.path}: " if scenario.path else ""
    told = f"{place}{row.what}: wanted {row.expected or 'something else'}, came {row.measured} ({row.status})"
    return [told, *(excerpt(scenario.lines, mark) if mark else ())]
