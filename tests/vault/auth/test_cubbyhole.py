"""The cubbyhole: each token has its own, which ends with it."""

from __future__ import annotations

import json

import pytest


def token_of(service, **fields):
    return service.post("auth/token/create", {"policies": ["default"], **fields}).auth["client_token"]


def stored(service):
    return [key for key in sorted(service.core.storage.keys()) if key.startswith("cubbyhole/")]


def test_written_read_listed_and_deleted(service):
    token = token_of(service)
    assert service.post("cubbyhole/a/b", {"x": [1, {"y": None}], "ttl": "1h"}, token=token).status == 204
    assert service.put("cubbyhole/c", {"z": 1}, token=token).status == 204

    read = service.get("cubbyhole/a/b", token=token)
    assert (read.data, read.warnings, read.body["lease_duration"]) == ({"x": [1, {"y": None}], "ttl": "1h"}, [], 0)
    assert read.body["mount_type"] == "cubbyhole"
    assert service.list("cubbyhole", token=token).data == {"keys": ["a/", "c"]}
    assert service.list("cubbyhole/a", token=token).data == {"keys": ["b"]}
    assert service.post("cubbyhole/a/b", {"x": 2}, token=token).status == 204
    assert service.get("cubbyhole/a/b", token=token).data == {"x": 2}
    for _ in range(2):
        assert service.delete("cubbyhole/a/b", token=token).status == 204
    assert service.get("cubbyhole/a/b", token=token).status == 404
    assert service.list("cubbyhole/a", token=token).status == 404


def test_no_other_token_sees_it_not_even_root_or_a_child(service):
    token = token_of(service)
    service.post("cubbyhole/a", {"x": 1}, token=token)
    service.put("sys/policies/acl/p", {"policy": 'path "auth/token/create" { capabilities = ["update"] }'})
    parent = token_of(service, policies=["default", "p"])
    service.post("cubbyhole/a", {"of": "parent"}, token=parent)
    child = service.post("auth/token/create", {}, token=parent).auth["client_token"]

    for other in (service.root_token, token_of(service), child):
        assert service.get("cubbyhole/a", token=other).status == 404
        assert service.list("cubbyhole", token=other).status == 404
        assert service.delete("cubbyhole/a", token=other).status == 204
    assert service.get("cubbyhole/a", token=token).data == {"x": 1}
    assert service.get("cubbyhole/a", token=parent).data == {"of": "parent"}


@pytest.mark.parametrize("how", ["revoked", "expired", "used up", "parent revoked"])
def test_it_ends_with_its_token(service, how):
    fields = {"ttl": "1h"} if how == "expired" else {"num_uses": 1} if how == "used up" else {}
    service.put("sys/policies/acl/p", {"policy": 'path "auth/token/create" { capabilities = ["update"] }'})
    parent = token_of(service, policies=["default", "p"])
    made = service.post("auth/token/create", {"policies": ["default"]} | fields, token=parent).auth
    token = made["client_token"]
    assert service.post("cubbyhole/deep/a", {"x": 1}, token=token).ok
    if how == "revoked":
        service.post("auth/token/revoke-accessor", {"accessor": made["accessor"]})
    elif how == "parent revoked":
        service.post("auth/token/revoke", {"token": parent})
    elif how == "expired":
        service.advance("1h")

    assert stored(service) == []


def test_a_batch_token_has_none(service):
    batch = token_of(service, type="batch")

    for answer in (
        service.post("cubbyhole/a", {"x": 1}, token=batch),
        service.get("cubbyhole/a", token=batch),
        service.list("cubbyhole", token=batch),
        service.delete("cubbyhole/a", token=batch),
    ):
        assert answer.status == 400
        assert answer.errors == ['cubbyhole operations are only supported by "service" type tokens']


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "cubbyhole/a", {}, 400),
        ("POST", "cubbyhole/a/", {"x": 1}, 400),
        ("POST", "cubbyhole/../a", {"x": 1}, 400),
        ("PATCH", "cubbyhole/a", {"x": 1}, 405),
        ("GET", "cubbyhole/a/", None, 404),
        ("GET", "cubbyhole", None, 404),
        ("DELETE", "cubbyhole/none", None, 204),
    ],
)
def test_what_is_odd(service, method, path, body, status):
    headers = {"X-Vault-Token": service.root_token, "Content-Type": "application/merge-patch+json"}

    assert service.request(method, path, body, headers).status == status
    assert stored(service) == []


def test_what_is_stored_may_be_called_response(service):
    token = token_of(service)
    service.post("cubbyhole/response", {"x": 1}, token=token)

    assert service.get("cubbyhole/response", token=token).data == {"x": 1}
    assert service.post("sys/wrapping/unwrap", {"token": token}).status == 400


def test_a_wrapping_token_finds_what_it_wraps_once(service):
    service.post("secret/data/a", {"data": {"x": 1}})
    headers = {"X-Vault-Wrap-TTL": "60s"}
    first, second = (service.get("secret/data/a", headers=headers).wrap_info["token"] for _ in range(2))

    assert service.post("cubbyhole/response", {"x": 2}, token=first).status == 403
    assert service.post("sys/wrapping/unwrap", token=first).status == 400  # the one use is spent
    found = service.get("cubbyhole/response", token=second).data["response"]
    assert json.loads(found)["data"]["data"] == {"x": 1}
    assert service.get("cubbyhole/response", token=second).status == 403
    assert stored(service) == []


def test_it_is_the_same_in_every_namespace(service):
    service.post("sys/namespaces/team")
    service.post("cubbyhole/a", {"x": 1})

    assert service.get("cubbyhole/a", namespace="team").data == {"x": 1}
    inner = service.post("auth/token/create", {"policies": ["default"]}, namespace="team").auth["client_token"]
    assert service.post("cubbyhole/a", {"of": "inner"}, namespace="team", token=inner).ok
    assert service.get("cubbyhole/a").data == {"x": 1}
    service.delete("sys/namespaces/team")
    assert len(stored(service)) == 1


def test_it_is_mounted_once_and_stays(service):
    mount = service.get("sys/mounts/cubbyhole").data
    assert (mount["local"], mount["description"]) == (True, "per-token private secret storage")
    assert service.delete("sys/mounts/cubbyhole").status == 400
    assert service.post("sys/remount", {"from": "cubbyhole", "to": "x"}).status == 400
    assert service.post("sys/mounts/other", {"type": "cubbyhole"}).status == 400
