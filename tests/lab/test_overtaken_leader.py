"""A leader that was paused while another took over: what it answers before it notices is what their store holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes import replication_link
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import pair
from labkit.lab.wire.reports import ConnectionChanged, Progressed

SECOND_NS = 1_000_000_000
LISTS = {"accessors": ("auth/token/accessors", 3), "leases": ("sys/leases/lookup/auth/token/create", 2)}


def created(lab: Lab) -> None:
    lab["paris"].post("auth/token/create", {"ttl": "1h"}).raise_for_status()


def keys(answer: Any) -> int:
    return len(answer.body["data"]["keys"])


@pytest.mark.parametrize("fencing", [True, False])
def test_its_lists_hold_what_the_next_leader_wrote(fencing: bool) -> None:
    blueprint = pair()
    lab = Lab(
        replace(blueprint, clusters=tuple([replace(plan, fencing=fencing) for plan in blueprint.clusters])), seed=7
    )
    created(lab)
    for path, count in LISTS.values():
        assert keys(lab["paris"].list(path)) == count - 1
    lab.pause("paris-1")
    asked = {
        name: lab.parts.console.ask(Ask("paris", "LIST", path, None, "paris-1"), 60 * SECOND_NS)
        for name, (path, _) in LISTS.items()
    }
    lab.run("10s")
    assert lab["paris"].active == "paris-2"
    created(lab)
    lab.resume("paris-1")
    lab.run("1s")
    for name, number in asked.items():
        answer = lab.parts.console.answers[number]
        assert (name, answer.status, keys(answer)) == (name, 200, LISTS[name][1])


def ends_when_resumed(lab: Lab, node: str) -> list[Any]:
    """How a lab ends that goes on from a snapshot of another, and this other, once a paused node is resumed."""
    ends = []
    for resumed in (Lab.restore(lab.snapshot()), lab):
        resumed.resume(node)
        resumed.run("5s")
        ends.append((resumed.trace.digest(), resumed["paris"].root, dict(resumed.invariants.broken)))
    return ends


@pytest.mark.parametrize("due", [("auth/token/create", {"ttl": "5s"}), ("sys/replication/reindex", {})])
def test_cut_while_it_is_paused_it_still_goes_about_what_the_next_leader_has_done(due: tuple[str, Any]) -> None:
    lab = Lab(pair(), seed=7)
    lab["paris"].enable_primary()
    lab["paris"].post(*due).raise_for_status()
    lab.pause("paris-1")
    lab.run("20s")
    assert lab["paris"].active == "paris-2"
    cut, uncut = ends_when_resumed(lab, "paris-1")

    assert cut == uncut


@pytest.mark.parametrize("report", [Progressed, ConnectionChanged])
def test_cut_no_node_reports_again_what_it_had_reported(monkeypatch: pytest.MonkeyPatch, report: Any) -> None:
    """Of one that was overtaken it would be wrong by then: its cluster is past that entry."""
    again: list[tuple[Any, ...]] = []

    def kept(*fields: Any) -> Any:
        again.append(fields)
        return report(*fields)

    lab = Lab(pair(), seed=7)
    lab.replicate("paris", "tokyo")
    cut = Lab.restore(lab.snapshot())
    monkeypatch.setattr(replication_link, report.__name__, kept)
    cut.run("5s")

    assert again == []
    cut.partition("paris", "tokyo")
    created(cut)
    cut.run("30s")
    assert again != []


@pytest.mark.parametrize("ends", ["revoke-secondary", "disable"])
def test_it_answers_no_secondary_that_the_next_leader_has_cut_off(ends: str) -> None:
    """The first that it finds when it is resumed is what the secondary had asked before."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.pause("paris-1")
    lab.run("20s")
    assert lab["paris"].active == "paris-2"
    lab["paris"].post(f"sys/replication/dr/primary/{ends}", {"id": "tokyo"}).raise_for_status()
    if ends == "disable":
        lab["paris"].enable_primary()
    lab.resume("paris-1")
    lab.run("1s")

    assert not lab.invariants.broken
