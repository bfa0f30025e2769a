"""Field kinds: each kind of annotation lets its own values pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from labkit.front.lab_file.field_kinds import kinds_of, wrong_field
from labkit.front.lab_file.record_tags import RECORDS
from labkit.service.message import Response


class Inner(NamedTuple):
    number: int


@dataclass(frozen=True)
class Outer:
    whole: int
    text: str
    data: bytes
    flag: bool
    part: float
    maybe: int | None
    any: Any
    pair: tuple[str, int]
    many: tuple[Inner, ...]
    members: dict[str, Any]
    headers: Mapping[str, str]
    chosen: frozenset[int]
    inner: Inner


RIGHT = {
    "whole": 1,
    "text": "a",
    "data": b"",
    "flag": True,
    "part": 1.5,
    "maybe": None,
    "any": object(),
    "pair": ("a", 1),
    "many": (Inner(1), Inner(2)),
    "members": {"a": 1},
    "headers": {"a": "b"},
    "chosen": frozenset({1}),
    "inner": Inner(1),
}
WRONG: dict[str, list[Any]] = {
    "whole": [True, 1.0, "1", None],
    "text": [b"a", None],
    "data": ["a"],
    "flag": [1],
    "part": [1],
    "maybe": ["", True],
    "pair": [("a",), ("a", "b"), ["a", 1], ("a", 1, 1)],
    "many": [(1,), [Inner(1)], ((1,),)],
    "members": [{1: 1}, ()],
    "headers": [{"a": 1}, {1: "a"}],
    "chosen": [{1}, frozenset({"a"})],
    "inner": [(1,), None],
}


def test_values_of_the_declared_kinds_pass():
    assert wrong_field(Outer, tuple(RIGHT.values())) is None
    assert wrong_field(Outer, tuple({**RIGHT, "maybe": 1}.values())) is None


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_value_of_another_kind_is_named(name: str, value: Any):
    assert wrong_field(Outer, tuple({**RIGHT, name: value}.values())) == name


@pytest.mark.parametrize("record", RECORDS.values(), ids=lambda record: record.__name__)
def test_each_record_of_the_table_has_a_test_for_each_field(record: Any):
    names = getattr(record, "_fields", None) or tuple(getattr(record, "__dataclass_fields__", ()))

    assert tuple(name for name, _ in kinds_of(record)) == names


def test_the_body_of_an_answer_may_be_text():
    assert wrong_field(Response, (200, {}, "text", "")) is None
    assert wrong_field(Response, (200, {}, b"text", "")) == "body"
