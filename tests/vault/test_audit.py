"""Audit records: what is hidden, how, and what stays readable."""

from __future__ import annotations

import hmac
import json

import pytest

from labkit.service.message import Request
from labkit.vault import audit
from labkit.vault.audit import Device
from labkit.vault.context import Context

DEVICE = Device("file/", "file", "", "/log", "00" * 32)


@pytest.fixture
def step(service):
    """A step of the service."""
    return Context(service.core, Request("GET", "x"), service.core.now())


def test_devices_come_back_sorted(step) -> None:
    second = DEVICE._replace(path="a/", log_raw=True)
    audit.write_devices(step, (DEVICE, second))
    assert audit.read_devices(step) == (second, DEVICE)
    assert repr(DEVICE) == "Device(file/)"


def test_a_digest_is_an_hmac_under_the_device_s_salt() -> None:
    wanted = hmac.new(bytes(32), b"value", "sha256").hexdigest()
    assert audit.digest(DEVICE, "value") == f"hmac-sha256:{wanted}"
    assert audit.digest(DEVICE._replace(salt="01" * 32), "value") != f"hmac-sha256:{wanted}"


def test_text_values_are_hidden_wherever_they_stand() -> None:
    value = {"a": "x", "b": ["x", 1, {"c": "x"}], "d": True, "e": None, "f": 2.5}
    hidden = audit.digest(DEVICE, "x")
    assert audit._hide(DEVICE, value) == {
        "a": hidden,
        "b": [hidden, 1, {"c": hidden}],
        "d": True,
        "e": None,
        "f": 2.5,
    }
    assert audit._hide(DEVICE._replace(log_raw=True), value) == value


def test_every_request_has_its_records_but_those_about_the_state_of_a_node(service) -> None:
    def recorded(path: str, token: str | None = None) -> list[str]:
        before = len(service.files.lines["/log"])
        service.get(path, token=token)
        return [json.loads(line)["type"] for line in service.files.lines["/log"][before:]]

    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    assert recorded("sys/mounts") == ["request", "response"]
    assert recorded("secret/data/none") == ["request", "response"]
    assert recorded("sys/mounts", token="no such token") == ["response"]
    assert [recorded(path) for path in audit.UNRECORDED] == [[]] * len(audit.UNRECORDED)


def test_a_value_that_an_error_repeats_is_hidden_wherever_it_was_sent() -> None:
    sent = {"a": [1, "one value"], "b": {"c": ({"d": "another"},)}, "e": "all"}
    shown = audit._hide_echoes(DEVICE, "one value, another, all", sent)

    assert shown == f"{audit.digest(DEVICE, 'one value')}, {audit.digest(DEVICE, 'another')}, all"


@pytest.mark.parametrize(("characters", "is_hidden"), [(3, False), (4, True), (200, True), (201, True)])
def test_a_value_is_hidden_from_four_characters_on(characters: int, is_hidden: bool) -> None:
    value = "x" * characters
    assert audit._hide_echoes(DEVICE, f"no {value}", {"a": value}) == (
        f"no {audit.digest(DEVICE, value)}" if is_hidden else f"no {value}"
    )


def test_a_value_that_an_error_cuts_off_is_hidden() -> None:
    value = "".join(map(str, range(100, 200)))
    assert audit._hide_echoes(DEVICE, f"no {value[:200]}", {"a": value}) == f"no {audit.digest(DEVICE, value)}"


def test_an_error_is_searched_up_to_its_limit() -> None:
    for characters, wanted in ((4_096, "x" * 4_096), (4_097, audit.digest(DEVICE, "x" * 4_097))):
        assert audit._hide_echoes(DEVICE, "x" * characters, {"a": "none of it"}) == wanted


def test_a_request_whose_route_is_not_known_has_both_records_without_its_data(service) -> None:
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    before = len(service.files.lines["/log"])
    service.post("secret/data/a", {"data": {"x": float("nan")}})
    request, response = [json.loads(line) for line in service.files.lines["/log"][before:]]

    assert (request["type"], response["type"]) == ("request", "response")
    assert request["request"] == response["request"]
    assert request["request"] == {
        "id": request["request"]["id"],
        "operation": "unknown",
        "namespace": {"id": "root", "path": ""},
        "path": "secret/data/a",
        "remote_address": "127.0.0.1",
    }
    assert "error" in response
    service.put("sys/seal")
    sealed = len(service.files.lines["/log"])
    service.post("secret/data/a", {"data": {"x": float("nan")}})
    assert len(service.files.lines["/log"]) == sealed


def test_a_device_that_fails_is_reported_and_the_last_one_ends_the_request(service, observed) -> None:
    for name in ("a", "b"):
        service.put(f"sys/audit/{name}", {"type": "file", "options": {"file_path": f"/{name}"}})
    broken, append = {"/a"}, service.files.append

    def limited(path: str, line: bytes) -> None:
        if path in broken:
            raise OSError("no space left")
        append(path, line)

    service.core.append_line = limited
    assert service.get("sys/mounts").ok
    assert observed == [("audit device failed", {"device": "a/"})] * 2
    broken.add("/b")
    refused = service.get("sys/mounts")
    text = "internal error: audit device a/ failed: no space left; audit device b/ failed: no space left"
    assert (refused.status, refused.errors) == (500, [f"1 error occurred:\n\t* {text}\n\n"])


def test_who_asked_and_which_mount_answered_are_recorded(service) -> None:
    service.put("sys/audit/raw", {"type": "file", "options": {"file_path": "/raw", "log_raw": "true"}})
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    accessor = service.get("auth/token/lookup-self").data["accessor"]
    service.post("secret/data/a", {"data": {"k": "value"}})
    raw, hidden = (json.loads(service.files.lines[path][-1]) for path in ("/raw", "/log"))
    mount = service.get("sys/mounts/secret").data

    assert raw["auth"].pop("accessor").startswith("hmac-sha256:")
    assert hidden["auth"].pop("accessor") == service.post("sys/audit-hash/file", {"input": accessor}).data["hash"]
    assert (
        raw["auth"]
        == hidden["auth"]
        == {**hidden["auth"], "policies": ["root"], "token_policies": ["root"], "remaining_uses": 0}
    )
    for record in (raw, hidden):
        request = record["request"]
        assert (request["mount_point"], request["mount_type"]) == ("secret/", "kv")
        assert (request["mount_accessor"], request["remote_address"]) == (mount["accessor"], "127.0.0.1")
    assert raw["request"]["data"] == {"data": {"k": "value"}}
    assert raw["response"]["data"]["version"] == 1
