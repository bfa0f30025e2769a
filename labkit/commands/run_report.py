"""Run report: one run of a scenario in one file: the player, the verdict, the losses, and what led to what went wrong.

The file is a page that asks nobody for anything, or the same as data.  It is written once the run is over.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import refuse
from labkit.commands.why import causes

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.verdict import Verdict
    from labkit.views.player.player import Player

SUFFIXES = (".html", ".json")


class CannotReport(ValueError):
    """A report cannot be written where it is asked for."""


def judge_target(target: str, files: int) -> None:
    """Raise CannotReport where a report of so many files cannot be written to a target."""
    if Path(target).suffix not in SUFFIXES:
        raise CannotReport(f"--report: expected a file that ends in {' or '.join(SUFFIXES)}, got {target!r}")
    if files != 1:
        raise CannotReport(f"--report: expected one file to run, got {files}; each run has a report of its own")
    folder = Path(target).parent
    if not folder.is_dir():
        raise CannotReport(f"--report: expected a folder that exists, got {str(folder)!r}; make it first")


def write_report(target: str, lab: Lab, verdict: Verdict) -> int:
    """Write the report of a run; return 0, or the code for a file that cannot be written."""
    try:
        player_of(lab, verdict).save(target)
    except OSError as error:
        return refuse(f"--report: {target} cannot be written: {error.strerror}")
    return 0


def player_of(lab: Lab, verdict: Verdict) -> Player:
    """Return a run's player with its verdict and rules, and what led to each broken rule and what was not expected."""
    from labkit.commands.report_tables import rules_table, verdict_table
    from labkit.views.player.page import Section

    why = causes(lab, verdict)
    player = lab.play()
    sections = [Section("Verdict", verdict_table(verdict, player.recording))]
    if why:
        sections.append(Section("Why", "".join(f"<pre>{escape(paragraph)}</pre>" for paragraph in why)))
    sections.append(Section("Rules", rules_table(verdict, lab.invariants, player.recording), looked_up=True))
    said = player.with_sections(sections, {"verdict": _plain(lab, verdict), "why": why})
    said.facts = f"{verdict.word}; {player.facts}"
    return said


def _plain(lab: Lab, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values, with loss and outage as numbers."""
    return {
        "word": verdict.word,
        "summary": verdict.summary,
        "rpo": lab.ledger.rpo()._asdict(),
        "rto_seconds": lab.ledger.rto().seconds,
        "rows": [
            {"what": row.what, "expected": row.expected, "measured": row.measured, "status": row.status}
            for row in verdict.rows
        ],
    }
