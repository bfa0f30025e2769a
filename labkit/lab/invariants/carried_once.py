"""Carried out once: no attempt of a request is carried out twice in one history (R18).

1. An attempt is known by its correlation: who asked, the asker's number, and which attempt it was.  A further one is
   another attempt, and may well be carried out too.
2. What counts is the step that ends a request; what it stored before a Fetch is a record of the attempt (R4).
3. The newest attempts are kept, so that each costs the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from labkit.lab.invariants.rules import CARRIED_ONCE
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ENDED, Committed

MIN_KEPT, DROPPED_AT_ONCE = 512, 512
"""How many of the newest attempts are kept at least, for one that comes again does so soon, and how many go at once."""


class CarriedOnce(StandingRule):
    """The newest attempts that committed something, and in which history."""

    __slots__ = ("_current", "_done")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._current = scene.queries.parts.ledger.histories.current
        self._done: dict[Correlation, int] = dict(state.get("done", ()))

    @property
    def judgements(self) -> Judgements:
        """What was committed for whom."""
        return {Committed: self.on_committed}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {"occurred": self.judged, "done": tuple(self._done.items())}

    def on_committed(self, report: Committed) -> None:
        """Judge the last step of an attempt."""
        correlation, part = report.correlation, report.part
        if correlation is None or not report.commits or (part and part != ENDED):
            return
        self.judged += 1
        history, done = self._current.get(report.cluster, -1), self._done
        kept = len(done)
        before = done.setdefault(correlation, history)
        if len(done) > kept:  # nearly always: it is the first time
            if kept >= MIN_KEPT + DROPPED_AT_ONCE:
                self._done = dict(islice(done.items(), DROPPED_AT_ONCE, None))
        elif before == history:
            who = f"attempt {correlation.attempt} of request {correlation.number} of {correlation.asker}"
            self._scene.found(CARRIED_ONCE, f"{report.cluster} carried {who} out twice")
        else:
            done[correlation] = history
