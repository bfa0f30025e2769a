"""Audit devices: what their options mean, and how they are stored."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.audit.devices import LOCAL_DEVICES, Device, make_device, read_devices, write_devices
from labkit.vault.context import Context
from labkit.vault.mounts import AUDIT_DEVICES


@pytest.fixture
def step(service):
    """A step of the service."""
    return Context(service.core, Request("GET", "x"), service.core.now())


def made(kind: str = "file", at: str = "a/", local: bool = False, **options: str) -> Device:
    if kind == "file":
        options = {"file_path": "/log", **options}
    return make_device([at, kind, "", list(options.items()), "00" * 32, local])


def test_devices_come_back_sorted_and_local_ones_have_a_record_of_their_own(step) -> None:
    second, local = made(at="b/", log_raw="true"), made(at="aa/", local=True)
    write_devices(step, (second, local, made()))
    assert [device[:6] for device in read_devices(step)] == [device[:6] for device in (made(), local, second)]
    assert {AUDIT_DEVICES, LOCAL_DEVICES} <= step.writes.keys()
    write_devices(step, (local,))
    assert [device[:6] for device in read_devices(step)] == [local[:6]]
    write_devices(step, ())
    assert (step.writes[AUDIT_DEVICES], step.writes[LOCAL_DEVICES], read_devices(step)) == (None, None, ())
    assert repr(local) == "Device(aa/)"


@pytest.mark.parametrize(
    ("kind", "options", "sink"),
    [
        ("file", {}, "/log"),
        ("file", {"file_path": "", "path": "/old"}, "/old"),
        ("file", {"mode": "0640"}, "/log"),
        ("file", {"mode": "0"}, "/log"),
        ("socket", {"address": "collector:9090"}, "tcp://collector:9090"),
        ("socket", {"address": "c:1", "socket_type": "udp", "write_timeout": "5s"}, "udp://c:1"),
        ("socket", {"address": "/run/s", "socket_type": "unix"}, "unix:///run/s"),
        ("syslog", {}, "syslog://AUTH/vault"),
        ("syslog", {"facility": "LOCAL7", "tag": "paris"}, "syslog://LOCAL7/paris"),
    ],
)
def test_where_a_device_writes(kind, options, sink) -> None:
    assert made(kind, **options).sink == sink


def test_what_options_mean() -> None:
    device = made()
    assert (device.log_raw, device.hmac_accessor, device.elides_lists, device.fallback) == (False, True, False, False)
    assert (device.prefix, device.format, device.filter) == ("", "json", None)
    device = made(log_raw="1", hmac_accessor="false", elide_list_responses="t", prefix="p", format="jsonx")
    assert (device.log_raw, device.hmac_accessor, device.elides_lists) == (True, False, True)
    assert (device.prefix, device.format) == ("p", "jsonx")
    assert made(filter="path is empty").filter == ("equals", "path", "")
    assert made(fallback="true").fallback


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        ("file", {"file_path": ""}, "file_path is required"),
        ("file", {"mode": "rw"}, "option mode: 'rw' is not a file's mode"),
        ("file", {"mode": "0999"}, "option mode"),
        ("file", {"format": "xml"}, "unknown format type 'xml'; there is json and jsonx"),
        ("file", {"log_raw": "maybe"}, "option log_raw"),
        ("file", {"hmac_accessor": "maybe"}, "option hmac_accessor"),
        ("file", {"elide_list_responses": "maybe"}, "option elide_list_responses"),
        ("file", {"fallback": "maybe"}, "option fallback"),
        ("file", {"filter": "maybe"}, "option filter"),
        ("socket", {}, "address is required"),
        ("socket", {"address": "a", "socket_type": "ftp"}, "option socket_type: expected tcp, udp, unix, not 'ftp'"),
        ("socket", {"address": "a", "write_timeout": "soon"}, "option write_timeout"),
        ("socket", {"address": "a", "write_timeout": "-1s"}, "option write_timeout: it cannot be negative"),
    ],
)
def test_what_is_no_device(kind, options, text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        made(kind, **options)
    assert text in refused.value.errors[0]
