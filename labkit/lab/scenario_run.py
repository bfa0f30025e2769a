"""Scenario run: what a bench knows of the scenario that is played in it."""

from __future__ import annotations

from typing import Any, Protocol, Self

from labkit.lab.faults import LabFaults
from labkit.lab.invariants import Invariants
from labkit.lab.operations.operator_console import Finished
from labkit.lab.parts import Parts


class ScenarioRun(Protocol):
    """A scenario in progress: plain data and a state machine, moved by items of the clock and by ends of runbooks."""

    @property
    def ended(self) -> bool:
        """Whether it is over."""

    @property
    def title(self) -> str:
        """What the scenario is called."""

    @property
    def progress(self) -> str:
        """How far it is, in words."""

    def on_timer(self, payload: Any) -> None:
        """Go on: something that it put into the clock fell due."""

    def on_runbook(self, number: int, finished: Finished) -> None:
        """Go on: a runbook ended, its own or another."""

    def state(self) -> dict[str, Any]:
        """Return it as plain values; ``["scenario"]["title"]`` is its title."""

    def begun_again(self, parts: Parts, faults: LabFaults, invariants: Invariants) -> Self:
        """Return the same scenario at its beginning, in another lab."""
