"""Members of a backup blob: each kind, its zero, and another kind."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.backups.backup_members import Members

GOOD = Members(
    {
        "flag": True,
        "number": -(2**63),
        "large": 10**300,
        "text": "t",
        "value": "AAA=",
        "values": ["AA==", ""],
        "instant": "1970-01-01T00:00:01.5Z",
        "never": "0001-01-01T00:00:00Z",
        "object": {"number": 1},
        "numbers": [1, 10**30],
        "objects": [{}, 3],
        "null": None,
    },
    "a.",
)


def test_each_kind_is_read() -> None:
    assert GOOD.flag("flag") is True
    assert (GOOD.number("number"), GOOD.large_number("large"), GOOD.text("text")) == (-(2**63), 10**300, "t")
    assert (GOOD.value("value"), GOOD.values("values")) == (b"\x00\x00", [b"\x00", b""])
    assert (GOOD.instant("instant"), GOOD.instant("never")) == (1_500_000_000, 0)
    inner = GOOD.object("object")
    assert inner is not None
    assert (inner.number("number"), inner.path, repr(inner)) == (1, "a.object.", "Members(a.object.)")
    assert (GOOD.numbers("numbers"), GOOD.objects("objects")) == ([1, 10**30], [{}, 3])
    assert GOOD.has("flag")
    assert GOOD.names()[0] == "flag"
    assert GOOD.with_defaults({"flag": False, "null": 3, "new": 4}).number("new") == 4


def test_what_is_missing_or_null_is_zero() -> None:
    for name in ("missing", "null"):
        assert (GOOD.flag(name), GOOD.number(name), GOOD.text(name), GOOD.value(name)) == (False, 0, "", b"")
        assert (GOOD.instant(name), GOOD.object(name), GOOD.numbers(name), GOOD.values(name)) == (0, None, [], [])
        assert not GOOD.has(name)


def test_another_kind_is_refused_by_name() -> None:
    for read, name in (
        (GOOD.flag, "number"),
        (GOOD.number, "flag"),
        (GOOD.number, "large"),
        (GOOD.text, "number"),
        (GOOD.value, "instant"),
        (GOOD.values, "objects"),
        (GOOD.instant, "text"),
        (GOOD.object, "text"),
        (GOOD.numbers, "values"),
        (GOOD.objects, "object"),
    ):
        with pytest.raises(BadRequest) as refused:
            read(name)
        assert f"a.{name}" in str(refused.value)
    with pytest.raises(BadRequest):
        Members([], "")
