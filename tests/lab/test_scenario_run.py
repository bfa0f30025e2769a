"""What a bench knows of a scenario is enough to play one: a small one, made for this."""

from __future__ import annotations

from typing import Any

from labkit.lab.bench import Bench
from labkit.lab.faults import LabFaults
from labkit.lab.invariants import Invariants
from labkit.lab.operations.operator_console import Finished
from labkit.lab.parts import Parts
from labkit.lab.scenario_run import ScenarioRun

SECOND_NS = 1_000_000_000


class Drill:
    """At two seconds paris becomes a primary; when that is done it is over."""

    title = "A drill"

    def __init__(self, parts: Parts, faults: LabFaults, state: dict[str, Any] | None = None) -> None:
        self.parts, self.faults = parts, faults
        kept = state or {"number": 0, "ended": False}
        self.number: int = kept["number"]
        self.ended: bool = kept["ended"]
        if state is None:
            parts.clock.at(2 * SECOND_NS, ("scenario", "", "begin"))

    @property
    def progress(self) -> str:
        return "over" if self.ended else "before the end"

    def on_timer(self, payload: Any) -> None:
        assert payload == "begin"
        self.faults.crash("tokyo")
        self.number = self.parts.console.start("enable-primary", cluster="paris")

    def on_runbook(self, number: int, finished: Finished) -> None:
        assert (number, finished.ok) == (self.number, True)
        self.ended = True

    def state(self) -> dict[str, Any]:
        return {"scenario": {"title": self.title}, "number": self.number, "ended": self.ended}

    def begun_again(self, parts: Parts, faults: LabFaults, invariants: Invariants) -> Drill:
        return Drill(parts, faults)


class DrillBench(Bench):
    """A bench that goes on with drills."""

    @staticmethod
    def _restore_scenario(parts: Parts, faults: LabFaults, invariants: Invariants, state: dict[str, Any]) -> Drill:
        return Drill(parts, faults, state)


def test_a_bench_plays_what_is_one_to_its_end_and_goes_on_with_it():
    bench = DrillBench.pair()
    drill: ScenarioRun = Drill(bench.parts, bench.faults)
    bench.scenario = drill
    snapshot = bench.run("2s").snapshot()
    before = bench.at("1s")
    bench.run()

    assert (drill.ended, bench["paris"].mode, bench["tokyo"].active) == (True, "primary", "")
    for other in (DrillBench.restore(snapshot), before):
        assert other.scenario is not None
        assert not other.scenario.ended
        assert other.run().trace.digest() == bench.trace.digest()
        assert other.scenario.ended
