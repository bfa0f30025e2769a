"""Limits of a body: size, depth, members, and what is no JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest, TooLarge
from labkit.service.limits import DEEPEST, MOST_MEMBERS, measure

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


def nested(levels):
    value = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@given(JSON)
def test_the_measure_is_near_the_length_on_the_wire(value):
    assert measure(value) <= 3 * len(json.dumps(value, ensure_ascii=False)) + 16


def test_depth_is_limited():
    assert measure(nested(DEEPEST)) > 0
    with pytest.raises(BadRequest, match="deeper than 300"):
        measure(nested(DEEPEST + 1))
    with pytest.raises(BadRequest, match="deeper than 300"):
        measure(nested(100_000))


def test_members_and_items_are_limited():
    assert measure({str(number): 1 for number in range(MOST_MEMBERS)}) > 0
    with pytest.raises(BadRequest, match="10001 members"):
        measure({str(number): 1 for number in range(MOST_MEMBERS + 1)})
    with pytest.raises(BadRequest, match="10001 items"):
        measure({"batch": [1] * (MOST_MEMBERS + 1)})


def test_size_is_limited():
    measure({"a": "x" * 900}, 1_000)
    with pytest.raises(TooLarge, match="limit is 1000 bytes"):
        measure({"a": "x" * 1_001}, 1_000)


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
    ],
)
def test_what_is_no_json_is_refused(value):
    with pytest.raises(BadRequest, match="failed to decode JSON input"):
        measure(value)
