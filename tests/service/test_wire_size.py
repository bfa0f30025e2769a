"""What a value weighs on the wire: near its length, fixed, and nothing is judged by it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from labkit.service.limits import MAX_MEMBERS
from labkit.service.wire_size import wire_size
from tests.service.test_limits import JSON, nested


@given(JSON)
def test_the_weight_is_near_the_length_on_the_wire(value):
    assert wire_size(value) <= 3 * len(json.dumps(value, ensure_ascii=False)) + 16


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 3),
        (None, 8),
        ("äb", 5),
        ({}, 2),
        ({"a": "bc", "d": [1, "x", {"e": None}]}, 2 + (1 + 4 + 2 + 3) + (1 + 4 + 2 + 8 + 4 + 2 + 1 + 4 + 8)),
        ((1, 2), 18),
    ],
)
def test_the_weight_of_a_value_is_fixed(value, size):
    assert wire_size(value) == size


def test_nothing_is_judged_by_its_weight():
    assert wire_size(nested(100_000)) == 2 + 99_999 * 7
    assert wire_size({"a": [1] * (MAX_MEMBERS + 1)}) == 9 + 8 * (MAX_MEMBERS + 1)
    assert wire_size({"\ud800": "\ud800", 7: b"x", "s": {1}}) > 0
