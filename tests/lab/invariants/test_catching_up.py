"""Catching up: a secondary that stands still on a sound path is found; one that is slow, cut off or damaged is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.invariants.catching_up import CatchingUp
from labkit.lab.invariants.rules import CATCHING_UP
from labkit.lab.plan.blueprint import Blueprint, ClusterPlan, LinkPlan, NodeSettings, pair
from labkit.lab.wire.reports import OvertakenWrote
from labkit.vault.replication import sync
from labkit.vault.replication.events import Pushed, TimerFired


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[CATCHING_UP]
    return "" if violation is None else violation.detail


def write(lab: Lab, size_bytes: int = 10) -> None:
    lab["paris"].post("secret/data/app", {"data": {"value": "y" * size_bytes}}).raise_for_status()


def test_it_applies_once_something_was_owed_and_paid(quiet, calm):
    assert not quiet.run("1m").invariants.applies(CATCHING_UP)
    calm.partition("paris", "tokyo")
    write(calm)
    calm.run("10m")
    assert not found(calm), "an open fault"
    calm.heal()
    calm.run("2m")
    assert calm.lag("paris", "tokyo").level
    assert calm.invariants.applies(CATCHING_UP)
    assert not found(calm)


def given_up(monkeypatch) -> None:
    """Plant a secondary whose timers never come back."""
    monkeypatch.setitem(sync._HANDLERS, TimerFired, lambda state, event: (state, []))


def test_a_secondary_that_gives_up_is_found_when_patience_is_over(calm, monkeypatch):
    calm.partition("paris", "tokyo")
    write(calm)
    calm.run("1m")
    given_up(monkeypatch)
    calm.run("1m").heal()
    calm.run("2m")
    assert not found(calm), "it may still be within its pause"
    again = Lab.restore(calm.snapshot())
    for lab in (calm, again):
        lab.run("2m")

    assert found(again) == found(calm)
    assert found(calm).startswith("tokyo stands still for 240 s behind paris on a sound path: it is ")


def test_a_stream_that_stands_still_on_a_line_without_faults_is_found(calm, monkeypatch):
    monkeypatch.setitem(sync._HANDLERS, Pushed, lambda state, event: (state, []))
    given_up(monkeypatch)
    write(calm)
    calm.run("1m").run("5m")

    assert found(calm).endswith("it is 1 entry behind, stream-wals, ready")


def test_roots_that_stay_different_are_found(calm, monkeypatch):
    given_up(monkeypatch)
    calm.run("1s")
    tree = calm.parts.nodes["tokyo-1"].journal.tree
    assert tree is not None
    tree.corrupt("root")
    calm.run("1m").run("5m")

    assert found(calm).endswith("its roots differ")


@pytest.mark.parametrize(
    "treat",
    {
        "a node is down": lambda lab: lab.crash("tokyo-3"),
        "a node is sealed": lambda lab: lab.crash("tokyo-2") or lab.restart("tokyo-2"),
        "a node is paused": lambda lab: lab.pause("paris-3"),
        "a clock is wrong": lambda lab: lab.skew("paris-2", "1h"),
        "a line is lossy": lambda lab: lab.lose("paris", "tokyo", 10),
        "a line flaps": lambda lab: lab.flap("paris", "tokyo", down="1s", up="10m"),
        "a host is in the middle": lambda lab: lab.impersonate("paris-2"),
        "a value is damaged": lambda lab: lab.corrupt("paris", layer="storage"),
    }.values(),
)
def test_an_open_fault_suspends_it(calm, monkeypatch, treat):
    write(calm)
    calm.run("1s")
    treat(calm)
    monkeypatch.setitem(sync._HANDLERS, Pushed, lambda state, event: (state, []))
    given_up(monkeypatch)
    write(calm)
    calm.run("4m").run("4m")

    assert not found(calm)


def asked(lab: Lab, path: str, **body: Any) -> Any:
    return lab["paris"].post(f"sys/replication/dr/primary/{path}", body).raise_for_status()


@pytest.mark.parametrize(
    "treat",
    {
        "revoked": lambda lab: asked(lab, "revoke-secondary", id="tokyo"),
        "of an earlier reign": lambda lab: (lab["paris"].demote(), lab["paris"].promote(force=True)),
        "of another set": lambda lab: (asked(lab, "disable"), asked(lab, "enable")),
        "of none": lambda lab: asked(lab, "demote"),
    }.values(),
)
def test_a_secondary_that_may_not_connect_is_not_late(calm, treat):
    treat(calm)
    write_anything(calm)
    calm.run("5m").run("5m")

    assert not found(calm)


def write_anything(lab: Lab) -> None:
    """Write what any cluster takes that is not a secondary."""
    lab["paris"].post("secret/data/app", {"data": {}})


def test_a_secondary_that_is_older_than_the_node_that_leads_now_is_not_late():
    """The primary's second node is upgraded already: as soon as it leads, the secondary is refused."""
    plain = pair()
    newer = (NodeSettings(name="paris-2", version="1.17.0+ent"),)
    clusters = tuple(replace(plan, each=newer) if plan.name == "paris" else plan for plan in plain.clusters)
    lab = Lab(replace(plain, clusters=clusters))
    lab.replicate("paris", "tokyo")
    lab.crash("paris-1")
    lab.run("10s").restart("paris-1")
    lab["paris"].unseal()
    write(lab)
    lab.run("5m").run("5m")

    assert lab["paris"].active == "paris-2"
    assert not lab.lag("paris", "tokyo").level
    assert not found(lab)


def test_its_clock_begins_again_when_the_path_was_not_sound(calm, monkeypatch):
    monkeypatch.setitem(sync._HANDLERS, Pushed, lambda state, event: (state, []))
    given_up(monkeypatch)
    write(calm)
    calm.run("1m").run("2m").crash("tokyo-3")
    calm.run("1s").restart("tokyo-3")
    calm["tokyo"].unseal()
    calm.run("10s").run("2m")
    assert not found(calm)
    calm.run("2m")

    assert found(calm)


def test_a_primary_whose_store_took_an_overtaken_nodes_writes_suspends_it(calm, monkeypatch):
    calm.parts.nodes["paris-1"].services.emit(OvertakenWrote("paris", "paris-1", 1, "logical/a"))
    monkeypatch.setitem(sync._HANDLERS, Pushed, lambda state, event: (state, []))
    given_up(monkeypatch)
    write(calm)
    calm.run("4m").run("4m")

    assert not found(calm)


@pytest.mark.slow
def test_no_load_breaks_it():
    """A line of 64 kbit/s, and a value that takes minutes."""
    thin = replace(pair(), links=(LinkPlan(between=("paris", "tokyo"), latency_ns=80_000_000, bandwidth_bps=64_000),))
    lab = Lab(thin)
    lab.replicate("paris", "tokyo")
    write(lab, 3_000_000)
    for _ in range(3):
        assert not lab.run("100s").lag("paris", "tokyo").level
    lab.run("20m")

    assert lab.invariants.applies(CATCHING_UP)
    assert not found(lab)


def test_patience_on_a_thin_line_has_an_end(monkeypatch):
    thin = replace(
        pair(), links=(LinkPlan(between=("paris", "tokyo"), latency_ns=80_000_000, bandwidth_bps=1_000_000),)
    )
    lab = Lab(thin)
    lab.replicate("paris", "tokyo")
    monkeypatch.setitem(sync._HANDLERS, Pushed, lambda state, event: (state, []))
    given_up(monkeypatch)
    write(lab)
    lab.run("1m").run("4m")

    assert found(lab).startswith("tokyo stands still for 240 s behind paris")


@pytest.mark.slow
def test_writes_faster_than_comparisons_do_not_break_it(hasty_snapshot):
    lab = Lab.restore(hasty_snapshot)
    for _ in range(8):
        lab.run("1s")

    assert not found(lab)


def test_each_of_several_secondaries_is_looked_at():
    lab = Lab.triangle(seed=7)
    for name in ("lima", "tokyo"):
        lab.replicate("paris", name)
    lab.run("10s")

    assert [name for name, _ in sorted(lab.invariants.state()["rules"][CATCHING_UP]["owed"])] == ["lima", "tokyo"]


def test_at_a_report_only_whom_it_names_and_who_follows_that_one_are_looked_at(monkeypatch):
    plans = tuple(ClusterPlan(name=name, site="paris", nodes=1) for name in "abcdef")
    lab = Lab(Blueprint(sites=("paris",), links=(), clusters=plans))
    for secondary in "bcd":
        lab.replicate("a", secondary)
    looked_at: list[str] = []
    sound_path = CatchingUp._sound_path

    def noted(rule: CatchingUp, cluster: str, upstream: str) -> Any:
        looked_at.append(cluster)
        return sound_path(rule, cluster, upstream)

    monkeypatch.setattr(CatchingUp, "_sound_path", noted)
    lab.replicate("a", "e")
    assert set(looked_at) == {"e"}
    looked_at.clear()
    lab.seal("a")
    assert set(looked_at) == {*"bcde"}
    looked_at.clear()
    lab.pause("f-1")
    assert looked_at == [*"bcde"], "a fault of any node"
    looked_at.clear()
    lab.run("1s")
    assert looked_at == [*"bcde"], "at rest"
