"""Lag over time: the ends and the furthest points are those that asking at every instant finds."""

from __future__ import annotations

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.lab.measures.lag_over_time import LagPoint, lag_over_time, largest
from labkit.lab.records.lag import Progress
from labkit.lab.wire.reports import Progressed
from tests.examples import examples

REPORT = st.tuples(
    st.integers(0, 4),
    st.sampled_from(["paris", "tokyo", "lima"]),
    st.sampled_from(["", "paris", "tokyo"]),
    st.booleans(),
)


def recorded(reports: list[tuple[int, str, str, bool]]) -> tuple[Progress, int]:
    """Reports some nanoseconds apart; numbers grow by one, and begin again now and then."""
    progress, now_ns, numbers = Progress(), 0, {"paris": 0, "tokyo": 0, "lima": 0}
    for wait_ns, cluster, upstream, known in reports:
        now_ns += wait_ns
        upstream = "" if upstream == cluster else upstream
        number = numbers[cluster] = (numbers[cluster] + 1) % 7 if not upstream else max(0, numbers[upstream] - wait_ns)
        progress.take(Progressed(now_ns, cluster, upstream, number if known else None))
    return progress, now_ns + 3


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(REPORT, max_size=25), st.integers(1, 9))
def test_it_is_what_asking_at_every_instant_finds(reports, every_ns):
    progress, now_ns = recorded(reports)
    points = {(point.secondary, point.at_ns): point for point in lag_over_time(progress, now_ns, every_ns)}
    for name in ("paris", "tokyo", "lima"):
        for start_ns in range(0, now_ns, every_ns):
            end_ns = min(start_ns + every_ns, now_ns)
            point = points.pop((name, end_ns), None)
            asked = [(progress.upstream(name, at), at) for at in range(start_ns, end_ns + 1)]
            followed = [(upstream, at) for upstream, at in asked if upstream]
            assert (point is not None) == bool(followed)
            if point is None:
                continue
            lags = [progress.lag(upstream, name, at) for upstream, at in followed]
            assert point[2:5] == (followed[-1][0], *lags[-1])
            assert point.max_entries == max(lag.entries for lag in lags)
            assert point.max_seconds == max(lag.seconds for lag in lags)
    assert points == {}


def test_it_is_what_a_lab_says(lab):
    lab.partition("paris", "tokyo")
    lab.run("2s")
    points = lag_over_time(lab.queries.progress, lab.now, lab.now)

    assert [point.secondary for point in points] == ["tokyo"]
    assert (points[0].entries, points[0].seconds) == tuple(lab.lag("paris", "tokyo"))
    assert points[0].entries > 10


def test_what_a_survivor_was_behind_when_it_took_over_is_in_it(lab):
    lab.partition("paris", "tokyo")
    lab.run("1500ms")
    behind = lab.lag("paris", "tokyo")
    lab["tokyo"].promote(force=True)
    lab.run("3s")
    points = lag_over_time(lab.queries.progress, lab.now, 10**9)

    assert points[-1].max_seconds >= points[-1].seconds >= behind.seconds > 1
    assert points[-1].at_ns <= 5 * 10**9, "afterwards it follows nobody"


def test_where_nobody_follows_there_is_no_point(quiet):
    assert lag_over_time(quiet.run("2s").queries.progress, quiet.now, 10**9) == ()


def test_the_largest_leaves_out_what_is_not_known():
    rows = [
        LagPoint("tokyo", at_ns, "paris", 0, 0.0, *most) for at_ns, most in enumerate([(inf, inf), (3, 2.0), (9, 1.0)])
    ]
    assert largest(tuple(rows)) == rows[1]
    assert largest(tuple(rows[:1])) is None
    assert largest(()) is None
