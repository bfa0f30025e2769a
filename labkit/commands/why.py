"""why: says what led to each broken rule of a run, and to what was not as expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.trace import StepEvent

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.verdict import Verdict

EVENTS = {"lost": "lost", "rpo": "lost", "rto": "recovery", "in doubt": "in doubt", "refused": "refused"}
"""What is to be explained of an expectation that was not met, by its name in the file."""


def causes(lab: Lab, verdict: Verdict) -> list[str]:
    """Return a paragraph per event: what it is, then its chain of causes or why there is none."""
    failed = [row.key for row in verdict.failures()]
    steps = _failed_steps(lab) if any(key.startswith("step ") for key in failed) else []
    asked = dict.fromkeys([*lab.invariants.broken, *[EVENTS[key] for key in failed if key in EVENTS]])
    return [*[_paragraph(lab, name, name) for name in asked], *[_paragraph(lab, name, row) for name, row in steps]]


def _failed_steps(lab: Lab) -> list[tuple[str, int]]:
    """Return the steps that failed, each with its row of the trace."""
    rows = [(event, row) for row, event in enumerate(lab.trace) if isinstance(event, StepEvent)]
    return [(f"step {event.number} failed", row) for event, row in rows if event.status == "failed"]


def _paragraph(lab: Lab, name: str, event: str | int) -> str:
    try:
        return f"why {name}:\n{lab.why(event).without_rows()}"
    except ValueError as error:
        return str(error)
