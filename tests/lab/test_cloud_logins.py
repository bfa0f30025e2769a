"""Logins over the network of a lab: one fetch for all who need the same, cuts go on alike, nothing is left behind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.vault.storage.storage_view import MAX_CACHED_RECORDS
from tests.lab.state_entries import entries

A_TOKEN = {
    "stores.paris.items": 1,
    "stores.paris.folders.token/id/": 1,
    "nodes.paris-1.vault.due_times": 1,
}
"""Where a service token is in a lab's state: its record, its name, and when it expires."""


def made(seed: int = 5) -> Lab:
    """A pair with a cloud at tokyo's site, whose machines log in at paris."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="tokyo")), seed=seed)
    paris = lab["paris"]
    for path, body in (
        ("sys/auth/cloud", {"type": "cloud"}),
        ("auth/cloud/config", lab.cloud.config),
        ("auth/cloud/role/web", {"bound_resource_groups": "web"}),
        ("auth/cloud/role/sp", {"bound_service_principal_ids": lab.cloud.vm("web-1").principal_id}),
    ):
        assert paris.post(path, body).status == 204
    return lab


def ask(lab: Lab, role: str = "web", machine: str = "web-1") -> int:
    """Let a machine log in; return the number of the question."""
    vm = lab.cloud.vm(machine)
    body: dict[str, Any] = {
        "role": role,
        "jwt": vm.token(),
        "subscription_id": vm.subscription_id,
        "resource_group_name": vm.resource_group,
        "vm_name": machine,
    }
    return lab.parts.console.ask(Ask("paris", "POST", "auth/cloud/login", body, token=""))


def answers(lab: Lab, numbers: list[int]) -> Counter[int]:
    """How many were answered with which status."""
    return Counter(answer.status for number in numbers if (answer := lab.parts.console.answers.get(number)))


def paths_asked(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What the cloud was asked for, from now on."""
    asked: Counter[str] = Counter()
    host = lab.parts.clouds["cloud"].cloud
    answer = host.handle

    def counted(request: Any) -> Any:
        if "Metadata" not in request.headers:  # what machines ask for themselves is apart
            asked[request.path.partition("?")[0].rpartition("/")[2]] += 1
        return answer(request)

    monkeypatch.setattr(host, "handle", counted)
    return asked


@pytest.mark.parametrize("logins", [60, pytest.param(1_000, marks=pytest.mark.slow)])
def test_many_first_logins_make_one_discovery_one_fetch_of_keys_and_one_of_a_token(
    logins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = made()
    asked = paths_asked(lab, monkeypatch)
    numbers = [ask(lab) for _ in range(logins)]
    lab.run("5s")

    assert answers(lab, numbers) == {200: logins}
    assert asked == {"openid-configuration": 1, "keys": 1, "token": 1, "web-1": logins}


@pytest.mark.parametrize("tried", [8, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_node_that_is_saved_at_any_moment_goes_on_as_the_one_that_was_not(tried: int) -> None:
    """What was fetched, attempts, waits and tapes are all state: cut at every event, the run ends the same (R3)."""
    lab = made()
    lab.cloud.fail_next("discovery", 503)
    lab.cloud.fail_next("compute", 429, retry_after="2")
    numbers = [ask(lab, role) for role in ("web", "sp", "web")]
    cuts = [lab.snapshot()]
    while sum(answers(lab, numbers).values()) < 3:
        lab.step()
        if lab.parts.nodes["paris-1"].suspended:
            cuts.append(lab.snapshot())
    lab.run("1s")
    end_ns, digest = lab.now, lab.trace.digest()
    assert answers(lab, numbers) == {200: 3}

    for cut in cuts[:: max(len(cuts) // tried, 1)]:
        again = Lab.restore(cut)
        again.run(f"{end_ns - again.now}ns")
        assert again.trace.digest() == digest
        assert answers(again, numbers) == {200: 3}


def test_a_cloud_that_is_cut_off_fails_only_who_needs_it() -> None:
    lab = made()
    assert lab["paris"].post("auth/cloud/config", {"max_retries": 0}).status == 204
    numbers = [ask(lab)]
    lab.run("5s")
    lab.partition("paris", "tokyo")
    again = [ask(lab), ask(lab, "sp")]
    lab.run("3m")

    assert answers(lab, numbers) == {200: 1}
    assert answers(lab, again) == {503: 1, 200: 1}
    lab.heal()
    last = [ask(lab)]
    lab.run("5s")
    assert answers(lab, last) == {200: 1}


@pytest.mark.parametrize("tried", [6, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_cluster_that_becomes_a_secondary_at_any_moment_writes_nothing_more(tried: int) -> None:
    """What waits for the cloud is refused, whether it is a login or a rotation, and how far this came stays."""
    lab = made()
    lab.replicate("paris", "tokyo")
    numbers = [ask(lab), ask(lab, "sp"), lab.parts.console.ask(Ask("paris", "POST", "auth/cloud/rotate-root", {}))]
    cuts = [lab.snapshot()]
    while sum(answers(lab, numbers).values()) < 3:
        lab.step()
        if lab.parts.nodes["paris-1"].suspended:
            cuts.append(lab.snapshot())
    assert answers(lab, numbers) == {200: 3}, "the rotation warns: the secondary has yet to apply the new secret"

    for cut in cuts[:: -max(len(cuts) // tried, 1)]:
        again = Lab.restore(cut)
        assert again["paris"].post("sys/replication/dr/primary/demote").ok
        again.run("3m")
        assert set(answers(again, numbers)) <= {200, 204, 400}
        assert again.invariants.broken == {}


def test_a_node_that_ends_while_it_waits_leaves_an_attempt_that_the_next_one_takes_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = made()
    first = ask(lab, "sp")
    lab.run("100ms")
    lab.crash("paris-1")
    lab.run("20s")
    assert first not in lab.parts.console.answers or lab.parts.console.answers[first].status != 200
    asked = paths_asked(lab, monkeypatch)
    second = [ask(lab, "sp")]
    lab.run("5s")

    assert answers(lab, second) == {200: 1}
    assert asked["openid-configuration"] <= 1
    assert asked["keys"] == 1


@pytest.mark.slow
def test_ten_thousand_logins_leave_their_tokens_and_nothing_once_those_have_expired() -> None:
    lab = made()
    role = {"bound_resource_groups": "web", "token_ttl": "3m"}
    for kind in ("service", "batch"):
        assert lab["paris"].post(f"auth/cloud/role/{kind}", {**role, "token_type": kind}).status == 204
    log_in_often(lab, "service", 200)
    lab.run("5m")
    before, others = held(lab), cached(lab)

    assert lab["paris"].post("auth/cloud/config", lab.cloud.config).status == 204  # all is fetched again, once for many
    log_in_often(lab, "batch", 2_000)
    assert held(lab) == before
    log_in_often(lab, "service", 8_000)
    assert held(lab) - before == {name: 8_000 * number for name, number in A_TOKEN.items()}
    lab.run("5m")
    assert held(lab) == before
    assert cached(lab) == others
    assert len(lab.parts.nodes["paris-1"].vault.core.caches.records) <= MAX_CACHED_RECORDS


def log_in_often(lab: Lab, role: str, times: int) -> None:
    """Let a machine log in so often, 200 at once, and take the answers."""
    for _ in range(times // 200):
        numbers = [ask(lab, role) for _ in range(200)]
        lab.run("1500ms")
        assert answers(lab, numbers) == {200: 200}
        for number in numbers:
            del lab.parts.console.answers[number]


def held(lab: Lab) -> Counter[str]:
    """How many entries each part of a lab's state has: not what it records of the past, timers, which all end,
    nor what standing rules keep, each up to a bound of its own.
    """
    return +entries(lab, 3, without=("trace", "ledger", "clock", "invariants"))


def cached(lab: Lab) -> dict[str, int]:
    """How many entries the caches of the active node have, beside decoded records, whose number is limited."""
    caches = lab.parts.nodes["paris-1"].vault.core.caches
    beside = ("records", "leases", "tokens", "keyring_as_of")
    return {name: len(getattr(caches, name)) for name in caches.__slots__ if name not in beside}
