"""Time passage: how time passes in a lab, for a run, for an answer or for the end of a runbook.

1. Time passes in one place only, so that checkpoints can be kept on the way.
2. It does not pass while a watched rule is checked: that may be in the middle of what happens.
3. While threads share the lab, a run goes in slices, each in a turn of its own (``turns``): what is asked meanwhile is
   under way at once, and an answer counts whoever let the time pass that it took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from labkit.lab.checkpoints import Checkpoint, Checkpoints
from labkit.lab.invariants import Invariants
from labkit.lab.obstacles import cut_lines, unserved
from labkit.lab.operations.runbook_effects import Ask, RunbookError
from labkit.lab.parts import Parts
from labkit.lab.wire.bodies import own_answer
from labkit.service.arguments import duration_ns
from labkit.service.durations import SECOND_NS, parse_duration
from labkit.service.message import Response
from labkit.service.silence import Silence

MAX_RUNBOOK_TIME = "30d"  # runbooks end by themselves: they wait as long as there is progress
MAX_WAIT = "1h"
MIN_WAIT_NS = SECOND_NS
SLICE_ITEMS = 1_000


class TimePassage:
    """The passage of time in one lab; ``checkpoints`` are those that it keeps, None while it keeps none."""

    __slots__ = ("_invariants", "_parts", "checkpoints", "turns")

    def __init__(self, parts: Parts, invariants: Invariants) -> None:
        self._parts, self._invariants, self.turns = parts, invariants, parts.turns
        self.checkpoints: Checkpoints | None = None

    def keep_checkpoints(
        self, take: Callable[[bool], Checkpoint], every_ns: int, limit: int, earlier: Sequence[Checkpoint] = ()
    ) -> None:
        """Keep checkpoints from now on, beside those that are kept already, or were by a lab that stood here."""
        kept = Checkpoints(self._parts, take, every_ns, limit)
        kept.take_over(self.checkpoints.kept if self.checkpoints is not None else earlier)
        kept.keep(after_act=True)
        self.checkpoints = kept

    def refuse_in_check(self) -> None:
        """Raise RuntimeError while a watched rule is checked."""
        with self.turns:
            checking = self._invariants.checking
        if checking:
            text = f"the check of {checking!r} may look at the lab, not act on it, run it or save it"
            raise RuntimeError(f"{text}; do that between two runs")

    def step(self) -> bool:
        """Let the next thing happen; False when nothing is pending."""
        with self.turns:
            kept = self.checkpoints
            if kept is None:
                return self._parts.clock.step()
            kept.begin()
            happened = self._parts.clock.step()
            kept.between()
            kept.end()
            return happened

    def run(self, until_ns: int | None = None, stop: Callable[[], object] | None = None) -> bool:
        """Let time pass up to an instant, or until ``stop()`` is true, which is then returned."""
        if not self.turns.shared:
            with self.turns:
                return self._run(until_ns, stop)
        while True:
            with self.turns:
                if stop is not None and stop():
                    return True
                if self.run_slice(until_ns, stop):
                    return False

    def run_slice(self, until_ns: int | None = None, stop: Callable[[], object] | None = None) -> bool:
        """Let time pass as ``run`` does, but no longer than a slice; True when that was all up to the instant.

        Others may have let more time pass than that.
        """
        left = SLICE_ITEMS

        def over() -> bool:
            nonlocal left
            left -= 1
            return left <= 0 or (stop is not None and bool(stop()))

        with self.turns:
            passed = until_ns is not None and self._parts.now > until_ns
            return passed or not self._run(until_ns, over)

    def _run(self, until_ns: int | None, stop: Callable[[], object] | None) -> bool:
        kept = self.checkpoints
        if kept is None:
            return self._parts.clock.run(until_ns=until_ns, stop=stop)
        kept.begin()

        def stops() -> object:
            kept.between()
            return stop is not None and stop()

        stopped = self._parts.clock.run(until_ns=until_ns, stop=stops)
        kept.end()
        return stopped

    def run_until(self, condition: Callable[[], object]) -> None:
        """Let time pass until a condition holds; none when it does already."""
        with self.turns:
            limit_ns, holds = self._parts.now + parse_duration(MAX_WAIT), condition()
        if not holds and not self.run(limit_ns, stop=condition):
            raise TimeoutError(f"the condition did not hold within {MAX_WAIT} of simulated time")

    def ask(self, ask: Ask, timeout: str | float = "30s", headers: dict[str, str] | None = None) -> Response:
        """Ask a cluster from its operator's host; the clock moves until the answer; raise Silence without one."""
        console = self._parts.console
        with self.turns:
            self._refuse_running()
            now_ns = self._parts.now
            deadline_ns = now_ns + duration_ns("timeout", timeout, seconds=True)
            number = console.ask(ask, deadline_ns - now_ns, headers=headers)
        try:
            self.run(deadline_ns, stop=lambda: number in console.answers)
        except BaseException:  # the wait was broken off: nothing of the request stays in the console
            with self.turns:
                console.withdraw(number)
            raise
        with self.turns:
            answer = console.answers.pop(number)
        if answer.status == 0:
            self.run(deadline_ns)  # all that falls due up to then has happened
            text = f"{ask.method} {ask.path} on {ask.cluster}: no answer within {timeout} of simulated time"
            with self.turns:
                why = unserved(self._parts, ask.cluster, ask.node)
            raise Silence(f"{text}: {why}" if why else text)
        return own_answer(answer)

    def work_through(self, runbook: str, **arguments: Any) -> str:
        """Work through a runbook; the clock moves until its end; raise RunbookError when it cannot go on."""
        console = self._parts.console
        with self.turns:
            self._refuse_running()
            number = console.start(runbook, **arguments)
            began_ns = self._parts.now
            limit_ns = began_ns + parse_duration(MAX_RUNBOOK_TIME)
        ended, clock = console.finished, self._parts.clock
        if number not in ended:
            self.run(stop=lambda: number in ended or clock.now > limit_ns)
        with self.turns:
            finished = console.finished.pop(number, None)
            if finished is not None and finished.ok:
                return finished.text
            waited = clock.now - began_ns >= MIN_WAIT_NS  # what is refused at once met no cut line
            why = cut_lines(self._parts, tuple(arguments.values())) if waited else ""
        text = finished.text if finished else f"{runbook} did not end within {MAX_RUNBOOK_TIME}"
        raise RunbookError(f"{text}; {why}" if why else text)

    def _refuse_running(self) -> None:
        """Raise RuntimeError where time cannot pass for an answer, before anything is asked."""
        self.refuse_in_check()
        self._parts.clock.refuse_running()
