"""JSON counts: what surely has too many values is found before anything is made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.json_counts import PIECE_BYTES, has_too_many_values

values = st.recursive(
    st.none() | st.integers() | st.text('a",:[{\\', max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('b",:[{\\', max_size=3), inner, max_size=4),
)


def count(value: Any) -> int:
    """How many values there are in one."""
    if not isinstance(value, dict | list):
        return 0
    return sum([1 + count(member) for member in (value.values() if isinstance(value, dict) else value)])


@given(values, st.integers(0, 8), st.booleans())
def test_what_has_few_enough_values_is_never_found(value: Any, most: int, is_plain: bool) -> None:
    content = json.dumps(value, ensure_ascii=is_plain).encode()
    assert not has_too_many_values(content, max(count(value), most))


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": [' + b"0," * 101 + b"0]}",
        b'{"a": {' + b",".join([b'"%d": 1' % number for number in range(101)]) + b"}}",
        b'{"a": [' + b",".join([b'"\\",\\\\"'] * 102) + b"]}",
        b'{"a": ' + b"[" * 102 + b"]" * 102 + b"}",
        b'{"a": [' + b",".join([b'{"b":{}}'] * 51) + b"]}",
    ],
)
def test_too_many_are_found_whatever_they_are(content: bytes) -> None:
    json.loads(content)
    assert has_too_many_values(content, 100)
    assert not has_too_many_values(content, 1_000)


@pytest.mark.parametrize("begin", [*range(PIECE_BYTES - 6, PIECE_BYTES + 2)])
def test_texts_may_stand_on_the_border_of_two_pieces(begin: int) -> None:
    text = b" " * begin + b'{"a\\"\\\\": "' + b'\\",,,' * PIECE_BYTES + b'"}'
    json.loads(text)
    assert not has_too_many_values(text, 1)
    assert has_too_many_values(text[:-1] + b',"b":0,"c":0}', 1)


@pytest.mark.parametrize(
    "content", [b"", b'"' * 1_000_000, b'{"a": "\\', b'{"a', b'{"a": "' + b"\\" * 99_999, b'""""""']
)
def test_what_is_not_json_is_left_to_the_decoder(content: bytes) -> None:
    assert not has_too_many_values(content, 10)
