"""Simulated files: lines in order, and audit devices that write them."""

from __future__ import annotations

import json

import pytest

from labkit.vault.files import Files


def test_lines_are_kept_in_order_and_restored():
    files = Files()
    files.append("a", b"1")
    files.append("a", b"2")

    assert files.state() == {"a": (b"1", b"2")}
    assert Files(files.state()).lines == files.lines


def test_restored_files_are_files_of_their_own():
    files = Files({"a": (b"1",)})
    Files(files.state()).append("a", b"2")

    assert files.lines == {"a": [b"1"]}


def test_a_file_is_written_and_read_as_a_whole():
    files = Files()
    files.write("/etc/a.pem", b"one\ntwo\n")
    files.append("audit.log", b"1")
    files.append("audit.log", b"2")

    assert files.read("/etc/a.pem") == b"one\ntwo\n"
    assert files.read("audit.log") == b"1\n2"
    assert files.read("nowhere") is None
    assert Files(files.state()).read("/etc/a.pem") == b"one\ntwo\n"
    files.write("/etc/a.pem", b"")
    assert files.read("/etc/a.pem") == b""


def test_names_are_listed_below_a_folder():
    files = Files(made={"/etc/own.pem": lambda: b"own"})
    for name in ("/etc/b", "/etc/a/c", "/etcetera"):
        files.write(name, b"x")

    assert files.names() == ("/etc/a/c", "/etc/b", "/etc/own.pem", "/etcetera")
    assert files.names("/etc") == files.names("/etc/") == ("/etc/a/c", "/etc/b", "/etc/own.pem")
    assert repr(Files({"a": (b"secret",)})) == "Files(a)"


def test_a_file_that_is_there_from_the_beginning_is_made_when_it_is_used():
    made = []

    def own() -> bytes:
        made.append(1)
        return b"own"

    files = Files(made={"/etc/own.pem": own, "/etc/other.pem": own})
    assert (files.names(), files.state(), made) == (("/etc/other.pem", "/etc/own.pem"), {}, [])
    assert files.read("/etc/own.pem") == b"own"
    files.append("/etc/own.pem", b"line")
    files.write("/etc/other.pem", b"mine")

    assert files.read("/etc/own.pem") == b"own\nline"
    assert Files(files.state(), {"/etc/other.pem": own}).read("/etc/other.pem") == b"mine"


@pytest.mark.parametrize(("path", "content"), [("", b"x"), (None, b"x"), (7, b"x"), ("a", "text"), ("a", None)])
def test_what_is_no_file_is_refused(path, content):
    files = Files()
    with pytest.raises(ValueError, match=r"(path|content): expected"):
        files.write(path, content)

    assert files.names() == ()


def test_a_blocked_file_takes_no_lines_until_it_is_unblocked():
    files = Files()
    files.append("a", b"1")
    files.block("a")
    files.block("b", "connection refused")
    for path, why in (("a", "no space left on device"), ("b", "connection refused")):
        with pytest.raises(OSError, match=why):
            files.append(path, b"2")
    files.append("c", b"1")
    assert Files(files.state(), blocked=files.blocked).blocked == files.blocked
    files.unblock("a")
    files.unblock("none")
    files.append("a", b"2")
    assert files.read("a") == b"1\n2"
    with pytest.raises(ValueError, match="path: expected the name of a file"):
        files.block("")
    with pytest.raises(ValueError, match="why: expected what the system says"):
        files.block("a", "")


def test_an_audit_device_writes_them(service):
    assert service.put("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}}).status == 204
    service.post("secret/data/a", {"data": {"x": "canary"}})

    lines = [json.loads(line) for line in service.files.lines["audit.log"]]
    assert [line["type"] for line in lines if line["request"]["path"] == "secret/data/a"] == ["request", "response"]
    assert "canary" not in str(lines)
