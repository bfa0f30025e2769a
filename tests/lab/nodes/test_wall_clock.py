"""A node's wall clock: an offset and a drift, and what they do to what is issued, expires and falls due."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.nodes.wall_clock import WallClock
from labkit.lab.plan.blueprint import NodeSettings
from labkit.seeded import START_NS
from tests.examples import examples

SECOND_NS = 1_000_000_000
HOUR_NS = 3_600 * SECOND_NS


class Now:
    """The lab's time, set by the test."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns


def test_it_is_right_unless_it_is_set_wrong():
    now = Now()
    clock = WallClock(now, START_NS)
    now.ns = 5
    assert (clock.now(), clock.error_ns, clock.lab_ns(START_NS + 9)) == (START_NS + 5, 0, 9)
    assert not clock.set(0, 0)
    assert clock.set(90, 0)
    assert (clock.now(), clock.error_ns) == (START_NS + 95, 90)
    assert not clock.set(90, 0)
    assert clock.changes == 3, "how often it was set, whatever it showed before"


def test_whether_anything_was_decided_by_it_is_forgotten_when_it_is_set():
    clock = WallClock(Now(), START_NS)
    assert (clock.is_wrong, clock.decided) == (False, False)
    clock.set(90, 0)
    assert (clock.error_ns, clock.is_wrong, "90 ns" in repr(clock)) == (90, True, True)
    clock.decided = True
    assert WallClock(Now(), START_NS, *clock.state()).decided
    clock.set(0, 0)
    assert not clock.decided


def test_a_drift_is_counted_from_when_it_was_set():
    now = Now()
    clock = WallClock(now, START_NS)
    now.ns = HOUR_NS
    clock.set(-SECOND_NS, 1_000)
    now.ns = 2 * HOUR_NS
    assert clock.error_ns == -SECOND_NS + HOUR_NS // 1_000
    again = WallClock(now, START_NS, *clock.state())
    assert again.now() == clock.now()
    assert "2600000000 ns off" in repr(clock)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.integers(-HOUR_NS, HOUR_NS),
    st.integers(-100_000, 100_000),
    st.integers(0, HOUR_NS),
    st.integers(0, 10 * HOUR_NS),
)
def test_the_first_instant_at_which_it_shows_a_time(offset_ns, drift_ppm, set_ns, later_ns):
    now = Now()
    clock = WallClock(now, START_NS, offset_ns, drift_ppm, set_ns)
    wanted = START_NS + offset_ns + set_ns + later_ns
    now.ns = clock.lab_ns(wanted)
    assert clock.now() >= wanted
    now.ns -= 1
    assert clock.now() < wanted


# ---- in a lab


def test_a_secondary_whose_clock_is_ahead_says_so_and_goes_on(calm):
    calm.skew("tokyo", "90s")
    calm.run("3s")
    status = calm["tokyo"].status()
    (peer,) = calm["paris"].status()["secondaries"]

    assert abs(int(status["clock_skew_ms"] if "clock_skew_ms" in status else peer["clock_skew_ms"]) - 90_000) < 5
    assert int(peer["replication_primary_canary_age_ms"]) == pytest.approx(90_000, abs=2_000), "inflated by the skew"
    assert calm["paris"].post("secret/data/a", {"data": {"b": 1}}).ok
    calm.run("1s").correct("tokyo")
    calm.run("3s")
    assert calm["tokyo"].root == calm["paris"].root
    assert abs(int(calm["paris"].status()["secondaries"][0]["clock_skew_ms"])) < 5
    events = [(event.verb, event.target, event.detail) for event in calm.trace.select("fault")]
    assert events[0] == ("skew", "tokyo-1", "+1m30s")
    assert events[-1] == ("correct", "tokyo-3", "")


def test_what_expires_goes_by_the_clock_of_the_active_node(quiet):
    token = quiet["paris"].post("auth/token/create", {"ttl": "60s", "policies": ["default"]}).auth["client_token"]
    path = "auth/token/lookup-self"
    assert quiet["paris"].get(path, token=token).ok
    quiet.skew("paris", "2m")
    quiet.run("2s")
    assert quiet["paris"].get(path, token=token).status == 403


def test_the_timer_for_what_falls_due_follows_a_fast_clock():
    lab = Lab.pair(seed=7)
    lab["paris"].post("auth/token/create", {"ttl": "100s", "policies": ["default"]})
    lab.skew("paris", drift=10)
    lab.run("1s")
    lab.run("88s")
    before = len(lab.parts.stores["paris"].list("token/id/"))
    lab.run("3s")
    after = len(lab.parts.stores["paris"].list("token/id/"))
    assert before - after == 1, "a tenth faster: 100 s are over after 91"


def test_a_clock_belongs_to_the_host_and_to_what_is_saved(quiet):
    quiet.skew("paris-1", "-1h", drift=-0.5)
    quiet.run("10s").crash("paris-1")
    quiet.restart("paris-1")
    clock = quiet.parts.nodes["paris-1"].clock
    assert clock.error_ns == -HOUR_NS - 50_000_000
    assert Lab.restore(quiet.snapshot()).parts.nodes["paris-1"].clock.state() == clock.state()
    assert "paris-1 sealed (clock 3600.05 s behind)" in quiet.map().description


def test_a_blueprint_may_begin_with_a_wrong_clock(quiet):
    first, *others = quiet.blueprint.clusters
    own = NodeSettings(name="paris-2", offset_ns=HOUR_NS, drift_ppm=100)
    lab = Lab(replace(quiet.blueprint, clusters=(replace(first, each=(own,)), *others)))
    errors = [lab.parts.nodes[name].clock.error_ns for name in ("paris-1", "paris-2")]
    assert errors == [0, HOUR_NS]
