"""Labs whose nodes forget before each step: elections, takeovers, crashes, pauses and replication do not show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from labkit import Lab
from labkit.front.vault import Vault
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from tests.torture import test_random_labs

SECOND_NS = 1_000_000_000

STEPS = ("handle", "resume", "tick", "reload_keyring", "set_leadership")
"""What a node's vault is asked for, each without a memory of what was before."""


@contextmanager
def forgetful() -> Iterator[None]:
    """Let every vault drop its caches before each step."""
    with pytest.MonkeyPatch.context() as replacing:
        for name in STEPS:
            replacing.setattr(Vault, name, forgetting(getattr(Vault, name)))
        yield


def forgetting(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step before which the caches are dropped."""

    def forget(vault: Vault, *arguments: Any) -> Any:
        vault.core.caches.clear()
        return step(vault, *arguments)

    return forget


def seen(lab: Lab) -> dict[str, Any]:
    """What a lab ends with: its trace's digest and, by cluster, all that is stored and written to files."""
    stores = {name: {**store.values} for name, store in lab.parts.stores.items()}
    return {
        "trace": lab.trace.digest(),
        "stored": stores,
        "files": {name: files.state() for name, files in lab.parts.files.items()},
    }


def differing(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    """The names of the parts that are not equal."""
    return [name for name, part in one.items() if two[name] != part]


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (5, 8, 9, 10, 11))])
def test_a_random_lab_is_the_same_without_memory(seed: int) -> None:
    with forgetful():
        without = seen(test_random_labs.run(seed))

    assert not differing(seen(test_random_labs.run(seed)), without)


def busy_lab() -> Lab:
    """Two clusters, replicating, with clients that do the same few things again and again."""
    kinds = ("put-secret", "get-secret", "encrypt")
    work = tuple(WorkloadPlan(operation=kind, every_ns=SECOND_NS // 20, keys=2) for kind in kinds)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), workload=work)
    lab = Lab(pair().with_clients(shop), seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    return lab


def reader(lab: Lab) -> str:
    """A token of paris that may do little."""
    paris = lab["paris"]
    paris.post("secret/data/app", {"data": {"n": 1}})
    paris.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["read"] }'})
    token = paris.post("auth/token/create", {"policies": ["reader"], "ttl": "10m"}).auth["client_token"]
    for _ in range(2):
        assert paris.get("secret/data/app", token=token).status == 200
    lab.run("1s")
    return str(token)


def revoked(lab: Lab, token: str) -> None:
    lab["paris"].post("auth/token/revoke", {"token": token})


def policy_deleted(lab: Lab, token: str) -> None:
    lab["paris"].delete("sys/policies/acl/reader")


def failed_over(lab: Lab, token: str) -> None:
    lab.failover("paris", "tokyo")


def promoted_without_what_was_revoked(lab: Lab, token: str) -> None:
    lab["paris"].post("auth/token/revoke", {"token": token})
    lab.run("1s")
    lab.crash("paris")
    lab["tokyo"].promote()


def standby_takes_over(lab: Lab, token: str) -> None:
    lab.crash(lab["paris"].active)
    lab.run("10s")
    lab["paris"].delete("sys/policies/acl/reader")


def paused_leader_comes_back(lab: Lab, token: str) -> None:
    """The other node revokes the token while the leader of before stands still."""
    before = lab["paris"].active
    lab.pause(before)
    lab.run("15s")
    assert lab["paris"].active not in ("", before)
    lab["paris"].post("auth/token/revoke", {"token": token})
    lab.resume(before)


def sealed_and_changed(lab: Lab, token: str) -> None:
    lab.seal("paris")
    lab.run("10s")
    lab["paris"].unseal()
    lab.run("5s")
    lab["paris"].post("auth/token/revoke", {"token": token})


def saved_and_restored(lab: Lab, token: str) -> None:
    """Of a lab that is saved, another goes on; what it does is nothing to the first, which asks again."""
    saved = lab.snapshot()
    Lab.restore(saved)["paris"].post("auth/token/revoke", {"token": token})


EVENTS: dict[Callable[[Lab, str], None], tuple[str, int]] = {
    revoked: ("paris", 403),
    policy_deleted: ("paris", 403),
    failed_over: ("tokyo", 200),
    promoted_without_what_was_revoked: ("tokyo", 403),
    standby_takes_over: ("paris", 403),
    paused_leader_comes_back: ("paris", 403),
    sealed_and_changed: ("paris", 403),
    saved_and_restored: ("paris", 200),
}
"""What happens, which cluster is asked afterwards, and what it must answer."""


@pytest.mark.parametrize(
    "event",
    [event if number < 1 else pytest.param(event, marks=pytest.mark.slow) for number, event in enumerate(EVENTS)],
)
def test_a_request_after_an_event_in_a_lab(event: Callable[[Lab, str], None]) -> None:
    cluster, status = EVENTS[event]

    def play() -> dict[str, Any]:
        lab = busy_lab()
        token = reader(lab)
        event(lab, token)
        answers = [lab[cluster].get("secret/data/app", token=token) for _ in range(2)]
        assert [answer.status for answer in answers] == [status] * 2, answers
        lab.run("3s")
        return seen(lab)

    with forgetful():
        without = play()
    assert not differing(play(), without)
