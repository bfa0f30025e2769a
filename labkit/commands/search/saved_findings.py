"""Saved findings: the lab of a found file as a file beside it, at the last instant at which all rules hold.

Whoever gets it sees the break with the next events, without playing up to there: ``labkit open FILE --serve``.  A lab
that breaks as it begins is saved broken.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from labkit.commands.playing import Interruption, run_to_the_end
from labkit.places import SCENARIO_SUFFIXES
from labkit.scenario.loading import loads
from labkit.service.durations import format_duration

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.scenario import Scenario

LAB_SUFFIX = ".lab"


def save_beside(name: str, text: str, folder: str) -> str:
    """Save the lab of a found file to ``folder``; return a line about it.  OSError where it cannot be written.

    The line says what is missing where no lab file can be written at all.
    """
    scenario = loads(text.encode(), name)
    lab = _played(scenario, _broken_at(scenario))
    saved = name.removesuffix(SCENARIO_SUFFIXES[0]) + LAB_SUFFIX
    try:
        lab.save(os.path.join(folder, saved))
    except ModuleNotFoundError as missing:
        return f"{saved} is not there: {missing}"
    when = "broken from its beginning on" if lab.invariants.broken else "before it breaks"
    return f"{saved}, {format_duration(lab.now)} of lab time, {when}"


def _broken_at(scenario: Scenario) -> int:
    """Return the instant at which a rule breaks or labkit raises; that of the end where neither happens."""
    lab, interruption = _new(scenario), Interruption()

    def look(lab: Lab) -> None:
        interruption.pressed = bool(lab.invariants.broken)

    try:
        run_to_the_end(lab, interruption, None, look)
    except Exception:  # the finding may be this
        return lab.now
    return min([violation.at_ns for violation in lab.invariants.broken.values()], default=lab.now)


def _played(scenario: Scenario, before_ns: int) -> Lab:
    """Return the lab of a scenario as it is once all has happened that falls due before an instant."""
    lab, interruption = _new(scenario), Interruption()

    def look(lab: Lab) -> None:
        next_ns = lab.parts.clock.next_ns
        interruption.pressed = next_ns is None or next_ns >= before_ns

    run_to_the_end(lab, interruption, None, look)
    return lab


def _new(scenario: Scenario) -> Lab:
    from labkit.front.lab import lab_of

    return lab_of(scenario)
