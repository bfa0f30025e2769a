"""Tuning a mount: what is in force, what is changed, and what cannot be."""

from __future__ import annotations

import pytest

SYSTEM_S = 2_764_800

NO_VERSION = 'secrets engine "transit" does not allow setting a version'


def test_what_is_in_force(service) -> None:
    read = service.get("sys/mounts/secret/tune")
    assert read.data == {
        "default_lease_ttl": SYSTEM_S,
        "description": "",
        "force_no_cache": False,
        "max_lease_ttl": SYSTEM_S,
        "options": {"version": "2"},
    }
    assert all(read.body[name] == value for name, value in read.data.items())
    assert service.get("sys/auth/token/tune").data["token_type"] == "default-service"


def test_what_is_sent_changes_and_the_rest_stays(service) -> None:
    path = "sys/mounts/secret/tune"
    sent = {"default_lease_ttl": "1h", "max_lease_ttl": "7200", "description": "d", "listing_visibility": "unauth"}
    assert service.post(path, sent).status == 204
    read = service.get(path).data
    assert (read["default_lease_ttl"], read["max_lease_ttl"]) == (3_600, 7_200)
    assert (read["description"], read["listing_visibility"]) == ("d", "unauth")

    service.post(path, {"default_lease_ttl": "system", "description": ""})
    read = service.get(path).data
    assert (read["default_lease_ttl"], read["max_lease_ttl"], read["description"]) == (SYSTEM_S, 7_200, "")
    assert service.get("sys/mounts/secret").data["config"]["max_lease_ttl"] == 7_200


def test_options_are_merged(service) -> None:
    path = "sys/mounts/secret/tune"
    service.post(path, {"options": {"a": "1", "b": "2"}})
    assert service.get(path).data["options"] == {"a": "1", "b": "2", "version": "2"}
    service.post(path, {"options": {"a": "", "version": ""}})
    assert service.get(path).data["options"] == {"b": "2", "version": "2"}


def test_a_new_version_brings_the_data_along(service) -> None:
    service.post("sys/mounts/x", {"type": "kv"})
    service.post("x/a/b", {"k": 1})
    upgraded = service.post("sys/mounts/x/tune", {"options": {"version": "2"}})

    assert (upgraded.status, len(upgraded.warnings)) == (200, 1)
    assert service.get("sys/mounts/x").data["options"] == {"version": "2"}
    read = service.get("x/data/a/b").data
    assert (read["data"], read["metadata"]["version"]) == ({"k": 1}, 1)
    assert service.post("sys/mounts/x/tune", {"options": {"version": "2"}}).status == 204


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("mounts/none", {"description": "d"}, "No secret engine mount at none/"),
        ("auth/none", {"description": "d"}, "No auth engine at none/"),
        ("mounts/sys", {"description": "d"}, 'tune of path "sys/" not permitted'),
        ("mounts/secret", {"default_lease_ttl": "-1h"}, "cannot provide negative value '-1h'"),
        ("mounts/secret", {"max_lease_ttl": "soon"}, 'time: invalid duration "soon"'),
        (
            "mounts/secret",
            {"default_lease_ttl": "800h"},
            "backend max lease TTL of 2764800 would be less than backend default lease TTL of 2880000",
        ),
        ("mounts/secret", {"listing_visibility": "odd"}, "invalid listing_visibility odd"),
        ("mounts/secret", {"token_type": "batch"}, "'token_type' can only be modified on auth mounts"),
        ("mounts/secret", {"token_type": ""}, "'token_type' can only be modified on auth mounts"),
        ("mounts/secret", {"token_type": None}, "'token_type' can only be modified on auth mounts"),
        ("auth/token", {"token_type": "batch"}, "'token_type' cannot be set for 'token' or 'ns_token' auth mounts"),
        ("mounts/secret", {"options": {"version": "1"}}, "cannot downgrade mount from version 2"),
        ("mounts/old", {"options": {"version": "7"}}, 'kv has no version "7"; versions are 1 and 2'),
        ("mounts/transit", {"options": {"version": "2"}}, NO_VERSION),
    ],
)
def test_what_cannot_be(service, path: str, body, text: str) -> None:
    service.post("sys/mounts/old", {"type": "kv"})
    before = service.get("sys/mounts").data
    refused = service.post(f"sys/{path}/tune", body)
    assert (refused.status, refused.errors) == (400, [text])
    assert service.get("sys/mounts").data == before


def test_reading_what_is_not_there(service) -> None:
    assert service.get("sys/mounts/none/tune").status == 400


def test_settings_that_do_not_exist_are_ignored_aloud(service) -> None:
    sent = {"passthrough_request_headers": ["x"], "force_no_cache": False}
    text = "passthrough_request_headers was ignored: this service has no such setting"
    tuned = service.post("sys/mounts/secret/tune", sent)
    assert tuned.status == 200
    assert text in tuned.warnings
    assert service.post("sys/mounts/x", {"type": "kv", "config": sent}).warnings == [text]
