"""Witnesses: whether the fault of a step had an effect, by what it met: messages, commits, requests, or a change.

1. What counts as an effect is a column of the table of faults; counts are the lab's (``labkit.lab.fault_meters``).
2. A fault without an effect shows nothing of what its file is about: the verdict is unknown, unless the file says that
   it may be idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from labkit.lab import fault_table
from labkit.lab.fault_meters import FaultMeters
from labkit.lab.fault_table import FAULTS
from labkit.scenario.measures import NOT_JUDGED, OK, UNKNOWN, VerdictRow
from labkit.scenario.scenario import Step

EFFECTS = {fault.verb: fault.effect for fault in FAULTS}

NONE_OF = {
    fault_table.LOST: "met no message",
    fault_table.SLOWED: "slowed no message",
    fault_table.SENT_AGAIN: "lost no message",
    fault_table.DOUBLED: "doubled no message",
    fault_table.CHANGED: "changed nothing",
    fault_table.WAITED: "let nothing wait",
    fault_table.TAKEN: "took no message",
    fault_table.FIRED: "met no commit",
    fault_table.ASKED: "met no request",
}
"""{effect: what is said of a fault that had none}."""


NO_EFFECT, NOTHING_DECIDED = "had no effect", "nothing was decided by that clock"


class FaultMade(NamedTuple):
    """The fault that a step made: the numbers between which its own are, and whether it changed anything."""

    above: int
    last: int
    changed: bool


class MetersBefore(NamedTuple):
    """What a lab's meters showed before a fault."""

    last: int
    changes: int


def before(meters: FaultMeters) -> MetersBefore:
    """Look at the meters before a fault is made."""
    return MetersBefore(meters.last, meters.changes)


def made(meters: FaultMeters, looked: MetersBefore) -> FaultMade:
    """Return which fault was made since then."""
    return FaultMade(looked.last, meters.last, meters.changes > looked.changes)


def had_effect(verb: str, fault: FaultMade, meters: FaultMeters) -> bool:
    """Whether a fault had the effect that is its own."""
    if EFFECTS[verb] == fault_table.CHANGED:
        return fault.changed
    return any(meters.met(number) for number in range(fault.above + 1, fault.last + 1))


def rows_of_effects(
    steps: tuple[Step, ...], faults: Mapping[int, FaultMade], meters: FaultMeters
) -> Iterator[VerdictRow]:
    """Yield a row for each step whose fault had no effect, or of which that cannot be known."""
    for step in steps:
        fault, key = faults.get(step.number), f"step {step.number}"
        if fault is None:
            continue
        if had_effect(step.verb, fault, meters):
            continue
        if EFFECTS[step.verb] == fault_table.DECIDED:  # it may have nothing to decide by it
            yield VerdictRow(f"{key}: {step.text}", "", NOTHING_DECIDED, NOT_JUDGED, key)
        else:
            said = f"{NO_EFFECT} ({step.text} {_none_of(step, fault)})"
            expected, status = ("an effect or none", OK) if step.idle_ok else ("an effect, or idle: fine", UNKNOWN)
            yield VerdictRow(key, expected, said, status, key)


def _none_of(step: Step, fault: FaultMade) -> str:
    """What is said of a fault without effect; one without a number was there already."""
    there = fault.above == fault.last
    return NONE_OF[fault_table.CHANGED if there else EFFECTS[step.verb]]
