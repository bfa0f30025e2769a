"""No return report: two tables, one a step and one an instant, and what they say in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING

from labkit.hunt.no_return.breaking_runs import WrittenRun, has_broken
from labkit.hunt.no_return.nothing_more import StoppedRun, point_of_no_return
from labkit.hunt.no_return.other_luck import Branched, Curve
from labkit.scenario.many.many_runs import percent, rate_bounds, rate_text
from labkit.scenario.report import columns_of
from labkit.scenario.value_types import write_duration

BAR = 20
VARIED = "other keys, nonces, and delays and losses of the network; the same steps at the same instants"


def report_of(run: WrittenRun, key: str, stopped: tuple[StoppedRun, ...], curve: Curve, columns: int = 0) -> str:
    """Return the report, no wider than a number of columns; 0 is as wide as it is."""
    lines = [
        run.verdict.summary,
        f"of interest: {key or 'whatever breaks'}",
        "",
        "nothing more is done from here on:",
    ]
    rows = [_stopped_row(run, one, key) for one in stopped]
    lines += columns_of([("after step", "which is", "began", "then"), *rows], columns)
    lines += [_point_text(run, stopped, key), "", f"other luck from here on: {VARIED}"]
    heads = ("instant", "branches", "broken", "rate", "share")
    lines += columns_of([heads, *[_branched_row(one) for one in curve.instants]], columns)
    return "\n".join([*lines, *_change_text(run, key, curve)])


def is_decided(stopped: tuple[StoppedRun, ...], curve: Curve) -> bool:
    """Whether a point of no return, or an instant at which luck decides, was found."""
    return curve.change is not None or (point_of_no_return(stopped) is not None and stopped[-1].breaks)


def _stopped_row(run: WrittenRun, one: StoppedRun, key: str) -> tuple[str, ...]:
    then = f"{key or 'something'} breaks" if one.breaks else "it does not break"
    if not one.steps:
        return "", "none", "", then
    began_ns = run.began_ns.get(one.steps)
    text = run.scenario.timeline[one.steps - 1].text
    return str(one.steps), text, "" if began_ns is None else write_duration(began_ns), then


def _point_text(run: WrittenRun, stopped: tuple[StoppedRun, ...], key: str) -> str:
    point, what = point_of_no_return(stopped), key or "something"
    if point is None:
        return "no step is a point of no return: as it is written it does not break"
    if point == 0:
        return f"{what} breaks though no step is done"
    return f"point of no return: after step {point} ({run.scenario.timeline[point - 1].text}) {what} breaks anyway"


def _branched_row(one: Branched) -> tuple[str, ...]:
    return (
        write_duration(one.at_ns),
        f"{one.runs}",
        f"{one.broken}",
        rate_text(one.broken, one.runs),
        "#" * round(BAR * one.rate),
    )


def _change_text(run: WrittenRun, key: str, curve: Curve) -> Iterator[str]:
    count = f"{curve.branches:,} branches"
    if curve.change is None:
        yield _flat_text(curve, count, as_written=has_broken(run.verdict, key))
        return
    low, high = curve.change
    within = f"between {write_duration(low.at_ns)} and {write_duration(high.at_ns)}"
    yield f"luck is decided {within}: there the rate goes from {low.rate:.0%} to {high.rate:.0%} ({count})"
    for step in run.scenario.timeline:
        if low.at_ns <= run.began_ns.get(step.number, -1) <= high.at_ns:
            yield f"  step {step.number} begins then, at {write_duration(run.began_ns[step.number])}: {step.text}"


def _flat_text(curve: Curve, count: str, *, as_written: bool) -> str:
    """Say what luck does where the rate changes at no instant; the run as it is written is one more of them."""
    rates = {one.rate for one in curve.instants}
    if rates not in ({0.0}, {1.0}):
        return f"luck decides, but at no instant by itself: in {count} the bounds of neighbours meet"
    if as_written == (rates == {1.0}):
        return f"luck changes nothing: it breaks in {'all' if as_written else 'none of'} {count}"
    written = "breaks" if as_written else "does not break"
    rare = percent(rate_bounds(0, curve.branches)[1], ROUND_CEILING)
    return f"as it is written it {written}, unlike in all {count}: a rare luck, that of at most {rare} of branches"
