"""why: says what led to each broken rule of a run, and to what was not as expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.verdict import Verdict

EVENTS = {"lost": "lost", "rpo": "lost", "rto": "recovery", "unknown": "unknown", "refused": "refused"}
"""What is to be explained of an expectation that was not met, by its name in the file."""


def causes(lab: Lab, verdict: Verdict) -> list[str]:
    """Return a paragraph per event: what it is, then its chain of causes or why there is none."""
    failed = [row.key for row in verdict.failures()]
    steps = ["refused"] if any(key.startswith("step ") for key in failed) else []
    named = [EVENTS[key] for key in failed if key in EVENTS]
    return [_paragraph(lab, event) for event in dict.fromkeys([*lab.invariants.broken, *named, *steps])]


def _paragraph(lab: Lab, event: str) -> str:
    try:
        return f"why {event}:\n{lab.why(event)}"
    except ValueError as error:
        return str(error)
