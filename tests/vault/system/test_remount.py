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
