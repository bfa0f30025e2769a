"""What the faults of hosts met is read where the hosts count it, from the fault's beginning to its end."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.fault_meters import FaultMeters


def newest(lab: Lab) -> int:
    """What the newest fault of a lab met so far."""
    meters = FaultMeters(lab.parts)
    return meters.met(meters.last)


def test_a_pause_counts_what_waited_until_it_ended(quiet):
    quiet.pause("paris-1")
    assert newest(quiet) == 0
    waiting = newest(quiet.run("2s"))
    quiet.resume("paris-1")

    assert newest(quiet) == waiting > 0
    quiet.run("2s")
    assert newest(quiet) == waiting


def test_a_crash_ends_a_pause(quiet):
    quiet.pause("paris-1")
    waiting = newest(quiet.run("2s"))
    quiet.crash("paris-1")

    assert newest(quiet) == waiting > 0


def test_an_impostor_counts_from_when_it_came(quiet):
    quiet.replicate("paris", "tokyo")
    quiet.impersonate("paris-1")
    first = newest(quiet.run("20s"))
    quiet.expose("paris-1")
    quiet.impersonate("paris-1")

    assert (first > 0, newest(quiet)) == (True, 0)


def test_a_crash_inside_a_commit_counts_when_it_comes(quiet):
    quiet.crash_in_commit("paris")
    assert newest(quiet) == 0
    with pytest.raises(TimeoutError):
        quiet["paris"].post("secret/data/a", {"data": {"n": 1}}, timeout="1s")

    assert newest(quiet) == 1


def test_a_flap_counts_what_was_lost_while_it_was_down(quiet):
    quiet.replicate("paris", "tokyo")
    quiet.flap("paris", "tokyo", "2s", "1s")
    assert newest(quiet.run("1s")) == 0
    lost = newest(quiet.run("10s"))
    quiet.steady()
    quiet.partition("paris", "tokyo")

    assert lost > 0
    assert FaultMeters(quiet.parts).met(1) == newest(quiet) + lost


def test_of_the_cloud_each_endpoint_is_counted(quiet):
    quiet.cloud_outage("keys")
    config = quiet.cloud.config
    quiet["paris"].post("sys/auth/cloud", {"type": "cloud"})
    quiet["paris"].post(
        "auth/cloud/config", {**{key: config[key] for key in ("tenant_id", "resource")}, "max_retries": 0}
    )
    meters = FaultMeters(quiet.parts)
    host = quiet.parts.clouds["cloud"]
    host.cloud.failures.answer("token", 0)
    assert meters.met(meters.last) == 0
    host.cloud.failures.answer("keys", 0)
    quiet.cloud_recover("keys")

    assert (meters.met(1), newest(quiet)) == (1, 0)
    assert Lab.restore(quiet.snapshot()).parts.clouds["cloud"].cloud.failures.asked == {"token": 1, "keys": 1}


def test_what_changes_nothing_is_not_counted_as_a_change(quiet):
    meters = FaultMeters(quiet.parts)
    for act, changes in (
        (lambda: quiet.heal(), 0),
        (lambda: quiet.crash("paris-2"), 1),
        (lambda: quiet.crash("paris-2"), 1),
        (lambda: quiet.restart("paris"), 2),
        (lambda: quiet.correct("paris-1"), 2),
        (lambda: quiet.skew("paris-1", by="1s"), 3),
        (lambda: quiet.expose("paris-1"), 3),
        (lambda: quiet.steady(), 3),
        (lambda: quiet.stray_write("paris"), 4),
    ):
        act()
        assert meters.changes == changes
    assert repr(meters) == "FaultMeters(FaultEffects(1 faults, 1 places))"
