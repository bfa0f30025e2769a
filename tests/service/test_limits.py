"""Limits of a body: size, depth, members, and what is no JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest, TooLarge
from labkit.service.limits import MAX_DEPTH, MAX_MEMBERS, check_body, check_path, is_text, is_whole_number
from labkit.service.wire_size import wire_size

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


def nested(levels):
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


LISTED = {"policies": ["default", "é"], "ttl": "1h", "data": {"names": ["a", "b"], "none": []}}


@given(JSON)
def test_the_weight_is_what_the_judgement_counts(value):
    size = wire_size(value)
    check_body(value, size)
    if size > 9:  # a scalar is never too large
        with pytest.raises(TooLarge):
            check_body(value, size - 1)


@pytest.mark.parametrize(
    "body", [{"plaintext": "abc"}, {"a": "b", "c": "d"}, {"plaintext": "äbc"}, {"n": 1, "a": "b"}, LISTED]
)
def test_a_short_body_is_judged_as_any_other(body):
    limit = wire_size(body)
    check_body(body, limit)
    check_body(body)
    for wrong, limit_bytes in ((body, limit - 1), ({**body, "x": "y"}, limit)):
        with pytest.raises(TooLarge):
            check_body(wrong, limit_bytes)
    for wrong in ({**body, 1: "a"}, {**body, "x": "\ud800"}, {**body, "\ud800": "x"}, {**body, "x": {1}}):
        with pytest.raises(BadRequest):
            check_body(wrong, 1_000)


def test_depth_is_limited():
    check_body(nested(MAX_DEPTH))
    with pytest.raises(BadRequest, match="deeper than 300"):
        check_body(nested(MAX_DEPTH + 1))
    with pytest.raises(BadRequest, match="deeper than 300"):
        check_body(nested(100_000))


def test_members_and_items_are_limited():
    check_body({str(number): 1 for number in range(MAX_MEMBERS)})
    with pytest.raises(BadRequest, match="10001 members"):
        check_body({str(number): 1 for number in range(MAX_MEMBERS + 1)})
    with pytest.raises(BadRequest, match="10001 items"):
        check_body({"batch": [1] * (MAX_MEMBERS + 1)})


def test_size_is_limited():
    check_body({"a": "x" * 900}, 1_000)
    with pytest.raises(TooLarge, match="limit is 1000 bytes"):
        check_body({"a": "x" * 1_001}, 1_000)


@pytest.mark.parametrize(
    "value",
    [
        {"a": "\ud800"},
        {"\udfff": 1},
        ["\ud800x"],
        {"a": b"bytes"},
        {"a": {1, 2}},
        {"a": object()},
        {1: "a"},
        {"a": [b"x"]},
        {"a": float("nan")},
        {"a": [float("inf"), -float("inf")]},
        {"a": 10**4_000},
        [-(10**4_000)],
    ],
)
def test_what_is_no_json_is_refused(value):
    with pytest.raises(BadRequest, match="failed to decode JSON input"):
        check_body(value)


def test_a_list_in_many_places_is_refused_after_bounded_work():
    shared: Any = [1] * 100
    for _ in range(3):
        shared = [shared] * 100
    with pytest.raises(BadRequest, match="more than 250000 values"):
        check_body({"a": shared}, 33_554_432)
    circle: list[Any] = []
    circle += [circle]
    with pytest.raises(BadRequest, match="deeper than 300"):
        check_body({"a": circle})


@pytest.mark.parametrize("path", ["a" * 4_096, "ä" * 2_048, "/".join("a" * 64), "a/" * 64])
def test_the_longest_paths_are_taken(path):
    check_path(path)


@pytest.mark.parametrize("path", ["a" * 4_097, "ä" * 2_049, "/".join("a" * 65)])
def test_longer_paths_are_refused(path):
    with pytest.raises(BadRequest, match="paths have at most"):
        check_path(path)


@pytest.mark.parametrize("value", ["", "a", "ä", "😀"])
def test_text_has_a_utf_8_form(value):
    assert is_text(value)


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", b"a", 7, None, ["a"]])
def test_what_is_not_text(value):
    assert not is_text(value)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (0, True),
        (-(1 << 63), True),
        ((1 << 63) - 1, True),
        (1 << 63, False),
        (-(1 << 63) - 1, False),
        pytest.param(10**5_000, False, id="huge"),
        (True, False),
        (1.0, False),
        ("1", False),
        (None, False),
    ],
)
def test_a_whole_number_has_64_bits(value, is_one):
    assert is_whole_number(value) is is_one
