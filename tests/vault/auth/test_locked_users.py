"""Who is locked out: listed by namespace and mount until the lock ends, and unlocked."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault

MINUTE_NS = 60_000_000_000
TEAM = {"X-Vault-Namespace": "team/"}


@pytest.fixture
def vault(clock: Any) -> Vault:
    """A vault with a user each in the root namespace and in team/, locked out."""
    made = Vault.dev(seed=4, clock=clock)
    made.post("sys/namespaces/team")
    for headers in ({}, TEAM):
        made.post("sys/auth/userpass", {"type": "userpass"}, headers=headers)
        made.post("auth/userpass/users/ada", {"password": "right"}, headers=headers)
        for _ in range(5):
            made.post("auth/userpass/login/ada", {"password": "wrong"}, token="", headers=headers)
    return made


def accessor(vault: Vault, headers: dict[str, str] | None = None) -> str:
    return str(vault.get("sys/auth/userpass", headers=headers or {}).data["accessor"])


def test_all_below_the_namespace_are_listed(vault) -> None:
    found = vault.get("sys/locked-users").data

    assert found["total"] == 2
    assert [(row["namespace_path"], row["counts"]) for row in found["by_namespace"]] == [("", 1), ("team/", 1)]
    assert found["by_namespace"][0]["mount_accessors"] == [
        {"mount_accessor": accessor(vault), "counts": 1, "alias_identifiers": ["ada"]}
    ]
    assert found["by_namespace"][0]["namespace_id"] == "root"
    within = vault.get("sys/locked-users", headers=TEAM).data
    assert [row["namespace_path"] for row in within["by_namespace"]] == ["team/"]


def test_a_mount_can_be_chosen(vault) -> None:
    vault.post("sys/auth/b", {"type": "approle"})
    assert vault.get(f"sys/locked-users?mount_accessor={accessor(vault)}").data["total"] == 1
    none = vault.get("sys/locked-users?mount_accessor=approle_1").data
    assert none == {
        "by_namespace": [
            {
                "namespace_id": "root",
                "namespace_path": "",
                "counts": 0,
                "mount_accessors": [{"mount_accessor": "approle_1", "counts": 0, "alias_identifiers": None}],
            }
        ],
        "total": 0,
    }


def test_a_lock_that_ended_is_not_listed(vault, clock) -> None:
    clock.now_ns += 15 * MINUTE_NS
    found = vault.get("sys/locked-users").data
    assert found["total"] == 0
    assert [row["mount_accessors"] for row in found["by_namespace"]] == [[], []]


def test_those_of_a_mount_that_is_gone_stay_and_can_be_unlocked(vault) -> None:
    of_mount = accessor(vault)
    vault.delete("sys/auth/userpass")
    assert vault.get(f"sys/locked-users?mount_accessor={of_mount}").data["total"] == 1
    assert vault.post(f"sys/locked-users/{of_mount}/unlock/ada").status == 204
    assert vault.get("sys/locked-users").data["total"] == 1


def test_a_namespace_takes_its_locks_with_it(vault) -> None:
    vault.delete("sys/namespaces/team")
    assert vault.get("sys/locked-users").data["total"] == 1
    assert vault.core.storage.list("namespace/") == []


def test_unlocking_lets_in_at_once_and_counts_from_nothing(vault) -> None:
    of_mount = accessor(vault)
    assert vault.post(f"sys/locked-users/{of_mount}/unlock/ada").status == 204
    for _ in range(4):
        vault.post("auth/userpass/login/ada", {"password": "wrong"}, token="")
    assert vault.post("auth/userpass/login/ada", {"password": "right"}, token="").ok
    within = vault.post("auth/userpass/login/ada", {"password": "right"}, token="", headers=TEAM)
    assert within.status == 403


def test_unlocking_whoever_is_not_locked_is_ignored_and_writes_nothing(vault) -> None:
    commits = vault.core.commits
    for path in ("x/unlock/y", f"{accessor(vault)}/unlock/bob", "x/unlock/a/b"):
        assert vault.post(f"sys/locked-users/{path}").status == 204
    assert vault.core.commits == commits


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("LIST", "locked-users", 404),
        ("POST", "locked-users", 405),
        ("GET", "locked-users/x/unlock/y", 405),
        ("POST", "locked-users/x", 404),
        ("POST", "locked-users/x/unlock/", 400),
    ],
)
def test_other_paths_and_methods(vault, method: str, path: str, status: int) -> None:
    headers = {"X-Vault-Token": vault.root_token}
    assert vault.request(method, f"/v1/sys/{path}", headers=headers).status == status


def test_both_need_a_token(vault) -> None:
    assert vault.get("sys/locked-users", token="").status == 403
    assert vault.post("sys/locked-users/x/unlock/y", token="").status == 403
