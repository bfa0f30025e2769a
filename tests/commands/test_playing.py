"""A run shows how far it is, and is stopped between two events."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from labkit.commands.playing import Interruption, run_to_the_end


class SteppedLab:
    """A lab that goes through given instants and ends after the last; it does what a run asks of one."""

    def __init__(self, *instants_ns: int) -> None:
        self.now, self.instants_ns, self.scenario = 0, instants_ns, SimpleNamespace(ended=False)

    def run(self, until: Callable[[Any], bool]) -> None:
        for at_ns in self.instants_ns:
            self.now = at_ns
            until(self)
        self.scenario.ended = True


def test_a_bar_grows_by_a_second_or_more() -> None:
    lab: Any = SteppedLab(400_000_000, 1_000_000_000, 1_400_000_000, 2_500_000_000, 3_000_000_000)
    grown: list[Any] = []
    bar = SimpleNamespace(update=grown.append, close=lambda: grown.append("closed"))
    run_to_the_end(lab, Interruption(), bar)

    assert grown == [1.0, 1.5, "closed"]
