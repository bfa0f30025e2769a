"""Scenario: a scenario file once it has been read and checked, as frozen plain data.

Everything that a run needs besides blueprint and seed is in ``state``, so that a saved lab needs no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labkit.lab.plan.blueprint import Blueprint
from labkit.scenario.documents.combination import NO_COMBINATION, Combination
from labkit.scenario.expect_keys import Expectations
from labkit.scenario.problems import FilePosition
from labkit.scenario.timed.timed_conditions import TimedCondition
from labkit.service.durations import SECOND_NS

MAYBE, DONE, REFUSED = "maybe", "done", "refused"


class Step(NamedTuple):
    """One step of a timeline: it begins at ``at_ns`` or ``after_ns`` after the step before it, whichever is later.

    ``at_ns`` is None where none is written.  Of ``after_step`` (0: the steps above) ``after_ns`` counts from the end,
    or ``from_beginning``.  ``fails`` is None for a step that has to succeed, MAYBE for one that may be refused, else
    text that its refusal contains (empty for any refusal).  ``when`` is DONE or REFUSED, of the step above,
    ``condition`` what it waits for, ``within_ns`` how long.  ``late_ok`` says that it may begin late, ``idle_ok`` that
    its fault may have no effect.
    """

    number: int
    verb: str
    arguments: tuple[tuple[str, Any], ...]
    text: str
    at_ns: int | None = None
    after_ns: int = 0
    fails: str | None = None
    late_ok: bool = False
    name: str = ""
    when: str = ""
    condition: Expectations | None = None
    within_ns: int | None = None
    after_step: int = 0
    from_beginning: bool = False
    idle_ok: bool = False

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> Step:
        """Build it again from plain values."""
        step = cls(*state)
        return step if step.condition is None else step._replace(condition=Expectations.from_state(step.condition))


NOTHING_EXPECTED = Expectations()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario; ``positions`` and ``lines`` say where in the file each expectation and step is.

    A file with a matrix is one scenario for each ``combination`` of its values.  ``seeds`` is with how many seeds it is
    played, from 0 on; 0 for ``seed`` only.
    """

    title: str
    about: str = ""
    lesson: str = ""
    path: str = ""
    seed: int = 7
    seeds: int = 0
    combination: Combination = NO_COMBINATION
    blueprint: Blueprint
    timeline: tuple[Step, ...] = ()
    expect: Expectations = NOTHING_EXPECTED
    over_time: tuple[TimedCondition, ...] = ()
    covers: tuple[str, ...] = ()
    end_ns: int | None = None
    settle_ns: int = 5 * SECOND_NS
    work_until_ns: int = 0
    positions: Mapping[str, FilePosition] = field(default_factory=dict, repr=False, compare=False)
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def position_of(self, key: str) -> FilePosition | None:
        """Where an expectation (``rpo``, ``one primary``) or a step (``step 3``) is; None when not written."""
        return self.positions.get(key)

    @property
    def all_seeds(self) -> range:
        """The seeds that it is played with."""
        return range(self.seeds) if self.seeds else range(self.seed, self.seed + 1)

    def state(self) -> dict[str, Any]:
        """Return what a run and its verdict need, as plain values; the file that it was read from is not among them."""
        return {
            "title": self.title,
            "about": self.about,
            "lesson": self.lesson,
            "combination": self.combination,
            "timeline": self.timeline,
            "expect": self.expect,
            "over_time": self.over_time,
            "covers": self.covers,
            "end_ns": self.end_ns,
            "settle_ns": self.settle_ns,
            "work_until_ns": self.work_until_ns,
        }

    @classmethod
    def from_state(cls, blueprint: Blueprint, seed: int, state: dict[str, Any]) -> Scenario:
        """Build it again, beside the blueprint and the seed of its lab."""
        expect = Expectations.from_state(state["expect"])
        timeline = tuple([Step.from_state(row) for row in state["timeline"]])
        over_time = tuple([TimedCondition.from_state(row) for row in state.get("over_time", ())])
        combination = Combination(*state["combination"])
        given = {**state, "timeline": timeline, "expect": expect, "over_time": over_time, "combination": combination}
        return cls(**given, blueprint=blueprint, seed=seed)
