"""Which headers audit records show, as stored."""

from __future__ import annotations

from labkit.service.message import Request
from labkit.vault.audit.headers import HEADERS, read_headers, write_headers
from labkit.vault.context import Context


def test_headers_come_back_sorted_and_none_leaves_nothing(service) -> None:
    step = Context(service.core, Request("GET", "x"), service.core.now())
    assert read_headers(step) == {}
    write_headers(step, {"x-b": True, "x-a": False})
    assert list(read_headers(step).items()) == [("x-a", False), ("x-b", True)]
    write_headers(step, {})
    assert step.writes[HEADERS] is None
    assert read_headers(step) == {}
