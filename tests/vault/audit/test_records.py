"""What an audit record holds of a request and its response."""

from __future__ import annotations

import json

import pytest

from labkit.service.message import respond
from labkit.vault.audit.devices import read_devices
from labkit.vault.audit.records import Facts, lay_out
from labkit.vault.context import own_work
from labkit.vault.storage.records import encode_record
from tests.vault.test_damage import spoil


@pytest.fixture
def audited(service):
    """The service with two devices: one that hides values and one that does not."""
    service.put("sys/audit/raw", {"type": "file", "options": {"file_path": "/raw", "log_raw": "true"}})
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    return service


def last(service, path: str = "/log", kind: str = "response") -> dict:
    return next(record for line in reversed(service.files.lines[path]) if (record := json.loads(line))["type"] == kind)


def digest(service, text: str) -> str:
    return service.post("sys/audit-hash/file", {"input": text}).data["hash"]


def test_who_asked_and_which_mount_answered_are_recorded(audited, clock) -> None:
    audited.post("secret/data/a", {"data": {"k": "value"}})
    raw, hidden = last(audited, "/raw"), last(audited)
    own = audited.get("auth/token/lookup-self").data
    mount = audited.get("sys/mounts/secret").data

    assert raw["auth"].pop("accessor") == raw["request"].pop("client_token_accessor") == own["accessor"]
    assert raw["auth"].pop("client_token") == raw["request"].pop("client_token") == audited.root_token
    assert hidden["auth"].pop("accessor") == digest(audited, own["accessor"])
    assert hidden["request"]["client_token_accessor"] == digest(audited, own["accessor"])
    assert hidden["auth"].pop("client_token") == hidden["request"]["client_token"]
    assert hidden["request"]["client_token"] == digest(audited, audited.root_token)
    assert (
        raw["auth"]
        == hidden["auth"]
        == {
            "display_name": "root",
            "policies": ["root"],
            "token_policies": ["root"],
            "token_type": "service",
            "token_issue_time": "2030-01-01T00:00:00Z",
            "policy_results": {
                "allowed": True,
                "granting_policies": [{"name": "root", "namespace_id": "root", "type": "acl"}],
            },
        }
    )
    shown = {"mount_point": "secret/", "mount_type": "kv", "mount_class": "secret"}
    shown["mount_accessor"] = mount["accessor"]
    for record in (raw, hidden):
        assert {name: record["request"][name] for name in shown} == shown
        assert {name: record["response"][name] for name in shown} == shown
        assert record["request"]["remote_address"] == "127.0.0.1"
    assert raw["request"]["data"] == {"data": {"k": "value"}}
    assert raw["response"]["data"]["version"] == 1


def test_which_policies_allowed_a_request_is_recorded(audited) -> None:
    for name in ("one", "two"):
        rule = f'path "secret/data/{name}" {{ capabilities = ["read"] }}'
        audited.put(f"sys/policies/acl/{name}", {"policy": rule})
    both = {"policies": ["one", "two"], "ttl": "1h", "meta": {"team": "blue"}, "num_uses": 5}
    token = audited.post("auth/token/create", both).auth["client_token"]
    audited.get("secret/data/one", token=token)
    auth = last(audited)["auth"]
    assert auth["policy_results"] == {
        "allowed": True,
        "granting_policies": [{"name": "one", "namespace_id": "root", "type": "acl"}],
    }
    assert (auth["metadata"], auth["token_ttl"], auth["remaining_uses"]) == ({"team": "blue"}, 3600, 5)
    audited.post("secret/data/one", {"data": {}}, token=token)
    assert last(audited)["auth"]["policy_results"] == {"allowed": False}
    audited.get("sys/audit", token=token)
    assert last(audited, kind="request")["auth"]["policy_results"] == {"allowed": False}


def test_a_batch_token_has_no_accessor(audited) -> None:
    token = audited.post("auth/token/create", {"type": "batch", "policies": ["default"]}).auth["client_token"]
    audited.get("auth/token/lookup-self", token=token)
    record = last(audited, "/raw")
    assert "accessor" not in record["auth"]
    assert "client_token_accessor" not in record["request"]


def test_the_credentials_of_an_answer_are_recorded_by_their_digests(audited) -> None:
    created = audited.post("auth/token/create", {"policies": ["default"]}).auth
    shown = last(audited)["response"]["auth"]
    assert shown["client_token"] == digest(audited, created["client_token"])
    assert shown["accessor"] == digest(audited, created["accessor"])
    assert shown["policies"] == ["default"]
    wrapped = audited.post("auth/token/create", {}, headers={"X-Vault-Wrap-TTL": "90s"}).wrap_info
    record = last(audited)
    shown = record["response"]["wrap_info"]
    assert record["request"]["wrap_ttl"] == 90
    assert {name: shown[name] for name in ("token", "accessor", "wrapped_accessor")} == {
        name: digest(audited, wrapped[name]) for name in ("token", "accessor", "wrapped_accessor")
    }
    assert (shown["creation_path"], shown["ttl"]) == ("auth/token/create", 90)


def test_an_accessor_is_shown_where_the_device_does_not_hide_it(service) -> None:
    options = {"file_path": "/log", "hmac_accessor": "false"}
    service.put("sys/audit/file", {"type": "file", "options": options})
    created = service.post("auth/token/create", {}).auth
    record = last(service)
    assert record["response"]["auth"]["accessor"] == created["accessor"]
    assert record["auth"]["accessor"] == service.get("auth/token/lookup-self").data["accessor"]
    assert record["response"]["auth"]["client_token"].startswith("hmac-sha256:")


def test_the_names_of_a_list_are_counted_where_the_device_elides_them(service) -> None:
    options = {"file_path": "/log", "elide_list_responses": "true"}
    service.put("sys/audit/file", {"type": "file", "options": options})
    for name in "abc":
        service.post(f"secret/data/{name}", {"data": {"keys": ["x"]}})
    service.list("secret/metadata/")
    assert last(service)["response"]["data"] == {"keys": 3}
    service.put("sys/audit/usual", {"type": "file", "options": {"file_path": "/usual", "log_raw": "true"}})
    service.list("secret/metadata/")
    assert last(service, "/usual")["response"]["data"] == {"keys": ["a", "b", "c"]}
    service.get("secret/data/a")
    assert len(last(service)["response"]["data"]["data"]["keys"]) == 1


def test_members_that_the_mount_exempts_are_in_the_clear(audited) -> None:
    keys = {"audit_non_hmac_request_keys": "type,options", "audit_non_hmac_response_keys": ["type"]}
    assert audited.post("sys/mounts/transit/tune", keys).status == 204
    audited.post("transit/keys/k", {"type": "aes128-gcm96", "colour": "blue"})
    record = last(audited)
    assert record["request"]["data"]["type"] == "aes128-gcm96"
    assert record["request"]["data"]["colour"] == digest(audited, "blue")
    audited.get("transit/keys/k")
    assert last(audited)["response"]["data"]["type"] == "aes128-gcm96"
    assert last(audited)["response"]["data"]["name"] == digest(audited, "k")


def test_audited_headers_are_shown(audited) -> None:
    audited.put("sys/config/auditing/request-headers/X-Plain", {"hmac": False})
    audited.put("sys/config/auditing/request-headers/X-Hidden", {"hmac": True})
    audited.get("secret/data/a", headers={"X-Plain": "one", "x-hidden": "two", "X-Other": "three"})
    assert last(audited, kind="request")["request"]["headers"] == {
        "x-plain": ["one"],
        "x-hidden": [digest(audited, "two")],
    }
    audited.get("secret/data/a")
    assert "headers" not in last(audited)["request"]


def test_a_record_names_the_namespace_and_what_of_the_caller_s_own_allowed_the_request(audited) -> None:
    child = audited.put("sys/namespaces/a").data
    audited.put("sys/namespaces/b")
    audited.put("sys/policies/acl/p", {"policy": 'path "a/sys/mounts" { capabilities = ["read"] }'})
    token = audited.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
    audited.get("a/sys/mounts", token=token)
    record = last(audited)
    assert record["request"]["namespace"] == {"id": child["id"], "path": "a/"}
    assert (record["request"]["path"], record["request"]["mount_point"]) == ("sys/mounts", "a/sys/")
    assert record["auth"]["policy_results"] == {
        "allowed": True,
        "granting_policies": [{"name": "p", "namespace_id": "root", "type": "acl"}],
    }
    inside = {"X-Vault-Namespace": "a"}
    everything = 'path "*" { capabilities = ["read"] }'
    audited.put("sys/policies/acl/all", {"policy": everything}, headers=inside)
    token = audited.post("auth/token/create", {"policies": ["all"]}, headers=inside).auth["client_token"]
    assert audited.get("b/sys/mounts", token=token).status == 403
    assert last(audited, kind="request")["auth"]["policy_results"] == {"allowed": False}
    audited.get("a/sys/mounts", token=token)
    assert last(audited)["auth"]["policy_results"]["granting_policies"][0]["namespace_id"] == child["id"]


def test_a_record_names_the_namespace_and_the_path_within_it(service) -> None:
    number = service.post("sys/namespaces/team").data["id"]
    service.post("sys/mounts/secret", {"type": "kv"}, namespace="team")
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    for how in ({"path": "team/secret/a"}, {"path": "secret/a", "namespace": "team"}):
        service.get(**how)
    service.get("secret/a", namespace="none")
    service.get("sys/mounts")
    *inside, _, unknown, root, _ = [json.loads(line)["request"] for line in service.files.lines["/log"][-8:]]

    assert [record["namespace"] for record in inside] == [{"id": number, "path": "team/"}] * 4
    assert {(record["path"], record["mount_point"]) for record in inside} == {("secret/a", "team/secret/")}
    assert unknown["namespace"] == {"id": "", "path": "none/"}
    assert root["namespace"] == {"id": "root", "path": ""}


def test_a_policy_that_does_not_open_any_more_lets_no_caller_in_and_that_is_recorded(audited) -> None:
    for name in ("one", "two"):
        audited.put(f"sys/policies/acl/{name}", {"policy": f'path "secret/data/{name}" {{ capabilities = ["read"] }}'})
    token = audited.post("auth/token/create", {"policies": ["one", "two"]}).auth["client_token"]
    audited.delete("sys/audit/raw")
    audited.delete("sys/audit/file")
    assert audited.get("secret/data/one", token=token).status == 404
    audited.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    assert audited.get("secret/data/one", token=token).status == 404
    spoil(audited, "policy/text/two")
    assert audited.get("secret/data/one", token=token).status == 500
    assert "policy/text/two does not open" in last(audited)["error"]


def test_a_record_is_written_as_stored_records_are(audited) -> None:
    odd = {'q"\\': ["ä\n\x1f😀", 10**40, 2.5, None, True, {}], "": ""}
    audited.post("secret/data/ä%20b", {"data": odd}, headers={"X-Vault-Wrap-TTL": "60s"}, remote_address="::1")
    audited.post("secret/data/a", {"data": 5})
    audited.get("nowhere")
    for path in ("/raw", "/log"):
        lines = audited.files.lines[path][-6:]
        assert [encode_record(json.loads(line)) for line in lines] == lines
        wrote, answered = map(json.loads, lines[:2])
        shared = ["time", "type", "auth", "request"]
        assert ([*wrote], [*answered]) == (shared, [*shared, "response"])
        refused = [[*json.loads(line)] for line in lines[2:]]
        assert (
            refused
            == [["time", "type", "error", "auth", "request"], [*shared[:2], "error", *shared[2:], "response"]] * 2
        )
    assert last(audited, "/raw", "request")["request"]["path"] == "nowhere"


def test_the_record_of_an_answer_has_its_own_time_and_says_of_the_request_what_it_said(service, clock) -> None:
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    device = read_devices(own_work(service.core))[0]
    ctx = own_work(service.core)
    facts = Facts(ctx)
    for kind, response, now in (("request", None, "00:00:00Z"), ("response", respond(204), "00:00:01.5Z")):
        facts.begin(ctx, kind, response)
        record = json.loads(lay_out(ctx, facts, device))
        assert (record["type"], record["time"]) == (kind, f"2030-01-01T{now}")
        assert record["request"]["path"] == ""
        ctx.now, ctx.path = ctx.now + 1_500_000_000, "other"
