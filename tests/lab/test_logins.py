"""AppRole and userpass in a lab: replicated for disaster recovery, spent and counted on the primary only."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab

DISABLED = "path disabled in replication DR secondary mode"


@pytest.fixture(scope="module")
def replicating() -> Any:
    """A pair that replicates; its primary has a role, a local role and two users."""
    lab = Lab.pair(seed=11)
    lab.replicate("paris", "tokyo")
    prepare(lab["paris"])
    return lab.snapshot()


@pytest.fixture
def lab(replicating: Any) -> Lab:
    return Lab.restore(replicating)


def prepare(cluster: Any) -> None:
    for kind in ("approle", "userpass"):
        assert cluster.post(f"sys/auth/{kind}", {"type": kind}).status == 204
    for name, local in (("app", False), ("local", True)):
        fields = {"role_id": f"{name}-id", "local_secret_ids": local, "secret_id_num_uses": 3}
        assert cluster.post(f"auth/approle/role/{name}", fields).status == 204
        assert cluster.post(f"auth/approle/role/{name}/custom-secret-id", {"secret_id": f"{name}-secret"}).ok
    for name in ("ada", "bob"):
        assert cluster.post(f"auth/userpass/users/{name}", {"password": "right"}).status == 204


def program(cluster: Any, name: str = "app") -> Any:
    body = {"role_id": f"{name}-id", "secret_id": f"{name}-secret"}
    return cluster.post("auth/approle/login", body, token="")


def person(cluster: Any, password: str = "right", name: str = "ada") -> Any:
    return cluster.post(f"auth/userpass/login/{name}", {"password": password}, token="")


@pytest.mark.parametrize("name", ["app", "local"])
def test_uses_are_spent_on_the_primary_and_what_was_used_up_is_refused_by_the_survivor(lab: Lab, name: str) -> None:
    assert program(lab["paris"], name).ok
    assert program(lab["paris"], name).ok
    lab.failover("paris", "tokyo")

    token = program(lab["tokyo"], name).auth["client_token"]
    assert program(lab["tokyo"], name).status == 400
    assert lab["tokyo"].get("auth/token/lookup-self", token=token).ok


def test_a_secondary_refuses_every_login_and_spends_nothing(lab: Lab) -> None:
    for _ in range(6):
        for answer in (program(lab["tokyo"]), person(lab["tokyo"], "wrong")):
            assert (answer.status, answer.errors) == (400, [DISABLED])
    lab.failover("paris", "tokyo")
    assert [program(lab["tokyo"]).status for _ in range(4)] == [200, 200, 200, 400]
    assert person(lab["tokyo"]).ok


def test_a_lock_is_replicated_and_a_count_is_not(lab: Lab) -> None:
    for _ in range(5):
        assert person(lab["paris"], "wrong").status == 400
    for _ in range(4):
        assert person(lab["paris"], "wrong", "bob").status == 400
    assert person(lab["paris"]).status == 403
    lab.failover("paris", "tokyo")

    assert person(lab["tokyo"]).status == 403
    assert lab["tokyo"].get("sys/locked-users").data["total"] == 1
    assert [person(lab["tokyo"], "wrong", "bob").status for _ in range(4)] == [400] * 4
    assert person(lab["tokyo"], name="bob").ok
    lab.run("15m")
    assert person(lab["tokyo"]).ok


def test_a_new_active_node_knows_locks_and_counts_from_nothing(lab: Lab) -> None:
    for _ in range(5):
        person(lab["paris"], "wrong")
    for _ in range(4):
        person(lab["paris"], "wrong", "bob")
    before = lab["paris"].active
    lab.crash(before)
    lab.run("30s")
    assert lab["paris"].active != before
    assert person(lab["paris"]).status == 403
    assert [person(lab["paris"], "wrong", "bob").status for _ in range(4)] == [400] * 4
    assert person(lab["paris"], name="bob").ok


def test_expired_secret_ids_are_deleted_by_the_primary_and_after_a_promotion_by_the_survivor(lab: Lab) -> None:
    path = "auth/approle/role/app/secret-id"
    for ttl in ("2m", "10m"):
        assert lab["paris"].post(path, {"ttl": ttl}).ok
    assert len(lab["paris"].list(path).data["keys"]) == 3
    lab.run("4m")
    assert len(lab["paris"].list(path).data["keys"]) == 2
    lab.failover("paris", "tokyo")
    assert len(lab["tokyo"].list(path).data["keys"]) == 2
    lab.run("8m")
    assert len(lab["tokyo"].list(path).data["keys"]) == 1


def contents(lab: Lab, cluster: str) -> dict[str, bytes]:
    """What a cluster stores, byte by byte."""
    return dict(lab.parts.stores[cluster].state()["items"])


def drill(lab: Lab) -> None:
    """What the same seed does twice: logins of both kinds, right and wrong, a change of leader, expiry."""
    for number in range(4):
        person(lab["paris"], "wrong" if number % 3 else "right")
        program(lab["paris"])
    lab["paris"].post("auth/approle/role/app/secret-id", {"ttl": "1m"})
    lab.run("3m")
    person(lab["paris"], "wrong", "bob")


def test_the_same_seed_is_the_same_run_and_a_cut_one_goes_on_the_same(replicating: Any) -> None:
    whole, again = Lab.restore(replicating), Lab.restore(replicating)
    drill(whole)
    for number in range(4):
        person(again["paris"], "wrong" if number % 3 else "right")
        again = Lab.restore(again.snapshot())
        program(again["paris"])
    again = Lab.restore(again.snapshot())
    again["paris"].post("auth/approle/role/app/secret-id", {"ttl": "1m"})
    again.run("90s")
    again = Lab.restore(again.snapshot())
    again.run("90s")
    person(again["paris"], "wrong", "bob")

    assert whole.trace.digest() == again.trace.digest()
    for cluster in ("paris", "tokyo"):
        assert contents(whole, cluster) == contents(again, cluster)
