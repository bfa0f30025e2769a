"""Encoding: plain values and records come back as they were; what is neither is refused on both ways."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.front.lab_file.encoding import is_kept, judge_contents, known_names, names_of_fields, read, write
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.record_tags import LIST, RECORDS
from labkit.lab.wire.messages import Correlation, DueTimer
from labkit.scenario.expect_keys import Expectations
from labkit.service.limits import MAX_DEPTH as MAX_DEPTH_OF_BODIES
from labkit.service.message import Request

NAMES = names_of_fields()
TAG = {record: tag for tag, record in RECORDS.items()}

keys = st.recursive(st.text() | st.integers() | st.binary(), lambda key: st.tuples(key, key), max_leaves=3)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | keys
plain = st.recursive(
    scalars | st.frozensets(st.integers()) | st.builds(Correlation, st.text(), st.integers(), st.integers()),
    lambda part: st.lists(part) | st.lists(part).map(tuple) | st.dictionaries(keys, part),
    max_leaves=12,
)


@settings(max_examples=40)
@given(plain)
def test_what_is_written_is_read_again(value: Any):
    data = write(value)

    found, end = read(data, 0, NAMES)
    assert end == len(data)
    assert found == value
    assert kinds(found) == kinds(value)


def test_members_keep_their_order():
    found, _ = read(write({"b": 1, "a": 2}), 0, NAMES)

    assert list(found) == ["b", "a"]


@pytest.mark.parametrize("value", [{1, 2}, bytearray(b"x"), object(), float("inf"), float("nan"), "\ud800", print])
def test_what_is_not_plain_is_not_written(value: Any):
    with pytest.raises(LabFileError, match="cannot be saved"):
        write({"a": [value]})


def test_a_body_as_deep_as_the_service_takes_it_is_read_again():
    value = nested(MAX_DEPTH_OF_BODIES + 10)

    assert read(write(value), 0, NAMES)[0] == value


def test_what_is_nested_too_deep_is_not_written():
    with pytest.raises(LabFileError, match="700 items inside"):
        judge_contents(write(nested(360)))


def test_what_was_written_is_judged_to_its_end():
    judge_contents(write(1) + write([Correlation("a", 1)]))
    with pytest.raises(LabFileError, match="the end"):
        judge_contents(write(1) + write([1])[:-1])


def test_a_record_with_a_field_of_another_kind_is_not_written():
    with pytest.raises(LabFileError, match="Correlation that cannot be saved: its number"):
        write(Correlation._make(("a", "one", 0)))


@pytest.mark.parametrize(
    ("tag", "content", "why"),
    [
        (TAG[Correlation], ["a", True, 0], "Correlation: number is of another kind"),
        (TAG[Correlation], ["a", 1], "Correlation: expected 3 fields"),
        (TAG[Correlation], 7, "Correlation: expected 3 fields"),
        (TAG[Request], ["GET", "x", {"a": 1}, None, ""], "Request: headers is of another kind"),
        (LIST, {"a": 1}, "a list: expected an array"),
        (LIST + 1, 7, "a set: expected an array"),
        (LIST + 1, [{}], "unhashable"),
        (35, "(a+)+", "got 35"),
        (max(RECORDS) + 1, [], "expected a tag of the table"),
    ],
)
def test_a_tag_with_other_contents_is_refused(tag: int, content: Any, why: str):
    with pytest.raises(LabFileError, match=why):
        read(cbor2.dumps([cbor2.CBORTag(tag, content)]), 0, NAMES)


@pytest.mark.parametrize("data", [b"\xa2\x01\x01\x01\x02", b"\x61\xff", b"\xa1\xa0\x01"])
def test_cbor_that_means_nothing_is_refused(data: bytes):
    with pytest.raises(LabFileError, match="expected CBOR"):
        read(data, 0, NAMES)


def test_a_field_that_a_record_has_got_since_has_its_default():
    older = {**NAMES, TAG[Correlation]: ("asker", "number"), TAG[Expectations]: ()}
    data = cbor2.dumps((cbor2.CBORTag(TAG[Correlation], ("a", 1)), cbor2.CBORTag(TAG[Expectations], ())))

    assert read(data, 0, older)[0] == (Correlation("a", 1), Expectations())


def test_a_field_that_a_record_needs_and_has_not_is_named():
    data = cbor2.dumps(cbor2.CBORTag(TAG[Correlation], ("a",)))

    with pytest.raises(LabFileError, match="Correlation: expected more fields than asker"):
        read(data, 0, {TAG[Correlation]: ("asker",)})


def test_a_field_that_a_record_has_no_more_is_named():
    with pytest.raises(LabFileError, match="DueTimer: expected the fields incarnation, got 'strange'"):
        read(b"\x00", 0, {TAG[DueTimer]: ("strange",)})


@pytest.mark.parametrize(
    "names", [None, (), {1: ("a",)}, {"x": ("a",)}, {TAG[DueTimer]: ["a"]}, {TAG[DueTimer]: (1,)}, {True: ()}]
)
def test_only_a_table_of_names_by_tag_is_one(names: Any):
    with pytest.raises(LabFileError, match="records: expected"):
        known_names(names)


SAVED: dict[str, Any] = {"a": [1, (2, Correlation("x", 1))], "b": {"c": 0.5}}


@pytest.mark.parametrize(
    ("again", "kept"),
    [
        ({"a": [1, (2, Correlation("x", 1))], "b": {"c": 0.5}}, True),
        ({"new": 1, "b": {"new": 2, "c": 0.5}, "a": [1, (2, Correlation("x", 1))]}, True),
        ({"a": [1, (2, Correlation("x", 1))]}, False),
        ({"a": [1, (2, Correlation("x", 1))], "b": {}}, False),
        ({"a": [1, (2, Correlation("x", 1)), 3], "b": {"c": 0.5}}, False),
        ({"a": [True, (2, Correlation("x", 1))], "b": {"c": 0.5}}, False),
        ({"a": (1, (2, Correlation("x", 1))), "b": {"c": 0.5}}, False),
        ({"a": [1, (2, ("x", 1, 0))], "b": {"c": 0.5}}, False),
        ({"a": [1, (2, Correlation("x", 2))], "b": {"c": 0.5}}, False),
        ({"a": [1, (2, Correlation("x", 1))], "b": {"c": 1.5}}, False),
    ],
)
def test_what_is_built_keeps_all_that_was_saved_and_may_have_more(again: Any, kept: bool):
    assert is_kept(SAVED, again) is kept


def nested(depth: int) -> Any:
    """Lists inside one another."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def kinds(value: Any) -> Any:
    """The types of a value and of all that it holds."""
    if isinstance(value, dict):
        return dict, [(kinds(key), kinds(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [kinds(item) for item in value]
    return type(value)
