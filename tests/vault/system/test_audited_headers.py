"""Which headers of requests the audit records show."""

from __future__ import annotations

import pytest

PATH = "sys/config/auditing/request-headers"


def test_headers_are_added_read_and_removed(service) -> None:
    assert service.get(PATH).data == {"headers": {}}
    assert service.put(f"{PATH}/X-Request", {"hmac": True}).status == 204
    assert service.put(f"{PATH}/x-team").status == 204
    listed = service.get(PATH)
    assert listed.data == {"headers": {"x-request": {"hmac": True}, "x-team": {"hmac": False}}}
    assert listed.body["headers"] == listed.data["headers"]
    assert service.get(f"{PATH}/x-REQUEST").data == {"x-request": {"hmac": True}}
    assert service.put(f"{PATH}/x-request", {"hmac": False}).status == 204
    assert service.get(f"{PATH}/x-request").data == {"x-request": {"hmac": False}}
    assert service.delete(f"{PATH}/X-Request").status == 204
    assert service.delete(f"{PATH}/x-request").status == 204
    assert service.get(f"{PATH}/x-request").errors == ["could not find header in config"]


@pytest.mark.parametrize("name", ["X-Vault-Token", "authorization"])
def test_the_caller_s_token_is_never_a_header_to_show(service, name) -> None:
    refused = service.put(f"{PATH}/{name}")
    assert (refused.status, refused.errors[0].split(":")[0]) == (400, f"{name.lower()} cannot be audited")
    assert service.get(PATH).data == {"headers": {}}


def test_there_are_so_many_at_most(service) -> None:
    for number in range(100):
        service.put(f"{PATH}/x-{number}")
    assert service.put(f"{PATH}/x-100").errors == ["at most 100 headers are audited; remove one first"]
    assert service.put(f"{PATH}/x-99", {"hmac": True}).status == 204


@pytest.mark.parametrize(
    ("method", "path"), [("get", PATH), ("get", f"{PATH}/a"), ("put", f"{PATH}/a"), ("delete", f"{PATH}/a")]
)
def test_they_need_sudo(service, method, path) -> None:
    rule = 'path "sys/config/*" { capabilities = ["create", "read", "update", "delete"] }'
    service.put("sys/policies/acl/m", {"policy": rule})
    token = service.post("auth/token/create", {"policies": ["m"]}).auth["client_token"]
    assert getattr(service, method)(path, token=token).status == 403
