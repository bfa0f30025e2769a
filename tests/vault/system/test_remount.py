"""Moving a mount: the data come along, the old path is gone."""

from __future__ import annotations

import pytest


def test_data_come_along(service) -> None:
    service.post("secret/data/a", {"data": {"k": 1}})
    moved = service.post("sys/remount", {"from": "secret", "to": "team/kv/"})

    assert moved.status == 200
    assert moved.warnings == []
    assert service.get("team/kv/data/a").data["data"] == {"k": 1}
    assert service.get("secret/data/a").status == 404
    number = moved.data["migration_id"]
    assert service.get(f"sys/remount/status/{number}").data == {
        "migration_id": number,
        "migration_info": {"source_mount": "secret/", "target_mount": "team/kv/", "status": "success"},
    }


def test_into_a_folder_of_its_own_name(service) -> None:
    assert service.post("sys/remount", {"from": "secret/", "to": "secret/new"}).status == 200
    assert "secret/new/" in service.get("sys/mounts").data


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"to": "x"}, "'from' must be specified as a path such as secret/"),
        ({"from": "secret", "to": ""}, "'to' must be specified as a path such as secret/"),
        ({"from": "secret", "to": 3}, "'to' must be specified as a path such as secret/"),
        ({"from": "none", "to": "x"}, 'no matching mount at "none/"'),
        ({"from": "sys", "to": "x"}, 'cannot remount "sys/"'),
        ({"from": "auth/token", "to": "auth/x"}, 'cannot remount "auth/token/"'),
        ({"from": "secret", "to": "auth/x"}, "cannot remount secret mount to auth/x/"),
        ({"from": "secret", "to": "transit"}, "path is already in use at transit/"),
        ({"from": "secret", "to": "sys/x"}, 'cannot mount "sys/x/"'),
    ],
)
def test_what_cannot_be_moved(service, body, text: str) -> None:
    before = service.get("sys/mounts").data
    refused = service.post("sys/remount", body)
    assert (refused.status, refused.errors) == (400, [text])
    assert service.get("sys/mounts").data == before


def test_an_unknown_move(service) -> None:
    assert service.get("sys/remount/status/none").status == 400


def test_it_needs_sudo(service) -> None:
    service.put("sys/policies/acl/m", {"policy": 'path "sys/remount" { capabilities = ["update"] }'})
    token = service.post("auth/token/create", {"policies": ["m"]}).auth["client_token"]
    assert service.post("sys/remount", {"from": "secret", "to": "x"}, token=token).status == 403


def test_a_move_is_reported(service, observed) -> None:
    service.post("sys/remount", {"from": "secret", "to": "team"})

    assert observed == [("mount moved", {"source": "secret/", "target": "team/"})]


@pytest.fixture
def team(service):
    """A service with the namespaces team/ and team/sub/."""
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    return service


@pytest.mark.parametrize(
    ("asked_in", "old", "new"),
    [
        *(("", "secret", "team/moved"), ("", "team/kv", "moved"), ("", "team/kv", "team/sub/moved")),
        *(("team", "kv", "sub/moved"), ("team", "kv", "moved/here")),
    ],
)
def test_into_another_namespace(team, observed, asked_in, old, new) -> None:
    team.post("sys/mounts/kv", {"type": "kv", "options": {"version": "2"}}, namespace="team")
    team.post(f"{old}/data/a", {"data": {"k": 1}}, namespace=asked_in)
    moved = team.post("sys/remount", {"from": old, "to": new}, namespace=asked_in)

    assert moved.status == 200
    assert team.get(f"{new}/data/a", namespace=asked_in).data["data"] == {"k": 1}
    assert team.get(f"{old}/data/a", namespace=asked_in).status == 404
    place = f"{asked_in}/" if asked_in else ""
    assert observed[-1] == ("mount moved", {"source": f"{place}{old}/", "target": f"{place}{new}/"})
    status = "sys/remount/status/" + moved.data["migration_id"]
    assert team.get(status, namespace=asked_in).ok
    assert team.get(status, namespace="" if asked_in else "team").status == 400


@pytest.mark.parametrize(
    ("asked_in", "old", "new", "text"),
    [
        ("", "team", "x", 'no matching mount at "team/"'),
        ("", "secret", "team", "path is already in use at auth/token/"),
        ("", "secret", "team/sys/x", 'cannot mount "sys/x/"'),
        ("", "team/sys", "x", 'cannot remount "team/sys/"'),
        ("", "secret", "team/auth/x", "cannot remount secret mount to team/auth/x/"),
        ("team", "secret", "x", 'no matching mount at "secret/"'),
    ],
)
def test_what_cannot_be_moved_between_namespaces(team, asked_in, old, new, text) -> None:
    before = team.get("sys/mounts").data, team.get("sys/mounts", namespace="team").data
    refused = team.post("sys/remount", {"from": old, "to": new}, namespace=asked_in)

    assert (refused.status, refused.errors) == (400, [text])
    assert (team.get("sys/mounts").data, team.get("sys/mounts", namespace="team").data) == before


@pytest.mark.parametrize(("asked_in", "old", "new"), [("", "secret", "secret/"), ("", "team/kv", "team/kv")])
def test_a_move_to_where_the_mount_stands_is_refused(team, asked_in, old, new) -> None:
    team.post("sys/mounts/kv", {"type": "kv"}, namespace="team")
    before = team.get("sys/mounts").data, team.get("sys/mounts", namespace="team").data
    refused = team.post("sys/remount", {"from": old, "to": new}, namespace=asked_in)

    assert (refused.status, refused.errors) == (400, [f"path is already in use at {new.rstrip('/')}/"])
    assert (team.get("sys/mounts").data, team.get("sys/mounts", namespace="team").data) == before
