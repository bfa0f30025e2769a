"""Views: a step sees its own writes, nothing outside its prefix, and decodes a record once."""

from __future__ import annotations

import pytest

from labkit.service.message import Request
from labkit.vault.context import Context


@pytest.fixture
def ctx(service):
    """A context of a step over the service's store."""
    return Context(service.core, Request("GET", ""), service.now())


def test_a_step_sees_its_own_writes(ctx):
    part = ctx.full_storage.folder("logical/x/")
    part.put("a", b"1")
    part.put("f/b", b"2")

    assert part.get("a") == b"1"
    assert part.list() == ["a", "f/"]
    part.delete("f/b")
    assert part.list() == ["a"]
    assert part.get("f/b") is None
    assert ctx.core.storage.list("logical/x/") == []


def test_what_was_committed_is_listed_with_what_was_not(ctx):
    part = ctx.full_storage.folder("logical/x/")
    for key in ("a", "f/b", "f/c"):
        part.put(key, b"1")
    ctx.core.commit(ctx.writes)
    ctx.writes = {}

    part.delete("f/b")
    assert part.list() == ["a", "f/"]
    part.delete("f/c")
    assert part.list() == ["a"]
    part.put("f/d", b"1")
    assert part.list() == ["a", "f/"]


def test_a_view_cannot_leave_its_prefix(ctx):
    part = ctx.full_storage.folder("logical/x/")
    part.put("a", b"1")

    assert ctx.full_storage.folder("logical/y/").get("a") is None
    assert set(ctx.writes) == {"logical/x/a"}


def test_a_record_is_decoded_once_while_its_bytes_are_the_same(ctx):
    part, decoded = ctx.full_storage.folder("logical/x/"), []

    def decode(stored):
        decoded.append(stored)
        return stored.decode()

    part.put("a", b"one")
    ctx.core.commit(ctx.writes)
    ctx.writes = {}
    assert [part.decoded("a", decode) for _ in range(3)] == ["one"] * 3
    assert decoded == [b"one"]
    part.put("a", b"two")
    assert part.decoded("a", decode) == "two"
    assert part.decoded("none", decode) is None


def test_deleting_all_of_a_folder(ctx):
    part = ctx.full_storage.folder("logical/x/")
    for key in ("a", "f/b", "f/g/c"):
        part.put(key, b"1")

    assert part.delete_all("f/") == 2
    assert part.list() == ["a"]


def test_a_record_that_came_with_its_bytes_is_not_decoded(ctx):
    part = ctx.full_storage.folder("logical/x/")
    record = ("one",)
    part.put("a", b'["one"]', record)
    assert part.decoded("a", never) is record
    ctx.core.commit(ctx.writes)
    ctx.writes = {}

    assert part.decoded("a", never) is record
    assert part.get("a") == b'["one"]'


def never(stored):
    raise AssertionError(f"{stored} was decoded")


def test_a_record_goes_with_its_bytes(ctx):
    part = ctx.full_storage.folder("logical/x/")
    part.put("a", b'["one"]', ("one",))
    ctx.core.commit(ctx.writes)
    ctx.writes = {}
    part.put("a", b'["two"]', ("two",))
    ctx.writes = {}  # as after a refusal

    assert part.decoded("a", bytes.decode) == '["one"]'
    part.put("a", b"three")
    assert part.decoded("a", bytes.decode) == "three"
