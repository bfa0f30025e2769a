"""Measures: what is measured of a lab, at the end of a run or in a check, and whether it is as expected.

*ok* and *broken* are certain; *unknown* means that there was no occasion to judge.  A measure without an expectation is
listed and not judged.  A new measure (``expect_keys``) is a function here that yields its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from labkit.lab.differences import differences
from labkit.lab.records.lag import furthest_behind
from labkit.lab.records.outcome_counts import ACKNOWLEDGED
from labkit.lab.wire import reports
from labkit.scenario.expect_keys import NOT_READY, STEPS, ExpectedRange, range_text
from labkit.scenario.value_types import write_duration
from labkit.service.durations import SECOND_NS

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.queries import Queries
    from labkit.lab.records.loss_and_outage import RecoveryLedger, RecoveryPoint
    from labkit.scenario.expect_keys import Expectations, NamedRange

OK, BROKEN, UNKNOWN, NOT_JUDGED = "ok", "broken", "unknown", ""

COUNT_TITLES = {
    "acknowledged": "writes acknowledged",
    "lost": "of them lost",
    "in doubt": "operations in doubt",
    "refused": "operations refused",
}
OUTCOMES = {
    "answered": reports.ANSWERED,
    "acknowledged": ACKNOWLEDGED,
    "refused": reports.REFUSED,
    "in doubt": reports.UNKNOWN,
}
"""{an outcome as files call it: its name in the counts}."""

TIME_TITLES = {"rpo": "recovery point (RPO)", "rto": "recovery time (RTO)"}


class VerdictRow(NamedTuple):
    """One row of a verdict; ``key`` is the expectation's name in the file (``rpo``, ``one primary``, ``step 3``)."""

    what: str
    expected: str
    measured: str
    status: str
    key: str


class EndedStep(Protocol):
    """What is counted of a step that ended."""

    @property
    def ok(self) -> bool:
        """Whether it was done."""

    @property
    def skipped(self) -> bool:
        """Whether it was skipped."""


class Seen(NamedTuple):
    """What measures are taken of: a lab's queries, its ledger and its invariants, and the steps that ended so far."""

    queries: Queries
    ledger: RecoveryLedger
    invariants: Invariants
    steps: Sequence[EndedStep] = ()


def measured(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Yield a row for each measure but the invariants, judged where something is expected of it."""
    yield from _counts(expect, seen)
    yield from _step_counts(expect, seen)
    yield from _times(expect, seen)
    yield from _lags(expect, seen)
    yield from _differing(expect, seen)
    yield from _fetched(expect, seen)
    yield from _roots(expect, seen)
    yield from _primaries(expect, seen)
    yield from _words(expect, seen)
    yield from _observed(expect, seen)
    yield from _named(expect, seen)


def checked(expect: Expectations, seen: Seen) -> tuple[VerdictRow, ...]:
    """Return a row for each thing that is expected now; unlike at the end, of an invariant only when it is written."""
    named = dict(expect.invariants)
    rows = (*measured(expect, seen), *(row for row in judged_invariants(expect, seen) if row.key in named))
    return tuple([row for row in rows if row.status != NOT_JUDGED or row.key in named])


def _counts(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    ranges, after_fault = _ranges(expect), seen.ledger.rpo().after_fault
    counts = {
        "acknowledged": len(seen.ledger.writes),
        "lost": len(seen.ledger.lost()),
        "in doubt": seen.ledger.in_doubt,
        "refused": seen.ledger.refused,
    }
    for key, what in COUNT_TITLES.items():
        count, expected = counts[key], ranges.get(key)
        text = f"{count}, {after_fault} of them after the fault" if key == "lost" and after_fault else str(count)
        yield VerdictRow(what, range_text(str, expected), text, _status(expected, count), key)


def steps_that_were(how: str, seen: Seen) -> int:
    """Count the steps that were done, refused or skipped."""
    return sum(("done" if step.ok else "skipped" if step.skipped else "refused") == how for step in seen.steps)


def _step_counts(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Count steps by how they ended; without an expectation they are not listed."""
    ranges = _ranges(expect)
    for how in STEPS:
        expected = ranges.get(f"steps {how}")
        if expected is not None:
            count = steps_that_were(how, seen)
            text = range_text(str, expected)
            yield VerdictRow(f"steps {how}", text, str(count), _status(expected, count), f"steps {how}")


def _times(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    ranges = _ranges(expect)
    promoted, point, seconds = bool(seen.ledger.promotions), seen.ledger.rpo(), seen.ledger.rto().seconds
    reach = max(point.seconds, point.seconds_after)  # both parts have to be as expected
    times = (("rpo", reach, point_text(point)), ("rto", seconds, "" if seconds is None else _time_text(seconds)))
    for key, measured_s, words in times:
        expected = ranges.get(key)
        text = range_text(write_duration, expected)
        if promoted and measured_s is not None:
            yield VerdictRow(TIME_TITLES[key], text, words, _status(expected, round(measured_s * SECOND_NS)), key)
        elif expected is not None or promoted:
            why = "no client wrote to the survivor" if promoted else "no cluster was promoted"
            yield VerdictRow(TIME_TITLES[key], text, why, UNKNOWN if expected is not None else NOT_JUDGED, key)


def point_text(point: RecoveryPoint) -> str:
    """Say how many writes were lost that were acknowledged before the fault, how many after it, and how far each reach.

    ``3 before, over 120ms``, ``0 before, 100 after, over 1m35s``; ``0s`` where none was lost.
    """
    if not point.writes:
        return _time_text(0)
    parts = [f"{point.before_fault} before"]
    if point.before_fault:
        parts.append(f"over {_time_text(point.seconds)}")
    if point.after_fault:
        parts += [f"{point.after_fault} after", f"over {_time_text(point.seconds_after)}"]
    return ", ".join(parts)


def _time_text(seconds: float) -> str:
    return write_duration(round(seconds * SECOND_NS))


def _ranges(expect: Expectations) -> dict[str, ExpectedRange]:
    return {expected.measure: expected for expected in expect.ranges}


def _status(expected: ExpectedRange | None, value: float) -> str:
    if expected is None:
        return NOT_JUDGED
    low_enough = expected.high is None or value <= expected.high
    return OK if low_enough and (expected.low is None or value >= expected.low) else BROKEN


def _lags(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Judge the secondary that is furthest behind; without an expectation lag is not listed."""
    ranges = _ranges(expect)
    if not {"lag", "lag time"} & set(ranges):
        return
    lags = seen.queries.lags()
    entries, seconds = furthest_behind(lags.values())
    texts = {name: lag.text for name, lag in lags.items()}
    times = {name: _seconds_text(lag.seconds) for name, lag in lags.items()}
    rows = (("lag", entries, texts, str), ("lag time", seconds * SECOND_NS, times, write_duration))
    for key, value, words, write in rows:
        expected = ranges.get(key)
        if expected is not None:
            found = "; ".join(f"{name}: {text}" for name, text in words.items()) or "no cluster follows another"
            status = _status(expected, value) if lags else UNKNOWN
            yield VerdictRow(key, range_text(write, expected), found, status, key)


def _seconds_text(seconds: float) -> str:
    return _time_text(seconds) if seconds < inf else "no complete state yet"


def following_pairs(queries: Queries) -> list[tuple[str, str]]:
    """Return each secondary that follows a cluster, after that one."""
    secondaries = [plan.name for plan in queries.blueprint.clusters if queries.mode_of(plan.name) == "secondary"]
    return [(upstream, name) for name in secondaries if (upstream := queries.upstream_of(name))]


def _roots(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Compare the roots of each secondary and of the primary that it follows."""
    expected, followed, root = expect.roots, following_pairs(seen.queries), seen.queries.root_as_is
    leaderless = [name for pair in followed for name in pair if not root(name)]
    unlike = [f"{one} and {other} differ" for one, other in followed if root(one) != root(other)]
    if followed and not leaderless:
        found = "different" if unlike else "equal"
        status = NOT_JUDGED if expected is None else OK if found == expected else BROKEN
        yield VerdictRow("roots", expected or "", ": ".join([found, *unlike[:1]]), status, "roots")
    elif expected is not None:
        why = f"{leaderless[0]} has no active node" if leaderless else "no cluster follows another"
        yield VerdictRow("roots", expected, why, UNKNOWN, "roots")


def _primaries(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    expected = expect.primary
    modes = _modes(seen)
    found = sorted(name for name, mode in modes.items() if mode == "primary")
    leaderless = sorted(name for name, mode in modes.items() if mode == "unknown")
    text = ", ".join(found) or "none"
    if leaderless:
        text += f" ({', '.join(leaderless)} has no active node)"
    if expected is None:
        yield VerdictRow("primary", "", text, NOT_JUDGED, "primary")
        return
    if tuple(found) == expected:
        status = OK
    else:
        # A cluster without an active node may still be what was expected of it.
        status = UNKNOWN if set(found) <= set(expected) <= {*found, *leaderless} else BROKEN
    yield VerdictRow("primary", ", ".join(expected) or "none", text, status, "primary")


def _modes(seen: Seen) -> dict[str, str]:
    return {plan.name: seen.queries.mode_of(plan.name) for plan in seen.queries.blueprint.clusters}


def judged_invariants(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Yield a row for each invariant: it is expected to hold unless it is written otherwise."""
    written = dict(expect.invariants)
    for name, violation in seen.invariants.verdicts().items():
        if not seen.invariants.applies(name):
            expected = written.get(name, "")
            status = NOT_JUDGED if not expected else OK if expected == "held" else BROKEN
            yield VerdictRow(name, expected, "does not apply", status, name)
            continue
        expected = written.get(name, "held")
        text = "held" if violation is None else f"broken at {write_duration(violation.at_ns)}: {violation.detail}"
        status = OK if (expected == "held") == (violation is None) else BROKEN
        yield VerdictRow(name, expected, text, status, name)


def _differing(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Count the keys that stores do not hold alike; without an expectation they are not compared."""
    expected, followed = _ranges(expect).get("differing"), following_pairs(seen.queries)
    if expected is not None:
        count = sum(len(differences(seen.queries, *pair)) for pair in followed)
        status = _status(expected, count) if followed else UNKNOWN
        text = str(count) if followed else "no cluster follows another"
        yield VerdictRow("keys that differ", range_text(str, expected), text, status, "differing")


def _fetched(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Count what comparisons asked for, the first ones of new secondaries included."""
    expected = _ranges(expect).get("fetched")
    if expected is not None:
        count = seen.queries.observations.fetched
        yield VerdictRow("keys fetched", range_text(str, expected), str(count), _status(expected, count), "fetched")


def _words(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Compare what a status would say of a cluster: its mode, its state, the state of its connection."""
    find = {
        "modes": seen.queries.mode_of,
        "states": seen.queries.state_of,
        "connections": seen.queries.connection_of,
    }
    titles = {"modes": "mode", "states": "state", "connections": "connection"}
    for measure, cluster, word in expect.words:
        found = find[measure](cluster)
        status = OK if found == word or (word == NOT_READY and found != "ready") else BROKEN
        yield VerdictRow(f"{titles[measure]} of {cluster}", word, found or "none", status, f"{measure} {cluster}")


def _observed(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Count what nodes observed so far."""
    for expected in expect.observed:
        count = seen.queries.observations.kinds.get(expected.measure, 0)
        text = range_text(str, expected)
        yield VerdictRow(f"observed: {expected.measure}", text, str(count), _status(expected, count), expected.measure)


def named_value(row: NamedRange, seen: Seen) -> float | None:
    """Return what a measure of a cluster, of logins or of a group of clients is now; None where there is none."""
    if row.key in ("lags", "lag times"):
        lag = seen.queries.lags().get(row.name)
        return None if lag is None else lag.seconds * SECOND_NS if row.is_time else lag.entries
    if row.key == "logins":
        return seen.ledger.outcomes.logins[OUTCOMES[row.name]]
    counts = seen.ledger.outcomes.of(row.name)
    if row.is_time:
        return counts.longest_ns if counts.counts[reports.ANSWERED] else None
    return counts.counts[OUTCOMES[row.part]]


def _named(expect: Expectations, seen: Seen) -> Iterator[VerdictRow]:
    """Measure single secondaries, logins, and what groups of clients got; without an expectation none is listed."""
    for row in expect.named:
        value = named_value(row, seen)
        if value is None:
            text = "nothing was answered" if row.key == "clients" else "it follows no cluster"
        elif value == inf:
            text = "no complete state yet"
        else:
            text = write_duration(round(value)) if row.is_time else str(value)
        status = UNKNOWN if value is None else _status(ExpectedRange(row.key, row.low, row.high), value)
        yield VerdictRow(row.title, row.range_text, text, status, f"{row.key} {row.name}")
