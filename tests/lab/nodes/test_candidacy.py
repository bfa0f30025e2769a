"""A standby's look at the lease is cut short where it would change nothing, and nowhere else."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.nodes import candidacy
from labkit.lab.nodes.election import KEY, Lease, write_lease
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.vault.core import Leadership

SECOND_NS = 1_000_000_000


@pytest.fixture
def lab():
    """A pair at rest, whose standbys have looked at the lease."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab.run("10s")


def standby_of(lab):
    """A standby of paris."""
    (name, *_) = [name for name in lab["paris"].nodes if name != lab["paris"].active]
    return lab.parts.nodes[name]


def test_a_standby_whose_leader_renews_its_lease_has_nothing_to_do(lab):
    assert candidacy.follows_still(standby_of(lab))
    assert not candidacy.follows_still(lab.parts.nodes[lab["paris"].active])


def held_by_another(lab, node):
    write_lease(node.store, Lease("paris-9", 99, lab.now + SECOND_NS))


def under_another_term(lab, node):
    write_lease(node.store, Lease(node.followed[1][0], node.followed[1][1] + 1, lab.now + SECOND_NS))


def run_out(lab, node):
    holder, term = node.followed[1]
    write_lease(node.store, Lease(holder, term, lab.now))


def damaged(lab, node):
    node.store.apply({KEY: b"what no lease is"}, node.followed[1][1])


def gone(lab, node):
    node.store.apply({KEY: None}, node.followed[1][1])


def a_write_that_decides_something(lab, node):
    lab["paris"].put("sys/policies/acl/app", {"policy": 'path "secret/*" { capabilities = ["read"] }'})


def leadership_set_again(lab, node):
    node.vault.set_leadership(Leadership(active=False))


def seal(lab, node):
    node.vault.core.keys.barrier = None


def a_commit_that_is_not_reported(lab, node):
    node.commits.made.append((1, ()))


def a_request_that_waits(lab, node):
    node.waiting.append(("somebody", None))


def a_forwarded_call(lab, node):
    node.forwarding.calls[1] = None


def service_that_is_not_reported(lab, node):
    node.served = True


def something_was_decided_by_the_clock(lab, node):
    node.vault.core.time_decided = True


CHANGES = (
    *(held_by_another, under_another_term, run_out, damaged, gone, a_write_that_decides_something),
    *(leadership_set_again, seal, a_commit_that_is_not_reported, a_request_that_waits, a_forwarded_call),
    *(service_that_is_not_reported, something_was_decided_by_the_clock),
)


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changed_is_looked_at(lab, change):
    node = standby_of(lab)
    change(lab, node)

    assert not candidacy.follows_still(node)


def drilled(luck):
    """A busy pair through what changes who leads, and what standbys find out by looking."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 5)
    plan = pair().with_clients(ClientPlan(name="app", site="lisbon", use=("paris", "tokyo"), workload=(work,)))
    lab = Lab(plan, seed=luck)
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    lab["paris"].put("sys/step-down")
    lab.run("13s")
    lab.pause(lab["paris"].active)
    lab.run("8s").resume(next(name for name in lab["paris"].nodes if name != lab["paris"].active))
    lab["paris"].post("sys/rotate")
    lab.run("3s").crash(lab["paris"].active)
    lab.run("8s").corrupt("paris", layer="subpage")
    lab.run("3s").partition("paris", "tokyo")
    lab["tokyo"].promote()
    return lab.run("8s")


@pytest.mark.parametrize("luck", [1, 2])
@pytest.mark.slow
def test_a_look_that_is_cut_short_leaves_no_trace(luck, monkeypatch):
    short = drilled(luck)
    monkeypatch.setattr(candidacy, "follows_still", lambda node: False)
    whole = drilled(luck)

    assert short.trace.digest() == whole.trace.digest()
    assert short.snapshot().state["nodes"] == whole.snapshot().state["nodes"]
