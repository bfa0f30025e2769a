"""Conditions: whether what is written with the keys of ``expect`` holds in a lab now: true, false, or not known.

1. A condition is an ``Expectations``: plain data, read by ``ConditionPart``.  It is compiled to the queries that it
   names, so that looking costs what they cost; the words of what was found are made when they are asked for.
2. True when every measure is as expected, false when one is otherwise, else not known (None), as where nothing gave an
   occasion to judge.  It says of a lab what ``check`` says of it.
3. Looking changes nothing: no root is folded, nothing is counted, traces are not read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pydantic import model_validator

from labkit.lab.differences import differences
from labkit.lab.records.lag import furthest_behind
from labkit.lab.wire import reports
from labkit.scenario.expect_keys import NOT_READY, Expectations, ExpectedRange, ExpectPart, NamedRange
from labkit.scenario.measures import BROKEN, UNKNOWN, Seen, checked, following_pairs, named_value, steps_that_were
from labkit.scenario.problems import expected
from labkit.service.durations import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labkit.scenario.measures import VerdictRow

Truth = bool | None
"""Whether something holds; None where nothing gave an occasion to judge."""

Test = Callable[[], Truth]

AT_REST = ("differing",)
"""Measures that cost too much to take while a lab is in motion."""

WHEN_LEVEL = ("roots",)
"""Measures that are judged where every secondary is level."""

AS_TIME_PASSES = ("lag time", "lag times")
"""Measures that change with no report."""

_SERVICE: tuple[type, ...] = (
    reports.ModeChanged,
    reports.ServiceChanged,
    reports.LeaderTaken,
    reports.ReachChanged,
    reports.NodeTreated,
)
_ENDED: tuple[type, ...] = (reports.OperationEnded, reports.AskEnded)

CHANGED_BY: dict[str, tuple[type, ...]] = {
    "acknowledged": _ENDED,
    "in doubt": _ENDED,
    "refused": _ENDED,
    "lost": (reports.UpstreamLeft, *_ENDED),
    "steps": (),
    "rpo": (reports.UpstreamLeft, *_ENDED),
    "rto": (reports.UpstreamLeft, *_ENDED),
    "lag": (reports.Progressed,),
    "lag time": (reports.Progressed,),
    "roots": (reports.Progressed,),
    "differing": (),
    "fetched": (reports.Observed,),
    "observed": (reports.Observed,),
    "primary": _SERVICE,
    "modes": _SERVICE,
    "states": _SERVICE,
    "connections": (reports.ConnectionChanged, *_SERVICE),
    "invariants": (),
    "lags": (reports.Progressed,),
    "lag times": (reports.Progressed,),
    "logins": _ENDED,
    "clients": (reports.OperationEnded,),
}
"""{key of expect: the reports that can change it}; a broken rule says so itself."""


class ConditionPart(ExpectPart):
    """A condition: one key of ``expect`` or several, all of which are to be as written."""

    @model_validator(mode="after")
    def _names_something(self) -> ConditionPart:
        if not condition_of(self).text:
            raise ValueError(expected("a condition such as {connections: {tokyo: ready}}", None))
        return self


class Finding(NamedTuple):
    """What was found of a condition: whether it holds, and in words what was measured."""

    holds: Truth
    text: str


def condition_of(part: ExpectPart) -> Expectations:
    """Return a condition as plain data."""
    return Expectations.of(part.model_dump(by_alias=True))


def compiled(condition: Expectations, seen: Seen) -> Test:
    """Return a function that says whether a condition holds now, of one lab; it may be kept as long as the lab."""
    tests = tuple(_tests(condition, seen))

    def holds() -> Truth:
        found: Truth = True
        for test in tests:
            result = test()
            if result is False:
                return False
            if result is None:
                found = None
        return found

    return tests[0] if len(tests) == 1 else holds


def finding(condition: Expectations, seen: Seen) -> Finding:
    """Return whether a condition holds now, with what was measured in words."""
    rows = checked(condition, seen)
    found = {row.status for row in rows}
    return Finding(False if BROKEN in found else None if UNKNOWN in found else True, words_of(rows))


def words_of(rows: tuple[VerdictRow, ...]) -> str:
    """Return what was measured, in words: of what is not as expected, else of all."""
    wrong = [row for row in rows if row.status in (BROKEN, UNKNOWN)]
    return "; ".join([f"{row.what}: {row.measured}" for row in wrong or rows])


def keys_of(condition: Expectations) -> tuple[str, ...]:
    """Return the keys of ``expect`` that a condition has."""
    keys = ["steps" if row.measure.startswith("steps ") else row.measure for row in condition.ranges]
    keys += ["roots"] if condition.roots is not None else []
    keys += ["primary"] if condition.primary is not None else []
    keys += [measure for measure, _, _ in condition.words]
    keys += ["observed"] if condition.observed else []
    keys += ["invariants"] if condition.invariants else []
    keys += [row.key for row in condition.named]
    return tuple(dict.fromkeys(keys))


def changed_by(condition: Expectations) -> tuple[type, ...]:
    """Return the kinds of reports that can change whether a condition holds."""
    return tuple(dict.fromkeys([kind for key in keys_of(condition) for kind in CHANGED_BY[key]]))


# ---- one test for each thing that is expected


def _tests(condition: Expectations, seen: Seen) -> Iterator[Test]:
    for row in condition.ranges:
        yield partial(_in_range, *_limits(row), partial(VALUES[row.measure], seen))
    if condition.roots is not None:
        yield partial(_roots, seen, condition.roots == "equal")
    if condition.primary is not None:
        yield partial(_primary, seen, frozenset(condition.primary))
    for measure, cluster, word in condition.words:
        yield partial(_word, word, partial(_find(measure, seen), cluster))
    for row in condition.observed:
        yield partial(_in_range, *_limits(row), partial(seen.queries.observations.kinds.get, row.measure, 0))
    for named in condition.named:
        yield partial(_in_range, *_limits(named), partial(named_value, named, seen))
    for name, word in condition.invariants:
        yield partial(_invariant, seen, name, word == "held")


def _limits(row: ExpectedRange | NamedRange) -> tuple[float, float]:
    return 0 if row.low is None else row.low, float("inf") if row.high is None else row.high


def _in_range(low: float, high: float, value: Callable[[], float | None]) -> Truth:
    found = value()
    return None if found is None else low <= found <= high


def _find(measure: str, seen: Seen) -> Callable[[str], str]:
    queries = seen.queries
    return {"modes": queries.mode_of, "states": queries.state_of, "connections": queries.connection_of}[measure]


def _word(word: str, find: Callable[[], str]) -> bool:
    found = find()
    return found == word or (word == NOT_READY and found != "ready")


def _primary(seen: Seen, wanted: frozenset[str]) -> Truth:
    queries = seen.queries
    modes = [(name, queries.mode_of(name)) for name in queries.cluster_names]
    found = {name for name, mode in modes if mode == "primary"}
    if found == wanted:
        return True
    # A cluster without an active node may still be what was expected of it.
    return None if found <= wanted <= found | {name for name, mode in modes if mode == "unknown"} else False


def _roots(seen: Seen, equal: bool) -> Truth:
    pairs, root = following_pairs(seen.queries), seen.queries.root_as_is
    roots = [(root(one), root(other)) for one, other in pairs]
    if not roots or not all(one and other for one, other in roots):
        return None
    return all(one == other for one, other in roots) == equal


def _invariant(seen: Seen, name: str, held: bool) -> bool:
    return (name not in seen.invariants.broken) == held


def _lag(seen: Seen) -> float | None:
    lags = seen.queries.lags()
    return furthest_behind(lags.values()).entries if lags else None


def _lag_time(seen: Seen) -> float | None:
    lags = seen.queries.lags()
    return furthest_behind(lags.values()).seconds * SECOND_NS if lags else None


def _rpo(seen: Seen) -> float | None:
    if not seen.ledger.promotions:
        return None
    point = seen.ledger.rpo()
    return round(max(point.seconds, point.seconds_after) * SECOND_NS)


def _rto(seen: Seen) -> float | None:
    seconds = seen.ledger.rto().seconds if seen.ledger.promotions else None
    return None if seconds is None else round(seconds * SECOND_NS)


def _differing(seen: Seen) -> float | None:
    pairs = following_pairs(seen.queries)
    return sum(len(differences(seen.queries, *pair)) for pair in pairs) if pairs else None


VALUES: dict[str, Callable[[Seen], float | None]] = {
    "acknowledged": lambda seen: len(seen.ledger.writes),
    "lost": lambda seen: len(seen.ledger.lost()) if seen.ledger.promotions else 0,
    "in doubt": lambda seen: seen.ledger.in_doubt,
    "refused": lambda seen: seen.ledger.refused,
    "steps done": lambda seen: steps_that_were("done", seen),
    "steps refused": lambda seen: steps_that_were("refused", seen),
    "steps skipped": lambda seen: steps_that_were("skipped", seen),
    "lag": _lag,
    "lag time": _lag_time,
    "rpo": _rpo,
    "rto": _rto,
    "differing": _differing,
    "fetched": lambda seen: seen.queries.observations.fetched,
}
"""{measure: its value now, None where there is none}; durations in nanoseconds."""
