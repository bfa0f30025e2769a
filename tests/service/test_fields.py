"""Field kinds: what each takes, and what it says of what it does not take (weak typing of this API)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service import fields


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("3", 3), ("-7", -7), ("0x10", 16), ("017", 15), ("0", 0), ("", 0), (None, 0), (True, 1), (False, 0)],
)
def test_integers_come_in_many_spellings(value, number):
    assert fields.to_integer(value) == number


@pytest.mark.parametrize(
    "value",
    [
        *("x", "1.5", 1.5, [], {}, "08", "--1", "+-1", "+", "0x", " 5", "5 ", "5\n", "\u0663", "1e3"),
        *(2**63, -(2**63) - 1, str(2**63), "0x" + "f" * 4_000, "9" * 5_000, 10**4_000, float("inf")),
    ],
)
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(ValueError, match="int"):
        fields.to_integer(value)


@given(st.integers(fields.MIN_INTEGER, fields.MAX_INTEGER))
def test_every_integer_reads_back_from_its_text(number):
    assert fields.to_integer(str(number)) == number == fields.to_integer(number)


@pytest.mark.parametrize("value", ["1", "t", "T", "TRUE", "true", "True", 1, True])
def test_spellings_of_true(value):
    assert fields.to_flag(value) is True


@pytest.mark.parametrize("value", ["0", "f", "F", "FALSE", "false", "False", "", 0, None, False])
def test_spellings_of_false(value):
    assert fields.to_flag(value) is False


@pytest.mark.parametrize(
    "value", ["yes", "no", "tRUE", " true", "2", "1.0", [], {}, -1, 2, 2.5, 0.0, 1.0, 1e300, -(2**70), 2**70]
)
def test_what_is_no_flag_is_refused(value):
    with pytest.raises(ValueError, match="bool"):
        fields.to_flag(value)


def test_text_is_made_of_scalars():
    assert [fields.to_text(value) for value in ("a", 1, True, False, None)] == ["a", "1", "1", "0", ""]
    with pytest.raises(ValueError, match="unconvertible type"):
        fields.to_text(["a"])


def test_durations_are_whole_seconds_and_null_is_not_sent():
    assert [fields.to_seconds(value) for value in (90, "90", "1m30s", "1500ms", "")] == [90, 90, 90, 1, 0]
    assert fields.to_seconds(None) is None
    with pytest.raises(ValueError, match="cannot provide negative value '-5'"):
        fields.to_seconds("-5")
    assert fields.to_signed_seconds("-90s") == -90


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("a, b,,c", ["a", "b", "c"]), ("", []), (["a ", "b,c"], ["a", "b,c"]), (None, []), (7, ["7"])],
)
def test_comma_lists(value, wanted):
    assert fields.to_comma_list(value) == wanted


def test_text_lists_do_not_split():
    assert fields.to_text_list("a,b") == ["a,b"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [([1, "2"], [1, 2]), (3, [3]), ("1, 2", [1, 2]), ("1,", [1, 0]), ("", []), (None, []), ("0x10", [16])],
)
def test_integer_lists(value, wanted):
    assert fields.to_integer_list(value) == wanted


@pytest.mark.parametrize(
    ("value", "its"),
    [
        ([1], "[]interface {}"),
        (True, "bool"),
        (7, "json.Number"),
        (0.5, "json.Number"),
        ("x", "string"),
    ],
)
def test_what_came_instead_is_named_by_its_type(value, its):
    with pytest.raises(ValueError, match=f"got unconvertible type '{re.escape(its)}'"):
        fields.to_mapping(value)
    with pytest.raises(ValueError, match=r"type 'string', got unconvertible type 'map\[string\]interface {}'"):
        fields.to_text({"a": 1})


def test_mappings():
    assert fields.to_mapping({"a": [1]}) == {"a": [1]}
    assert fields.to_mapping([]) == {}
    assert fields.to_mapping(None) is None
    assert fields.to_mapping([{"a": 1}, {"b": 2, "a": 3}]) == {"a": 3, "b": 2}
    with pytest.raises(ValueError, match="type '\\[\\]interface"):
        fields.to_mapping([{"a": 1}, 2])
    with pytest.raises(ValueError, match="map\\[string\\]interface"):
        fields.to_mapping("x")
    assert fields.to_text_mapping({"a": 1, "b": True}) == {"a": "1", "b": "1"}
    assert fields.to_text_mapping(["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}


def test_a_list_of_pairs_is_an_object_only_when_each_is_one():
    for value in (["a=1", "b"], ["a=1", 5], [["a=1"]]):
        with pytest.raises(ValueError, match="map\\[string\\]interface"):
            fields.to_text_mapping(value)
    assert fields.to_text_mapping([]) == {}
    assert fields.to_text_mapping(None) == {}


KINDS = {
    fields.name(): ("name", "name", None, True, fields.to_text),
    fields.segment("s", "h"): ("s", "segment", None, True, fields.to_text),
    fields.path(): ("path", "path", None, True, fields.to_text),
    fields.folder(): ("path", "folder", "", False, fields.to_text),
    fields.text("t", "h", "d"): ("t", "string", "d", False, fields.to_text),
    fields.integer("i", "h", 5): ("i", "integer", 5, False, fields.to_integer),
    fields.flag("f", "h", True): ("f", "boolean", True, False, fields.to_flag),
    fields.duration("d", "h", 60): ("d", "duration", 60, False, fields.to_seconds),
    fields.mapping("m", "h"): ("m", "object", None, False, fields.to_mapping),
    fields.text_mapping("m", "h"): ("m", "object of strings", None, False, fields.to_text_mapping),
    fields.text_list("l", "h"): ("l", "list of strings", None, False, fields.to_text_list),
    fields.comma_list("l", "h"): ("l", "list or comma-separated string", None, False, fields.to_comma_list),
    fields.integer_list("l", "h"): ("l", "list of integers", None, False, fields.to_integer_list),
    fields.items("l", "h"): ("l", "list of objects", None, False, fields.to_items),
}


@pytest.mark.parametrize("field", KINDS, ids=lambda field: field.kind)
def test_a_kind_has_its_conversion_default_and_place(field):
    assert (field.name, field.kind, field.default, field.required, field.convert) == KINDS[field]
    assert field.help
    assert field.choices == ()


def test_two_kinds_convert_in_ways_of_their_own():
    value = {"any": [1]}
    assert fields.anything("a", "h").convert(value) is value
    assert (fields.anything("a", "h").kind, fields.anything("a", "h").default) == ("any", None)
    signed = fields.signed_duration("d", "h", -5)
    assert (signed.kind, signed.default, signed.convert("-90s"), signed.convert(None)) == ("duration", -5, -90, None)


def test_what_may_stand_in_a_path():
    patterns = (fields.name().pattern, fields.segment("s", "h").pattern, fields.path().pattern, fields.folder().pattern)
    taken = {
        text: [bool(re.fullmatch(pattern, text)) for pattern in patterns]
        for text in ("a", "a-b.c_9", "-a", "a.", "a b", "a/b", "a/", "")
    }

    assert taken == {
        "a": [True, True, True, False],
        "a-b.c_9": [True, True, True, False],
        "-a": [False, True, True, False],
        "a.": [False, True, True, False],
        "a b": [False, True, True, False],
        "a/b": [False, False, True, False],
        "a/": [False, False, False, True],
        "": [False, False, False, True],
    }


def test_a_lone_item_is_a_list_of_one():
    assert fields.to_items({"a": 1}) == [{"a": 1}]
    assert fields.to_items([1]) == [1]
    assert fields.to_items(None) is None


@pytest.mark.parametrize(
    ("digits", "number"), [("0" * 79 + "7", 7), ("0b" + "1" * 62, 2**62 - 1), ("-0" + "0" * 78 + "7", -7)]
)
def test_integers_have_up_to_eighty_digits(digits, number):
    assert fields.to_integer(digits) == number
    with pytest.raises(ValueError, match="value out of range"):
        fields.to_integer("0" * 80 + "7")
