"""Over time: judges what a file says of the whole of a run: always, eventually, leads to, sometimes.

1. A condition is judged when a report that can change it has been taken, and when its window opens or closes; of a
   lag's time also every 100 ms; of roots where every secondary is level, and when a window closes; of keys that differ
   when a window closes, and at rest.  A window that has no end closes when the run is over.
2. *always* is broken once it is false.  *eventually* has to be true once before its window closes.  *leads to*: each
   time that its ``if`` comes to hold, its ``then`` has to hold within a time, then or once later.  *sometimes* has to
   be true once in any of the runs of a file (``spanning``).
3. What is settled is judged no more.  What is broken is said at once, as a broken rule of the lab is.
4. Its state is plain values, and what it schedules is ``(what, place, due)``, so a run may be cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.lab.records.observations import FETCHING
from labkit.lab.wire import reports
from labkit.scenario.conditions import (
    AS_TIME_PASSES,
    AT_REST,
    CHANGED_BY,
    WHEN_LEVEL,
    Test,
    Truth,
    compiled,
    finding,
    keys_of,
)
from labkit.scenario.measures import BROKEN, OK, UNKNOWN, Seen
from labkit.scenario.timed.courses import Course
from labkit.scenario.timed.timed_conditions import ALWAYS, EVENTUALLY, SOMETIMES, TimedCondition
from labkit.service.durations import MILLISECOND_NS

if TYPE_CHECKING:
    from labkit.scenario.expect_keys import Expectations
    from labkit.scenario.measures import VerdictRow

LOOK_NS = 100 * MILLISECOND_NS
"""How often a condition on a lag's time is judged."""

BY_LOSSES = frozenset({"lost", "rpo", "rto"})
OPENS, CLOSES, LOOKS = "opens", "closes", "looks"

Schedule = Callable[[int, tuple[str, int, int]], None]
Judgements = Mapping[type, tuple[Callable[[Any], None], ...]]


class Looked(NamedTuple):
    """One condition with its test, and whether that costs too much at any instant, or where anything is on its way."""

    condition: Expectations
    test: Test
    keys: frozenset[str]
    at_rest: bool
    when_level: bool

    @classmethod
    def of(cls, condition: Expectations, seen: Seen) -> Looked:
        """Compile a condition."""
        keys = frozenset(keys_of(condition))
        costs = bool(keys.intersection(AT_REST)), bool(keys.intersection(WHEN_LEVEL))
        return cls(condition, compiled(condition, seen), keys, *costs)


class Judged(NamedTuple):
    """One condition over time: its place, where it stands, and what is looked at."""

    place: int
    timed: TimedCondition
    course: Course
    look: Looked
    then: Looked | None
    as_time_passes: bool

    @property
    def keys(self) -> frozenset[str]:
        """The keys of both conditions."""
        return self.look.keys if self.then is None else self.look.keys | self.then.keys

    @property
    def is_judged(self) -> bool:
        """Whether its window is open and nothing is settled."""
        return self.course.opened_ns is not None and not self.course.settled


class OverTime:
    """The conditions of one run, or one that a lab watches; ``over`` when they are judged no more."""

    __slots__ = ("_judged", "_schedule", "_seen", "_shared", "_ticks", "over")

    def __init__(
        self,
        conditions: tuple[TimedCondition, ...],
        seen: Seen,
        schedule: Schedule,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._seen, self._schedule, kept = seen, schedule, state or {}
        self._shared: dict[Expectations | None, Truth] | None = None  # what was found in one look at many conditions
        self.over: bool = kept.get("over", False)
        self._ticks: bool = kept.get("ticks", False)
        courses = kept.get("courses", ((),) * len(conditions))
        self._judged = [_judged(place, timed, seen, Course(*courses[place])) for place, timed in enumerate(conditions)]
        if self._judged and not self.over:
            seen.invariants.follow(self)
        if state is None:
            for judged in self._judged:
                if judged.timed.after is None:
                    self._open_at(judged, judged.timed.from_ns)

    def __repr__(self) -> str:
        return f"OverTime({len(self._judged)} conditions)"

    def state(self) -> dict[str, Any]:
        """Return where each condition stands as plain values."""
        courses = tuple([judged.course.state() for judged in self._judged])
        return {"over": self.over, "ticks": self._ticks, "courses": courses}

    def rows(self) -> Iterator[VerdictRow]:
        """Yield a row for each condition but those that span runs."""
        for judged in self._judged:
            if judged.timed.kind != SOMETIMES:
                yield judged.course.row(judged.timed)

    def sightings(self) -> Iterator[tuple[TimedCondition, Truth]]:
        """Yield each condition that spans runs: whether it was true in this one; None where nothing could judge it."""
        for judged in self._judged:
            if judged.timed.kind == SOMETIMES:
                course = judged.course
                yield judged.timed, True if course.was_true else False if course.was_false else None

    # ---- what happens to it

    @property
    def judgements(self) -> Judgements:
        """The reports that can change a condition, each with what judges it then."""
        by_kind: dict[type, list[Judged]] = {}
        for judged in self._judged:
            for kind in dict.fromkeys([kind for key in sorted(judged.keys) for kind in CHANGED_BY[key]]):
                by_kind.setdefault(kind, []).append(judged)
        return {kind: (self._taker(kind, many),) for kind, many in by_kind.items()}

    def on_found(self) -> None:
        """A rule of the lab was broken."""
        self._look_at([judged for judged in self._judged if "invariants" in judged.keys])

    def check_at_rest(self) -> None:
        """The lab stands still: judge all that a lab watches; what a file says does not depend on who runs it."""
        for judged in self._judged:
            if judged.timed.by_hand and judged.is_judged:
                self._take(judged, forced=True)

    def on_step(self, number: int, *, began: bool) -> None:
        """A step of the file began or ended: the windows that count from it open."""
        for judged in self._judged:
            after = judged.timed.after
            if after is not None and (after.number, after.began) == (number, began) and not judged.course.is_open:
                self._open_at(judged, self._now + after.plus_ns)

    def on_timer(self, payload: tuple[str, int, int]) -> None:
        """Something that was scheduled fell due: a window opens or closes, or time has passed."""
        what, place, due_ns = payload
        if what == LOOKS:
            self._tick()
        elif what == OPENS:
            self._open(self._judged[place])
        elif self._judged[place].course.closes_ns == due_ns and self._judged[place].is_judged:
            self._close(self._judged[place])

    @property
    def judged(self) -> bool:
        """Whether there was any occasion to judge one."""
        return any(judged.course.was_true or judged.course.was_false for judged in self._judged)

    def close(self) -> None:
        """Judge them no more."""
        if self._judged and not self.over:
            self._seen.invariants.leave(self)
        self.over = True

    def end(self) -> None:
        """The run is over: judge everything once more; a window that closes now is closed."""
        for judged in self._judged:
            closes_ns = judged.course.closes_ns
            if judged.is_judged and closes_ns is not None and closes_ns <= self._now:
                self._close(judged)
            elif judged.is_judged:
                self._take(judged, forced=True)
        self.close()

    # ---- windows

    @property
    def _now(self) -> int:
        return self._seen.queries.now

    def _open_at(self, judged: Judged, at_ns: int) -> None:
        if at_ns <= self._now:
            self._open(judged)
        else:
            self._schedule(at_ns, (OPENS, judged.place, at_ns))

    def _open(self, judged: Judged) -> None:
        judged.course.opened_ns = self._now
        if judged.timed.kind == EVENTUALLY:
            self._close_at(judged, self._now + judged.timed.within_ns)
        self._take(judged)

    def _close_at(self, judged: Judged, at_ns: int) -> None:
        judged.course.closes_ns = at_ns
        self._schedule(at_ns, (CLOSES, judged.place, at_ns))

    def _close(self, judged: Judged) -> None:
        """A window closes: what is to hold by now does, or did not in time."""
        course, look = judged.course, judged.then or judged.look
        truth = look.test()
        if truth is True and judged.then is not None:
            course.answer()
        elif truth is True:
            course.settle(OK, self._now)
        elif truth is False:
            self._break(judged, look.condition)
        else:
            course.found = finding(look.condition, self._seen).text
            if judged.then is None:
                course.settle(UNKNOWN, self._now, course.found)
            course.owed_ns = course.closes_ns = None
        if judged.is_judged and judged.then is not None:
            self._follow(judged, judged.then, forced=False)

    # ---- looking

    def _taker(self, kind: type, many: list[Judged]) -> Callable[[Any], None]:
        """Return what takes the reports of a kind: it looks at the conditions that this report can change."""
        if kind is reports.Observed:
            kinds = {row for judged in many for row in _observed(judged)}
            return lambda report: self._look_at(many) if report.kind in kinds else None
        if kind in (reports.OperationEnded, reports.AskEnded):
            others = [judged for judged in many if any(kind in CHANGED_BY[key] for key in judged.keys - BY_LOSSES)]
            return lambda report: self._look_at(many if self._loses() else others)
        return lambda report: self._look_at(many)

    def _loses(self) -> bool:
        """Whether the write that was acknowledged last counts for what a promotion lost, or for how long it took."""
        ledger = self._seen.ledger
        if not ledger.promotions or not ledger.writes:
            return False
        write, last = ledger.writes[-1], ledger.promotions[-1]
        own = write.committed.cluster == last.survivor and write.committed.commit >= last.next_commit
        return own or any(taken.lost(write) for taken in ledger.promotions)

    def _look_at(self, many: list[Judged]) -> None:
        """Judge some conditions; what costs much is looked at once for all of them."""
        self._shared = {} if len(many) > 1 else None
        for judged in many:
            if judged.is_judged:
                self._take(judged)
        self._shared = None

    def _costs(self, look: Looked) -> bool:
        """Whether a condition is not judged now: it would cost too much."""
        return look.at_rest or (look.when_level and not self._once(None, self._is_level))

    def _is_level(self) -> bool:
        """Whether clusters follow others, and each of them has all entries."""
        lags = self._seen.queries.lags()
        return bool(lags) and all(lag.level for lag in lags.values())

    def _holds(self, look: Looked) -> Truth:
        """Whether a condition holds now."""
        return self._once(look.condition, look.test) if look.when_level else look.test()

    def _once(self, of: Expectations | None, test: Test) -> Truth:
        """Return what a test says, or what it said in this look already."""
        shared = self._shared
        if shared is None:
            return test()
        if of not in shared:
            shared[of] = test()
        return shared[of]

    def _take(self, judged: Judged, *, forced: bool = False) -> None:
        """Judge a condition now, unless it costs too much; ``forced``: whatever it costs."""
        if judged.as_time_passes and not self._ticks:
            self._tick_later()
        if judged.then is not None:
            self._follow(judged, judged.then, forced=forced)
        elif forced or not self._costs(judged.look):
            look, kind = judged.look, judged.timed.kind
            truth = self._once(look.condition, look.test) if look.when_level else look.test()
            judged.course.note(truth)
            if truth is False and kind == ALWAYS:
                self._break(judged, judged.look.condition)
            elif truth is True and kind != ALWAYS:
                judged.course.settle(OK, self._now)

    def _follow(self, judged: Judged, then: Looked, *, forced: bool) -> None:
        """Judge a condition that leads to another: whether it is answered, and whether it comes to hold."""
        course, judges_then = judged.course, forced or not self._costs(then)
        if course.owed_ns is not None and judges_then and self._holds(then) is True:
            course.answer()
        if not forced and self._costs(judged.look):
            return
        holds = self._holds(judged.look)
        if holds is True and course.was_asked is not True and course.owed_ns is None:
            course.ask(self._now)
            if judges_then and self._holds(then) is True:
                course.answer()
            else:
                self._close_at(judged, self._now + judged.timed.within_ns)
        course.was_asked = holds

    def _break(self, judged: Judged, condition: Expectations) -> None:
        found = finding(condition, self._seen).text
        judged.course.settle(BROKEN, self._now, found)
        self._seen.invariants.found(judged.timed.label, found)

    def _tick(self) -> None:
        """Time has passed: judge what changes with it."""
        self._ticks = False
        self._look_at([judged for judged in self._judged if judged.as_time_passes])

    def _tick_later(self) -> None:
        """Looked again in a while, where time that passes changes anything: it is the same while all are level."""
        if any(0 < lag.entries < inf for lag in self._seen.queries.lags().values()):
            self._ticks = True
            self._schedule(self._now + LOOK_NS, (LOOKS, 0, 0))


def _judged(place: int, timed: TimedCondition, seen: Seen, course: Course) -> Judged:
    look, then = Looked.of(timed.condition, seen), None if timed.then is None else Looked.of(timed.then, seen)
    keys = look.keys if then is None else look.keys | then.keys
    return Judged(place, timed, course, look, then, not keys.isdisjoint(AS_TIME_PASSES))


def _observed(judged: Judged) -> Iterator[str]:
    """Yield the kinds of observations that a condition counts."""
    for look in filter(None, (judged.look, judged.then)):
        yield from (row.measure for row in look.condition.observed)
        if "fetched" in look.keys:
            yield FETCHING
