"""Records: what is written reads back, numbers and text exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.storage.records import decode_record, encode_record

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(VALUES)
def test_what_is_written_reads_back(value):
    assert decode_record(encode_record(value)) == value


def test_numbers_of_any_size_stay_exact():
    assert decode_record(encode_record({"n": 2**200 + 1})) == {"n": 2**200 + 1}


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        encode_record(float("nan"))
