"""Lag in entries and seconds: by itself, and of clusters that are level, cut off, down, or follow nobody."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.records.lag import LEVEL, NOT_FOLLOWING, Lag, Progress, Series
from labkit.lab.wire.reports import ConnectionChanged, Progressed

SECOND_NS = 1_000_000_000


def put(lab: Lab, count: int, cluster: str = "paris") -> None:
    for number in range(count):
        lab[cluster].post(f"secret/data/{lab.now}-{number}", {"data": {"n": number}}).raise_for_status()


# ---- by itself


def test_a_number_is_reached_when_it_or_a_later_one_is():
    series = Series()
    for at_ns, number in ((10, 1), (20, 2), (30, 5), (40, 5)):
        series.add(at_ns, number)

    assert [series.reached(number, series.at(99)) for number in (1, 2, 3, 5)] == [10, 20, 30, 30]
    assert len(series) == 3
    assert [series.at(at_ns) for at_ns in (9, 10, 29, 30)] == [-1, 0, 1, 2]


def test_a_count_that_began_again_is_not_mixed_with_the_one_before():
    series = Series()
    for at_ns, number in ((10, 1), (20, 7), (30, 0), (40, 3)):
        series.add(at_ns, number)

    assert series.reached(2, series.at(50)) == 40
    assert series.reached(2, series.at(25)) == 20


def test_lag_counts_entries_and_since_when_the_oldest_waits():
    progress = Progress()
    for row in ((1, "paris", "", 4), (2, "tokyo", "paris", None), (3, "tokyo", "paris", 4)):
        progress.take(Progressed(*row))
    progress.take(Progressed(SECOND_NS, "paris", "", 5))
    progress.take(Progressed(2 * SECOND_NS, "paris", "", 6))
    progress.take(Progressed(4 * SECOND_NS, "tokyo", "paris", 5))

    assert progress.lag("paris", "tokyo", 2) == NOT_FOLLOWING
    assert progress.lag("paris", "tokyo", 3) == LEVEL
    assert progress.lag("paris", "tokyo", 3 * SECOND_NS) == Lag(2, 2.0)
    assert progress.lag("paris", "tokyo", 5 * SECOND_NS) == Lag(1, 3.0)
    assert progress.lag("tokyo", "paris", 5 * SECOND_NS) == NOT_FOLLOWING


def test_who_is_followed_is_known_of_every_instant():
    progress = Progress()
    for row in ((5, "lima", "paris", 1), (9, "lima", "", None), (12, "lima", "tokyo", None)):
        progress.take(Progressed(*row))

    assert [progress.upstream("lima", at_ns) for at_ns in (4, 5, 8, 9, 11, 12)] == [
        "",
        "paris",
        "paris",
        "",
        "",
        "tokyo",
    ]


def test_what_was_applied_of_another_upstream_does_not_count():
    progress = Progress()
    for row in ((1, "tokyo", "", 2), (1, "paris", "", 9), (2, "lima", "paris", 9), (3, "lima", "tokyo", None)):
        progress.take(Progressed(*row))

    assert progress.lag("tokyo", "lima", 4) == NOT_FOLLOWING
    progress.take(Progressed(5, "lima", "tokyo", 2))
    assert progress.lag("tokyo", "lima", 5) == LEVEL


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40))
def test_lag_is_what_a_recount_finds(moves):
    """Each move: the primary makes some entries, the secondary applies some of what is missing, a second passes."""
    progress, made, applied, times = Progress(), 0, 0, {}
    progress.take(Progressed(0, "paris", "", 0))
    progress.take(Progressed(0, "tokyo", "paris", 0))
    seen = []
    for number, (more, done) in enumerate(moves, 1):
        at_ns = number * SECOND_NS
        times.update(dict.fromkeys(range(made + 1, made + more + 1), number))
        made, applied = made + more, min(made + more, applied + done)
        progress.take(Progressed(at_ns, "paris", "", made))
        progress.take(Progressed(at_ns, "tokyo", "paris", applied))
        seen.append((at_ns, Lag(made - applied, float(number - times[applied + 1]) if applied < made else 0.0)))

    again = Progress(progress.state())
    for at_ns, lag in seen:
        assert progress.lag("paris", "tokyo", at_ns) == lag == again.lag("paris", "tokyo", at_ns)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=60), st.booleans())
def test_what_is_forgotten_is_none_of_what_a_secondary_has_not_applied(moves, restored):
    """As above; sometimes the secondary ceases to follow, and begins again at once."""
    whole, cut = Progress(), Progress()
    cut.newest = 3
    made = applied = 0
    for number, (more, done, changed) in enumerate([(0, 0, False), *moves]):
        at_ns = number * SECOND_NS
        made, applied = made + more, min(made + more, applied + done)
        if restored and number % 7 == 6:
            cut = Progress(cut.state())
            cut.newest = 3
        for progress in (whole, cut):
            if changed:
                progress.take(Progressed(at_ns, "tokyo", "", None))
                progress.connect(ConnectionChanged(at_ns, "tokyo", f"state {number}"))
            progress.take(Progressed(at_ns, "paris", "", made))
            progress.take(Progressed(at_ns, "tokyo", "paris", applied))
        if not any(ceased for _, _, ceased in moves):
            assert cut.lag("paris", "tokyo", at_ns) == whole.lag("paris", "tokyo", at_ns)
        assert cut.lag("paris", "tokyo", at_ns).entries == whole.lag("paris", "tokyo", at_ns).entries
        assert cut.connections.get("tokyo", [])[-1:] == whole.connections.get("tokyo", [])[-1:]
        for earlier_ns in range(0, at_ns, SECOND_NS):
            known, true = cut.lag("paris", "tokyo", earlier_ns), whole.lag("paris", "tokyo", earlier_ns)
            assert known == NOT_FOLLOWING or (known.entries == true.entries and known.seconds <= true.seconds)
        state = cut.state()
        assert len(state["applied"][1][1][0]) < 9
        assert len(state["made"][0][1][0]) < 9 + made - applied
        assert all(len(rows) < 9 for _, rows in (*state["connections"], *state["follows"]))


# ---- in a lab


def test_level_is_0_and_0(calm):
    lag = calm.lag("paris", "tokyo")

    assert (lag.entries, lag.seconds, lag.level) == (0, 0.0, True)


def test_a_write_is_a_lag_of_one_until_it_arrives(calm):
    put(calm, 1)
    began = calm.now
    assert calm.lag("paris", "tokyo").entries == 1
    calm.run(until=lambda lab: lab.lag("paris", "tokyo").level)

    assert 70_000_000 < calm.now - began < 120_000_000
    assert calm.queries.lag("paris", "tokyo", calm.now - 10_000_000).entries == 1


def test_a_secondary_that_is_cut_off_is_further_behind_with_every_write_and_every_second(calm):
    calm.partition("paris", "tokyo")
    put(calm, 3)
    calm.run("40s")
    lag = calm.lag("paris", "tokyo")
    assert lag.entries == 3
    assert 40 < lag.seconds < 40.1
    calm.heal()
    calm.run(until=lambda lab: lab.lag("paris", "tokyo").level)

    assert calm["paris"].root == calm["tokyo"].root


@pytest.mark.parametrize("target", ["paris", "tokyo"])
def test_lag_is_known_while_a_cluster_is_down(calm, target):
    calm.partition("paris", "tokyo")
    put(calm, 2)
    calm.crash(target)
    calm.run("2s")

    assert calm.lag("paris", "tokyo").entries == 2
    assert calm.lag("paris", "tokyo").seconds > 2


def test_a_cluster_that_does_not_follow_the_other_is_infinitely_behind(quiet, calm):
    assert quiet.lag("paris", "tokyo") == (inf, inf)
    assert calm.lag("tokyo", "paris") == (inf, inf)
    calm.work_through("disable", cluster="tokyo")
    assert calm.lag("paris", "tokyo") == (inf, inf)


def test_before_the_first_sync_it_is_infinite_and_then_level(quiet):
    put(quiet, 3)
    quiet.work_through("enable-primary", cluster="paris")
    assert quiet.queries.lags() == {}
    quiet.replicate("paris", "tokyo")

    assert quiet.queries.lags() == {"tokyo": (0, 0.0)}


def test_lag_does_not_move_at_demotion_and_turns_round_with_a_failover(calm):
    put(calm, 1)
    calm["paris"].demote()
    assert calm.lag("paris", "tokyo").entries == 1
    calm.run("1s")
    assert calm.lag("paris", "tokyo") == (0, 0.0)
    calm["tokyo"].promote()
    calm["paris"].repoint("tokyo")

    assert calm.queries.lags() == {"paris": (0, 0.0)}


def test_a_takeover_does_not_change_it(calm):
    calm.partition("paris", "tokyo")
    put(calm, 4)
    for node in ("paris-1", "tokyo-1"):
        calm.crash(node)
    calm.run("10s")
    assert calm.lag("paris", "tokyo").entries == 4
    put(calm, 1)

    assert calm.lag("paris", "tokyo").entries == 5


def test_a_restored_lab_knows_the_same_lags(lab):
    lab.partition("paris", "tokyo")
    lab.run("3s")
    other = Lab.restore(lab.snapshot())
    lab.run("2s")
    other.run("2s")

    assert lab.lag("paris", "tokyo") == other.lag("paris", "tokyo")
    assert lab.lag("paris", "tokyo").entries > 20
    assert other.queries.lag("paris", "tokyo", other.now - 3 * SECOND_NS) == lab.queries.lag(
        "paris", "tokyo", lab.now - 3 * SECOND_NS
    )


def test_after_a_snapshot_nothing_is_reported_twice(calm):
    other = Lab.restore(calm.snapshot())
    calm.run("5s")
    other.run("5s")

    assert calm.queries.progress.state() == other.queries.progress.state()


def test_a_connection_is_noted_when_it_comes_into_another_state():
    progress = Progress()
    for at_ns, state in ((1, "connecting"), (2, "connecting"), (3, "ready"), (9, "connecting")):
        progress.connect(ConnectionChanged(at_ns, "tokyo", state))

    assert progress.connections == {"tokyo": [(1, "connecting"), (3, "ready"), (9, "connecting")]}
    assert Progress(progress.state()).connections == progress.connections
