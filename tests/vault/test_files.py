"""Simulated files: lines in order, and audit devices that write them."""

from __future__ import annotations

import json

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


def test_an_audit_device_writes_them(service):
    assert service.put("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}}).status == 204
    service.post("secret/data/a", {"data": {"x": "canary"}})

    lines = [json.loads(line) for line in service.files.lines["audit.log"]]
    assert [line["type"] for line in lines if line["request"]["path"] == "secret/data/a"] == ["request", "response"]
    assert "canary" not in str(lines)
