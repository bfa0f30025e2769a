"""Locks: a locked namespace answers nothing but its unlocking, and neither do those below it."""

from __future__ import annotations

import pytest

LOCKED = 'API access to this namespace has been locked by an administrator - "{}" must be unlocked to gain access.'
LOCK, UNLOCK = "sys/namespaces/api-lock/lock", "sys/namespaces/api-lock/unlock"


@pytest.fixture
def team(service):
    """A service with team/, which has kv/ and team/sub/."""
    service.post("sys/namespaces/team", {"custom_metadata": {"a": "b"}})
    service.post("sys/namespaces/sub", namespace="team")
    service.post("sys/mounts/kv", {"type": "kv"}, namespace="team")
    service.post("kv/a", {"x": 1}, namespace="team")
    return service


@pytest.mark.parametrize(
    ("place", "path", "locked"),
    [
        ("team", LOCK, "team/"),
        ("", f"{LOCK}/team", "team/"),
        ("", f"team/{LOCK}", "team/"),
        ("team", f"{LOCK}/sub", "team/sub/"),
    ],
)
def test_what_is_locked_and_what_is_below(team, place, path, locked):
    assert team.get("kv/a", namespace="team").ok
    key = team.post(path, namespace=place).data["unlock_key"]
    assert len(key) == 24

    for name in ("team", "team/sub"):
        for answer in (team.get("sys/mounts", namespace=name), team.get(f"{name}/sys/mounts", token="")):
            if name.startswith(locked.rstrip("/")):
                assert (answer.status, answer.errors) == (503, [LOCKED.format(locked)])
            else:
                assert answer.status in (200, 403)
        assert team.get("sys/health", namespace=name).ok
    assert team.get("sys/namespaces/team").data["custom_metadata"] == {"a": "b"}
    assert team.get("secret/data/none").status == 404
    assert team.post(path.replace("/lock", "/unlock").replace("api-unlock", "api-lock"), namespace=place).status == 204
    assert team.get("kv/a", namespace="team").data == {"x": 1}


def test_the_key_unlocks_for_who_has_no_sudo(team):
    policy = 'path "sys/namespaces/api-lock/*" { capabilities = ["update"] }'
    team.put("sys/policies/acl/p", {"policy": policy}, namespace="team")
    auth = team.post("auth/token/create", {"policies": ["p"]}, namespace="team").auth
    own = {"token": auth["client_token"], "namespace": "team"}
    key = team.post(LOCK, **own).data["unlock_key"]

    for body, text in (({}, "provided empty key"), ({"unlock_key": "x" * 24}, "incorrect unlock key")):
        refused = team.post(UNLOCK, body, **own)
        assert (refused.status, refused.errors) == (400, [text])
    assert team.get("kv/a", namespace="team").status == 503
    assert team.post(UNLOCK, {"unlock_key": key}, **own).status == 204
    assert team.get("kv/a", namespace="team").ok
    assert team.post(UNLOCK, {"unlock_key": key}, **own).errors == ["namespace team/ is not locked"]
    stored = b"".join(team.core.storage.get(name) or b"" for name in sorted(team.core.storage.keys()))
    assert key.encode() not in stored


@pytest.mark.parametrize("verb", [LOCK, UNLOCK])
def test_what_cannot_be(team, verb):
    assert "root namespace" in team.post(verb).errors[0]
    assert team.post(f"{verb}/none").errors == ["no namespace none/"]
    assert team.post(f"{verb}/team/none").errors == ["no namespace team/none/"]
    assert team.post(f"{verb}/team", token="").status == 403
    assert team.get(verb).status in (400, 405)
    assert team.get("kv/a", namespace="team").ok


def test_one_is_locked_once_and_keeps_its_lock_when_it_changes(team):
    assert team.post(f"{LOCK}/team").ok
    assert team.post(f"{LOCK}/team").errors == ["namespace team/ is locked already"]
    assert team.post("sys/namespaces/team", {"custom_metadata": {"c": "d"}}).ok
    assert team.patch("sys/namespaces/team", {"custom_metadata": {"e": "f"}}).ok
    assert team.get("kv/a", namespace="team").status == 503
    assert team.delete("sys/namespaces/team").status == 400
    team.post("sys/namespaces/other")
    team.post(f"{LOCK}/other")
    assert team.delete("sys/namespaces/other").ok
    assert team.post("sys/namespaces/other").ok
    assert team.get("sys/mounts", namespace="other").ok


def test_a_lock_is_not_passed_by_naming_what_is_behind_it(team):
    team.post(f"{LOCK}/team")
    for body in ({"from": "team/kv", "to": "kv"}, {"from": "secret", "to": "team/secret"}):
        assert team.post("sys/remount", body).errors == [LOCKED.format("team/")]
    assert team.get("sys/internal/ui/mounts/team/kv").errors == [LOCKED.format("team/")]
    team.post(f"{UNLOCK}/team")
    assert team.get("kv/a", namespace="team").ok


def test_a_lock_below_a_lock_stays(team):
    team.post(f"{LOCK}/team/sub")
    team.post(f"{LOCK}/team")
    assert team.get("sys/mounts", namespace="team/sub").errors == [LOCKED.format("team/")]
    assert team.post(UNLOCK, namespace="team").ok
    assert team.get("sys/mounts", namespace="team/sub").errors == [LOCKED.format("team/sub/")]
    assert team.get("sys/mounts", namespace="team").ok
