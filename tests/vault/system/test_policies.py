"""Policies over both of their endpoints."""

from __future__ import annotations

from base64 import b64encode

import pytest

TEXT = 'path "x/*" { capabilities = ["read"] }'


@pytest.mark.parametrize("path", ["sys/policies/acl", "sys/policy"])
def test_written_read_and_deleted(service, path: str) -> None:
    assert service.put(f"{path}/team/a", {"policy": TEXT}).status == 204
    assert service.get("sys/policies/acl/team/a").data == {"name": "team/a", "policy": TEXT}
    old = service.get("sys/policy/team/a")
    assert old.data == {"name": "team/a", "rules": TEXT}
    assert (old.body["name"], old.body["rules"]) == ("team/a", TEXT)

    assert service.delete(f"{path}/team/a").status == 204
    assert service.delete(f"{path}/team/a").status == 204
    assert service.get(f"{path}/team/a").errors == []


def test_lists(service) -> None:
    service.put("sys/policies/acl/z", {"policy": TEXT})
    names = ["default", "z", "root"]
    assert service.list("sys/policies/acl").data == {"keys": names}
    for listed in (service.get("sys/policy"), service.list("sys/policy")):
        assert listed.data == {"keys": names, "policies": names}
        assert listed.body["policies"] == names


def test_names_are_in_lower_case(service) -> None:
    written = service.put("sys/policies/acl/Team", {"policy": TEXT})
    assert (written.status, written.warnings) == (200, ["policy name was converted to team"])
    assert service.get("sys/policies/acl/TEAM").data == {"name": "team", "policy": TEXT}
    service.delete("sys/policies/acl/TeaM")
    assert service.get("sys/policies/acl/team").status == 404


def test_rules_is_an_old_name(service) -> None:
    written = service.put("sys/policy/a", {"rules": TEXT})
    assert (written.status, written.warnings) == (200, ["'rules' is deprecated, please use 'policy' instead"])
    assert service.get("sys/policies/acl/a").data["policy"] == TEXT


def test_a_text_may_come_as_base64(service) -> None:
    service.put("sys/policies/acl/a", {"policy": b64encode(TEXT.encode()).decode()})
    assert service.get("sys/policies/acl/a").data["policy"] == TEXT


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("a", {}, "'policy' parameter not supplied or empty"),
        ("a", {"policy": ""}, "'policy' parameter not supplied or empty"),
        ("a", {"policy": 'path "x" { capabilities = ["fly"] }'}, 'path "x": invalid capability "fly"'),
        ("a", {"policy": 'path "x" { colour = "red" }'}, 'invalid key "colour" on line 1'),
        ("a", {"policy": "nonsense {"}, "failed to parse policy: "),
        ("root", {"policy": TEXT}, 'cannot update "root" policy'),
        ("ROOT", {"policy": TEXT}, 'cannot update "root" policy'),
        ("response-wrapping", {"policy": TEXT}, 'cannot update "response-wrapping" policy'),
    ],
)
def test_what_is_no_policy(service, name: str, body, text: str) -> None:
    refused = service.put(f"sys/policies/acl/{name}", body)
    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.list("sys/policies/acl").data["keys"] == ["default", "root"]


def test_those_that_stay(service) -> None:
    assert service.get("sys/policies/acl/root").data == {"name": "root", "policy": ""}
    assert service.delete("sys/policies/acl/root").errors == ['cannot delete "root" policy']
    assert service.delete("sys/policies/acl/default").errors == ["cannot delete default policy"]
    assert service.delete("sys/policies/acl/response-wrapping").errors == ['cannot delete "response-wrapping" policy']
    assert service.put("sys/policies/acl/response-wrapping", {"policy": TEXT}).status == 400
    shown = service.get("sys/policies/acl/response-wrapping").data
    assert shown["name"] == "response-wrapping"
    assert 'path "cubbyhole/response"' in shown["policy"]
    assert service.get("sys/policy/Response-Wrapping").data["rules"] == shown["policy"]
    assert "response-wrapping" not in service.list("sys/policies/acl").data["keys"]
    assert service.put("sys/policies/acl/default", {"policy": TEXT}).status == 204


def test_a_change_is_in_force_at_once(service) -> None:
    service.post("sys/mounts/x", {"type": "kv"})
    service.post("x/a", {"k": 1})
    service.put("sys/policies/acl/a", {"policy": TEXT})
    token = service.post("auth/token/create", {"policies": ["a"]}).auth["client_token"]
    assert service.get("x/a", token=token).status == 200
    service.put("sys/policies/acl/a", {"policy": 'path "y/*" { capabilities = ["read"] }'})
    assert service.get("x/a", token=token).status == 403
    service.put("sys/policies/acl/a", {"policy": TEXT})
    assert service.get("x/a", token=token).status == 200
    service.delete("sys/policies/acl/a")
    assert service.get("x/a", token=token).status == 403


def test_an_unknown_member_alone_makes_no_body(service) -> None:
    assert service.put("sys/policies/acl/a", {"policy": TEXT, "unknown": 1}).status == 204
    told = service.put("sys/policies/acl/A", {"policy": TEXT, "unknown": 1})
    assert (told.status, len(told.warnings)) == (200, 2)
