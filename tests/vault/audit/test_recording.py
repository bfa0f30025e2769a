"""Which requests have audit records, on which devices, and what becomes of those that cannot be written."""

from __future__ import annotations

import json

import pytest

from labkit.vault.audit import UNRECORDED


def enable(service, name: str = "file", **options: str) -> None:
    done = service.put(f"sys/audit/{name}", {"type": "file", "options": {"file_path": f"/{name}", **options}})
    assert done.status == 204, done.errors


def records(service, name: str = "file") -> list[dict]:
    return [json.loads(line) for line in service.files.lines.get(f"/{name}", ())]


def test_every_request_has_both_records_but_those_about_the_state_of_a_node(service) -> None:
    def recorded(path: str, token: str | None = None) -> list[str]:
        before = len(records(service))
        service.get(path, token=token)
        return [record["type"] for record in records(service)[before:]]

    enable(service)
    assert recorded("sys/mounts") == ["request", "response"]
    assert recorded("secret/data/none") == ["request", "response"]
    assert recorded("sys/mounts", token="no such token") == ["request", "response"]
    assert recorded("sys/mounts", token="") == ["request", "response"]
    assert recorded("nowhere/at/all") == ["request", "response"]
    assert [recorded(path) for path in UNRECORDED] == [[]] * len(UNRECORDED)


def test_a_request_refused_before_its_handler_has_the_reason_in_both_records(service) -> None:
    enable(service)
    service.post("auth/token/create", {"ttl": ["x"], "num_uses": "odd"}, token="no such token")
    request, response = records(service)[-2:]
    assert request["error"] == response["error"]
    assert "invalid token" in request["error"]
    assert request["request"] == response["request"]
    assert ("auth" in request, "response" in request, "response" in response) == (False, False, True)
    service.get("secret/data/none")
    assert "error" not in records(service)[-2]


def test_a_request_whose_route_is_not_known_has_both_records_without_its_data(service) -> None:
    enable(service)
    service.post("secret/data/a", {"data": {"x": float("nan")}})
    request, response = records(service)[-2:]

    assert (request["type"], response["type"]) == ("request", "response")
    assert request["request"] == response["request"]
    assert request["request"] == {
        "id": request["request"]["id"],
        "operation": "unknown",
        "namespace": {"id": "root", "path": ""},
        "path": "secret/data/a",
        "remote_address": "127.0.0.1",
    }
    assert request["error"] == response["error"]
    service.put("sys/seal")
    sealed = len(records(service))
    service.post("secret/data/a", {"data": {"x": float("nan")}})
    assert len(records(service)) == sealed


def test_a_device_that_fails_is_reported_and_the_last_one_ends_the_request(service, observed) -> None:
    enable(service, "a")
    enable(service, "b")
    service.files.block("/a", "no space left")
    assert service.get("sys/mounts").ok
    assert observed == [("audit device failed", {"device": "a/"})] * 2
    service.files.block("/b", "no space left")
    refused = service.get("sys/mounts")
    text = "internal error: audit device a/ failed: no space left; audit device b/ failed: no space left"
    assert (refused.status, refused.errors) == (500, [f"1 error occurred:\n\t* {text}\n\n"])
    service.files.unblock("/b")
    assert service.get("sys/mounts").ok


@pytest.mark.parametrize("kind", ["written", "refused"])
def test_what_cannot_be_recorded_changes_nothing(service, kind: str) -> None:
    enable(service)
    service.post("secret/data/a", {"data": {"k": 1}})
    before = service.core.storage.state()
    service.files.block("/file")
    body = {"data": {"k": 2}} if kind == "written" else {"data": {"k": 2}, "options": {"cas": 7}}
    refused = service.post("secret/data/a", body)
    assert (refused.status, "no space left" in refused.errors[0]) == (500, True)
    assert service.core.storage.state() == before


def test_a_record_of_the_response_that_cannot_be_written_undoes_the_request(service) -> None:
    enable(service)
    before = service.core.storage.state()
    append, count = service.core.append_line, [0]

    def second_fails(path: str, line: bytes) -> None:
        count[0] += 1
        if count[0] == 2:
            raise OSError("no space left")
        append(path, line)

    service.core.append_line = second_fails
    assert service.post("secret/data/a", {"data": {"k": 1}}).status == 500
    assert service.core.storage.state() == before


def test_a_filter_chooses_records_and_the_fallback_has_the_rest(service) -> None:
    enable(service, "kv", filter='mount_type == "kv" and operation != "read"')
    enable(service, "rest", fallback="true")
    service.post("secret/data/a", {"data": {"k": 1}})
    service.get("secret/data/a")
    service.get("sys/mounts")
    assert [record["request"]["path"] for record in records(service, "kv")[1:]] == ["secret/data/a"] * 2
    rest = [(record["request"]["operation"], record["request"]["path"]) for record in records(service, "rest")[1:]]
    assert rest == [("read", "secret/data/a")] * 2 + [("read", "sys/mounts")] * 2
    enable(service, "all")
    before = len(records(service, "rest"))
    service.get("sys/mounts")
    assert len(records(service, "rest")) == before
    service.delete("sys/audit/kv")
    service.get("sys/mounts")
    assert (len(records(service, "rest")), len(records(service, "all"))) == (before, 7)


def test_what_no_filter_lets_through_has_not_failed(service) -> None:
    enable(service, "kv", filter="mount_type == kv")
    service.files.block("/kv")
    assert service.get("sys/mounts").ok
    assert service.get("secret/data/a").status == 500
    enable(service, "other", filter="mount_type == kv")
    assert service.get("secret/data/a").status == 404


def test_a_discarding_device_writes_nothing_and_cannot_fail(service) -> None:
    enable(service, "none", file_path="discard")
    service.files.block("discard")
    assert service.get("sys/mounts").ok
    enable(service)
    service.files.block("/file")
    assert service.get("sys/mounts").ok
    assert list(service.files.lines) == ["/file"]
