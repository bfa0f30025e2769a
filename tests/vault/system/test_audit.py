"""Audit devices: what they write, what they never write, and finding a known value again."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest

from labkit.vault.auth.token.table import TABLE as TOKENS
from labkit.vault.engines.kv.table import TABLE as KV
from labkit.vault.engines.transit.table import TABLE as TRANSIT
from labkit.vault.system.table import TABLE as SYSTEM

CANARY = "canary-7f3a"
METHODS = {"read": "GET", "write": "POST", "list": "LIST", "delete": "DELETE", "patch": "PATCH"}
SHOWN = {"meta", "policies", "display_name"}


class Files:
    """Simulated files: lines by path; one may be broken."""

    def __init__(self) -> None:
        self.lines: dict[str, list[bytes]] = {}
        self.broken = False
        self.broken_path = ""

    def append(self, path: str, line: bytes) -> None:
        if self.broken or path == self.broken_path:
            raise OSError("no space left")
        self.lines.setdefault(path, []).append(line)

    def records(self, path: str = "/log") -> list[dict]:
        return [json.loads(line) for line in self.lines.get(path, ())]


@pytest.fixture
def files(service) -> Files:
    """The files of the service's node."""
    files = Files()
    service.core.append_line = files.append
    return files


def enable(service, name: str = "file", **options: str):
    return service.put(f"sys/audit/{name}", {"type": "file", "options": {"file_path": "/log", **options}})


def test_devices_are_listed_and_disabled(service, files) -> None:
    assert service.get("sys/audit").data == {}
    assert enable(service).status == 204
    assert enable(service, "second", file_path="/other", log_raw="true").status == 204
    listed = service.get("sys/audit")
    file = {"path": "file/", "type": "file", "description": "", "options": {"file_path": "/log"}, "local": False}
    assert listed.data["file/"] == listed.body["file/"] == file
    assert listed.data["second/"]["options"] == {"file_path": "/other", "log_raw": "true"}

    assert service.delete("sys/audit/file").status == 204
    assert service.delete("sys/audit/file").status == 204
    assert list(service.get("sys/audit").data) == ["second/"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "backend type must be specified as a string"),
        ({"type": "kafka"}, "unknown backend type: 'kafka'; there is file, socket, syslog"),
        ({"type": "socket"}, "address is required"),
        ({"type": "file", "options": {"file_path": "/x", "filter": "x"}}, "option filter"),
        (
            {"type": "file", "options": {"file_path": "/x", "fallback": "true", "filter": "path is empty"}},
            "cannot configure a fallback device with a filter",
        ),
        ({"type": "file"}, "file_path is required"),
        ({"type": "file", "options": {"file_path": "/x", "log_raw": "maybe"}}, "option log_raw"),
    ],
)
def test_what_is_no_device(service, files, body, text: str) -> None:
    refused = service.put("sys/audit/a", body)
    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get("sys/audit").data == {}


def test_sockets_syslog_and_local_devices_are_enabled(service, files) -> None:
    bodies: dict[str, dict] = {
        "socket": {"type": "socket", "options": {"address": "collector:9090", "socket_type": "udp"}},
        "syslog": {"type": "syslog", "local": True, "description": "the host's", "options": {"tag": "paris"}},
    }
    for name, body in bodies.items():
        assert service.put(f"sys/audit/{name}", body).status == 204
    service.get("sys/mounts")
    assert files.records("udp://collector:9090")[-1]["request"]["path"] == "sys/mounts"
    assert files.records("syslog://AUTH/paris")[-1]["request"]["path"] == "sys/mounts"
    listed = service.get("sys/audit").data
    assert listed["syslog/"] == {"path": "syslog/", **bodies["syslog"]}
    assert listed["socket/"] == {"path": "socket/", "description": "", "local": False, **bodies["socket"]}
    service.delete("sys/audit/socket")
    assert list(service.get("sys/audit").data) == ["syslog/"]
    service.delete("sys/audit/syslog")
    assert [name for name in service.core.storage.list("core/") if "audit" in name] == []


def test_there_is_one_fallback(service, files) -> None:
    assert enable(service, fallback="true").status == 204
    assert enable(service, "b", fallback="true").errors == ["a fallback device is enabled already; there can be one"]


def test_options_of_other_kinds_are_ignored_with_a_warning(service, files) -> None:
    enabled = enable(service, tag="x", colour="blue")
    text = "options that a device of type file does not have were ignored: colour, tag"
    assert (enabled.status, enabled.warnings) == (200, [text])
    assert service.get("sys/audit").data["file/"]["options"] == {"file_path": "/log"}


def test_a_path_has_one_device(service, files) -> None:
    enable(service)
    assert enable(service).errors == ["path already in use"]


def test_a_device_that_cannot_write_is_not_enabled(service, files) -> None:
    files.broken = True
    refused = enable(service)
    assert refused.status == 400
    assert refused.errors[0].startswith("sanity check failed; unable to open /log for writing")
    assert service.get("sys/audit").status == 200


def test_two_records_a_request(service, files) -> None:
    enable(service)
    files.lines.clear()
    service.post("secret/data/a", {"data": {"k": CANARY}})
    request, response = files.records()

    assert (request["type"], response["type"]) == ("request", "response")
    assert request["request"]["id"] == response["request"]["id"]
    assert (request["request"]["operation"], request["request"]["path"]) == ("create", "secret/data/a")
    assert request["request"]["mount_type"] == "kv"
    assert request["auth"]["policies"] == ["root"]
    assert "response" not in request
    assert response["response"]["data"]["version"] == 1


def test_refused_requests_are_written_too(service, files) -> None:
    enable(service)
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    files.lines.clear()
    service.get("secret/data/a", token=token)
    service.get("secret/data/a", token="none")
    assert [record["type"] for record in files.records()] == ["request", "response"] * 2
    assert all("permission denied" in record["error"] for record in files.records())


def test_no_text_value_is_ever_written(service, files) -> None:
    enable(service)
    wrap = {"X-Vault-Wrap-TTL": "5m"}
    token = service.post("auth/token/create", {"id": f"{CANARY}-token"}).auth["client_token"]
    service.post("secret/data/a", {"data": {"k": CANARY, "deep": [{"l": CANARY}]}}, token=token)
    service.get("secret/data/a", token=token)
    service.post("auth/token/lookup", {"token": token})
    service.get("auth/token/lookup-self", token=token)
    service.post("auth/token/renew", {"token": token})
    service.post("sys/capabilities", {"token": token, "paths": ["a"]})
    info = service.post("sys/wrapping/wrap", {"k": CANARY}, headers=wrap).wrap_info
    service.post("sys/wrapping/lookup", {"token": info["token"]}, token="")
    service.post("sys/wrapping/unwrap", {"token": info["token"]})
    service.post("sys/wrapping/unwrap", {"token": info["token"]})
    service.post("transit/keys/k")
    sealed = service.post("transit/encrypt/k", {"plaintext": "Y2FuYXJ5LTdmM2E="}).data["ciphertext"]
    service.post("transit/decrypt/k", {"ciphertext": sealed})
    service.post("auth/token/revoke", {"token": token})
    service.get("auth/token/lookup-self", token=token)
    written = b"\n".join(files.lines["/log"]).decode()

    assert written.count('"type":"response"') > 12
    accessors = (service.get("auth/token/lookup-self").data["accessor"], info["accessor"])
    values = (CANARY, token, info["token"], "Y2FuYXJ5LTdmM2E=", sealed, *accessors)
    for secret in (*values, service.root_token, *service.unseal_keys):
        assert secret not in written


@pytest.mark.parametrize("hidden_accessors", ["true", "false"])
def test_nothing_that_any_endpoint_is_sent_or_answers_is_written(service, files, hidden_accessors) -> None:
    """Names, policies, a token's metadata and its display name are shown; no other text is."""
    enable(service, hmac_accessor=hidden_accessors)
    own = service.get("auth/token/lookup-self").data["accessor"]
    routes = [("sys/", route) for route in SYSTEM.routes if route.pattern not in ("seal", "step-down")]
    routes += [("auth/token/", route) for route in TOKENS.routes if route.pattern != "revoke-self"]
    routes += [("secret/", route) for route in KV.routes] + [("transit/", route) for route in TRANSIT.routes]
    secrets = {service.root_token, *service.unseal_keys} | ({own} if hidden_accessors == "true" else set())
    for prefix, route in routes:
        path = prefix + re.sub("<.*?>", "a", route.pattern)
        body: dict[str, object] = {field.name: CANARY for field in route.fields if field.name not in SHOWN}
        body["none of its fields"] = [CANARY]
        query = "" if route.operation in ("write", "patch") else "?" + urlencode(dict.fromkeys(body, CANARY))
        headers = {"Content-Type": "application/merge-patch+json", "X-Vault-Token": service.root_token}
        sent = None if query else body
        answered = service.request(METHODS[route.operation], path + query, json=sent, headers=headers)
        auth = (answered.body or {}).get("auth") or {}
        secrets |= {auth[name] for name in ("client_token",) if name in auth}
    written = b"\n".join(files.lines["/log"]).decode()
    assert written.count('"type":"response"') > 100
    assert [secret for secret in (CANARY, *secrets) if secret in written] == []
    assert (own in written) is (hidden_accessors == "false")


def test_a_query_s_values_are_hidden(service, files) -> None:
    enable(service)
    service.get(f"auth/token/lookup?token={CANARY}")
    assert CANARY not in b"\n".join(files.lines["/log"]).decode()


def test_a_known_value_can_be_found(service, files) -> None:
    enable(service)
    service.post("secret/data/a", {"data": {"k": CANARY}})
    told = service.post("sys/audit-hash/file", {"input": CANARY})
    assert told.data["hash"] == told.body["hash"]
    written = next(record for record in files.records() if record["request"]["path"] == "secret/data/a")
    assert written["request"]["data"]["data"]["k"] == told.data["hash"]

    enable(service, "other")
    assert service.post("sys/audit-hash/other", {"input": CANARY}).data["hash"] != told.data["hash"]
    assert service.post("sys/audit-hash/none", {"input": "x"}).errors == ["unknown audit backend 'none/'"]
    assert service.post("sys/audit-hash/file", {}).errors == ['the "input" parameter is empty']


def test_a_raw_device_writes_values(service, files) -> None:
    enable(service, log_raw="true")
    service.post("secret/data/a", {"data": {"k": CANARY}})
    assert any(CANARY.encode() in line for line in files.lines["/log"])


def test_when_no_record_can_be_written_nothing_is_done(service, files) -> None:
    enable(service)
    files.broken = True
    assert service.post("secret/data/a", {"data": {"k": 1}}).status == 500
    files.broken = False
    assert service.get("secret/data/a").status == 404


def test_one_device_that_writes_is_enough(service, files) -> None:
    enable(service)
    enable(service, "second", file_path="/other")
    files.broken_path = "/log"
    assert service.post("secret/data/a", {"data": {"k": 1}}).status == 200
    assert files.records("/other")[-1]["request"]["path"] == "secret/data/a"


def test_status_is_not_written(service, files) -> None:
    enable(service)
    files.lines.clear()
    for path in ("sys/health", "sys/seal-status", "sys/leader"):
        service.get(path)
    assert files.lines == {}


def test_devices_need_sudo(service, files) -> None:
    service.put("sys/policies/acl/m", {"policy": 'path "sys/audit*" { capabilities = ["create", "read", "update"] }'})
    token = service.post("auth/token/create", {"policies": ["m"]}).auth["client_token"]
    assert service.get("sys/audit", token=token).status == 403
    assert service.put("sys/audit/a", {"type": "file"}, token=token).status == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("auth/token/create", {"ttl": CANARY}),
        ("sys/audit/b", {"type": CANARY}),
        ("sys/mounts/m", {"type": CANARY, "config": {"listing_visibility": CANARY}}),
        ("sys/remount", {"from": CANARY, "to": "b"}),
        ("transit/keys/k", {"type": CANARY, "auto_rotate_period": f" {CANARY}"}),
        ("transit/keys/k", {"auto_rotate_period": CANARY * 100}),
        ("sys/mounts/m", {"type": f"{CANARY}'\u00e4\n"}),
        ("secret/metadata/a", {"delete_version_after": f"{CANARY}s"}),
        ("sys/health?standbyok=" + CANARY, None),
    ],
)
def test_no_error_repeats_a_value(service, files, path, body) -> None:
    enable(service)
    files.lines.clear()
    refused = service.post(path, body) if body else service.get(path)
    assert refused.status == 400
    assert CANARY in refused.errors[0]

    assert CANARY not in b"\n".join(files.lines.get("/log", [])).decode()
    if body:
        assert "hmac-sha256:" in files.records()[-1]["error"]


def test_a_raw_device_writes_errors_as_they_are(service, files) -> None:
    enable(service, log_raw="true")
    service.post("auth/token/create", {"ttl": CANARY})
    assert CANARY in files.records()[-1]["error"]


def test_a_digest_stands_for_a_very_long_error(service, files) -> None:
    enable(service)
    items = [{"plaintext": f"value-{number}", "key_version": "x" * 500} for number in range(2_000)]
    refused = service.post("transit/encrypt/k", {"batch_input": items})
    assert refused.status == 400
    assert len(refused.errors[0]) > 100_000

    assert files.records()[-1]["error"].startswith("hmac-sha256:")
    assert len(files.records()[-1]["error"]) < 100
