"""Scenario: a scenario file once it has been read and judged, as frozen plain data.

Everything that playing it needs besides blueprint and seed is in ``state``, so that a saved lab needs no file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labkit.lab.blueprint import SECOND_NS, Blueprint
from labkit.scenario.findings import Mark


class Step(NamedTuple):
    """One step of a timeline: it begins at ``at_ns`` or ``after_ns`` after the one before ended, whichever is later.

    ``fails`` is None for a step that has to succeed, else words that its refusal says (none for any refusal).
    """

    number: int
    verb: str
    given: tuple[tuple[str, Any], ...]
    text: str
    at_ns: int = 0
    after_ns: int = 0
    fails: str | None = None


class Bounds(NamedTuple):
    """Between which values a measure has to lie; None is no bound."""

    what: str
    low: int | None = None
    high: int | None = None


class Expectations(NamedTuple):
    """What a file expects at the end; None where it says nothing."""

    bounds: tuple[Bounds, ...] = ()
    roots: str | None = None
    primary: tuple[str, ...] | None = None
    invariants: tuple[tuple[str, str], ...] = ()


NOTHING_EXPECTED = Expectations()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario; ``marks`` and ``lines`` say where in the file each expectation and step stands."""

    title: str
    about: str = ""
    path: str = ""
    seed: int = 7
    blueprint: Blueprint
    timeline: tuple[Step, ...] = ()
    expect: Expectations = NOTHING_EXPECTED
    end_ns: int | None = None
    settle_ns: int = 5 * SECOND_NS
    work_until_ns: int = 0
    marks: tuple[tuple[str, Mark], ...] = field(default=(), repr=False, compare=False)
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def mark_of(self, key: str) -> Mark | None:
        """Where an expectation (``rpo``, ``one primary``) or a step (``step 3``) stands; None for one not written."""
        return dict(self.marks).get(key)

    def state(self) -> dict[str, Any]:
        """Return what playing and judging it needs, as plain values; where it was read from is no part of it."""
        return {
            "title": self.title,
            "about": self.about,
            "timeline": self.timeline,
            "expect": self.expect,
            "end_ns": self.end_ns,
            "settle_ns": self.settle_ns,
            "work_until_ns": self.work_until_ns,
        }

    @classmethod
    def from_state(cls, blueprint: Blueprint, seed: int, state: dict[str, Any]) -> Scenario:
        """Build it again, beside the blueprint and the seed of its lab."""
        bounds, roots, primary, invariants = state["expect"]
        expect = Expectations(tuple(Bounds(*row) for row in bounds), roots, primary, invariants)
        timeline = tuple(Step(*row) for row in state["timeline"])
        return cls(**{**state, "timeline": timeline, "expect": expect}, blueprint=blueprint, seed=seed)
