"""Enabling, reading and disabling engines and auth methods."""

from __future__ import annotations

from typing import Any

import pytest


def info(read: dict) -> dict:
    """What is told of a mount, without what is random."""
    return {name: value for name, value in read.items() if name not in ("accessor", "uuid")}


THERE_IS = "token, cloud (azure), approle, userpass; kv, transit, cubbyhole, identity, system"
NO_VERSION = 'secrets engine "transit" does not allow setting a version'

PLAIN: dict[str, Any] = {
    "type": "kv",
    "description": "",
    "local": False,
    "seal_wrap": False,
    "external_entropy_access": False,
    "options": None,
    "config": {"default_lease_ttl": 0, "force_no_cache": False, "max_lease_ttl": 0},
}


def test_the_list_is_also_at_the_top(service) -> None:
    listed = service.get("sys/mounts")
    assert list(listed.data) == ["cubbyhole/", "identity/", "secret/", "sys/", "transit/"]
    assert all(listed.body[path] == told for path, told in listed.data.items())
    assert info(listed.data["secret/"]) == PLAIN | {"options": {"version": "2"}}

    methods = service.get("sys/auth")
    assert info(methods.data["token/"]) == PLAIN | {
        "type": "token",
        "description": "token based credentials",
        "config": PLAIN["config"] | {"token_type": "default-service"},
    }
    assert methods.data["token/"]["accessor"].startswith("auth_token_")


def test_what_is_sent_is_shown(service) -> None:
    sent = {
        "type": "kv",
        "description": "d",
        "options": {"version": "2"},
        "local": True,
        "seal_wrap": True,
        "config": {"default_lease_ttl": "1h", "max_lease_ttl": 7_200, "listing_visibility": "unauth"},
    }
    assert service.post("sys/mounts/a/b", sent).status == 204
    read = service.get("sys/mounts/a/b")
    assert info(read.data) == PLAIN | {
        "description": "d",
        "options": {"version": "2"},
        "local": True,
        "seal_wrap": True,
        "config": {
            "default_lease_ttl": 3_600,
            "force_no_cache": False,
            "max_lease_ttl": 7_200,
            "listing_visibility": "unauth",
        },
    }
    assert service.post("a/b/data/x", {"data": {"k": 1}}).status == 200


@pytest.mark.parametrize(("alias", "version"), [("kv-v1", "1"), ("kv-v2", "2"), ("generic", "1")])
def test_aliases(service, alias: str, version: str) -> None:
    service.post("sys/mounts/x", {"type": alias})
    read = service.get("sys/mounts/x").data
    assert (read["type"], read["options"]) == ("kv", {"version": version})


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("x", {}, "backend type must be specified as a string"),
        ("x", {"type": "none"}, "plugin not found in the catalog: none; labkit has " + THERE_IS),
        ("x", {"type": "token"}, 'mount type of "token" is not mountable'),
        ("x", {"type": "system"}, 'mount type of "system" is not mountable'),
        ("x", {"type": "transit", "options": {"version": "2"}}, NO_VERSION),
        ("x", {"type": "kv", "options": {"version": "3"}}, 'kv has no version "3"; versions are 1 and 2'),
        ("secret", {"type": "kv"}, "path is already in use at secret/"),
        ("secret/below", {"type": "kv"}, "path is already in use at secret/"),
        ("sys", {"type": "kv"}, 'cannot mount "sys/"'),
        ("auth/x", {"type": "kv"}, 'cannot mount "auth/x/"'),
        ("cubbyhole", {"type": "kv"}, 'cannot mount "cubbyhole/"'),
        ("x", {"type": "kv", "config": {"token_type": "batch"}}, "'token_type' can only be modified on auth mounts"),
        ("x", {"type": "kv", "config": {"listing_visibility": "odd"}}, "invalid listing_visibility odd"),
        ("x", {"type": "kv", "config": {"default_lease_ttl": "x"}}, 'time: invalid duration "x"'),
        (
            "x",
            {"type": "kv", "config": {"default_lease_ttl": "3h", "max_lease_ttl": "2h"}},
            "backend max lease TTL of 7200 would be less than backend default lease TTL of 10800",
        ),
    ],
)
def test_what_cannot_be_mounted(service, path: str, body, text: str) -> None:
    before = service.get("sys/mounts").data
    refused = service.post(f"sys/mounts/{path}", body)
    assert (refused.status, refused.errors) == (400, [text])
    assert service.get("sys/mounts").data == before


def test_a_mount_above_another_is_refused(service) -> None:
    service.post("sys/mounts/a/b", {"type": "kv"})
    assert service.post("sys/mounts/a", {"type": "kv"}).errors == ["path is already in use at a/b/"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "backend type must be specified as a string"),
        ({"type": "none"}, "plugin not found in the catalog: none; labkit has " + THERE_IS),
        ({"type": "kv"}, "plugin not found in the catalog: kv; labkit has " + THERE_IS),
        ({"type": "token"}, 'mount type of "token" is not mountable'),
    ],
)
def test_what_is_no_auth_method(service, body, text: str) -> None:
    refused = service.post("sys/auth/x", body)
    assert (refused.status, refused.errors) == (400, [text])


def test_reading_what_is_not_there(service) -> None:
    assert service.get("sys/mounts/none").errors == ["No secret engine mount at none/"]
    assert service.get("sys/auth/token").data["type"] == "token"
    assert service.get("sys/auth/none").errors == ["No auth engine at none/"]


def test_a_path_may_end_in_a_slash(service) -> None:
    assert service.get("sys/mounts/secret/").data == service.get("sys/mounts/secret").data
    assert service.delete("sys/mounts/secret/").status == 204
    assert service.get("sys/mounts/secret/").status == 400


def test_disabling_takes_the_data_along(service) -> None:
    service.post("sys/mounts/x", {"type": "kv-v2"})
    prefix = f"logical/{service.get('sys/mounts/x').data['uuid']}/"
    service.post("x/data/a/b", {"data": {"k": 1}})
    assert service.core.storage.list(prefix)

    assert service.delete("sys/mounts/x").status == 204
    assert not service.core.storage.list(prefix)
    assert service.get("x/data/a/b").errors == ['no handler for route "x/data/a/b". route entry not found.']
    assert service.delete("sys/mounts/x").status == 204

    service.post("sys/mounts/x", {"type": "kv-v2"})
    assert service.get("x/data/a/b").status == 404


def test_what_every_cluster_has_stays(service) -> None:
    assert service.delete("sys/mounts/sys").errors == ['cannot unmount "sys/"']
    assert service.delete("sys/auth/token").errors == ["token auth method cannot be disabled"]


def test_auth_methods_need_sudo(service) -> None:
    policy = 'path "sys/*" { capabilities = ["create", "read", "update", "delete"] }'
    service.put("sys/policies/acl/m", {"policy": policy})
    token = service.post("auth/token/create", {"policies": ["m"]}).auth["client_token"]
    assert service.post("sys/mounts/x", {"type": "kv"}, token=token).status == 204
    assert service.get("sys/auth", token=token).status == 200
    for refused in (
        service.get("sys/auth/token", token=token),
        service.get("sys/auth/token/tune", token=token),
        service.post("sys/auth/x", {"type": "none"}, token=token),
        service.delete("sys/auth/x", token=token),
    ):
        assert refused.status == 403


def test_external_entropy_access_is_kept_and_shown(service) -> None:
    mounted = service.post("sys/mounts/x", {"type": "kv", "external_entropy_access": "true"})
    assert (mounted.status, mounted.warnings) == (204, [])
    service.post("sys/remount", {"from": "x", "to": "y"})
    assert service.get("sys/mounts/y").data["external_entropy_access"] is True
    assert service.get("sys/mounts/secret").data["external_entropy_access"] is False
    service.post("sys/mounts/y/tune", {"description": "d"})
    assert service.get("sys/mounts").data["y/"]["external_entropy_access"] is True


def test_mounting_and_unmounting_are_reported(service, observed) -> None:
    service.post("sys/mounts/team/kv", {"type": "kv"})
    service.delete("sys/mounts/team/kv")

    assert observed == [("mounted", {"path": "team/kv/", "type": "kv"}), ("unmounted", {"path": "team/kv/"})]


def test_a_method_that_is_enabled_as_azure_reads_back_as_azure(service) -> None:
    service.post("sys/auth/azure", {"type": "azure"})
    service.post("sys/auth/other", {"type": "cloud"})
    listed = service.get("sys/auth").data

    assert {path: row["type"] for path, row in listed.items()} == {
        "azure/": "azure",
        "cloud/": "cloud",
        "other/": "cloud",
        "token/": "token",
    }
    assert listed["azure/"]["accessor"].startswith("auth_azure_")
    assert service.get("sys/auth/azure").data["type"] == "azure"
    service.post("auth/azure/role/web", {"bound_locations": ["here"]})
    assert (service.get("auth/azure/role/web").body or {})["mount_type"] == "azure"
    service.post("sys/auth/azure/tune", {"user_lockout_config": None, "description": "machines"})
    service.post("sys/remount", {"from": "auth/azure", "to": "auth/machines"})
    assert service.get("sys/auth").data["machines/"]["type"] == "azure"
