"""Base64: the vectors of RFC 4648, the URL alphabet, and what is refused."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.encoding import from_base64, from_base64url, from_unpadded_base64, to_base64, to_base64url


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # RFC 4648, section 10
        (b"", ""),
        (b"f", "Zg=="),
        (b"fo", "Zm8="),
        (b"foo", "Zm9v"),
        (b"foob", "Zm9vYg=="),
        (b"fooba", "Zm9vYmE="),
        (b"foobar", "Zm9vYmFy"),
    ],
)
def test_the_published_vectors(value, text):
    assert (to_base64(value), from_base64(text)) == (text, value)
    assert from_unpadded_base64(text) == from_unpadded_base64(text.rstrip("=")) == value


@given(st.binary(max_size=64))
def test_both_alphabets_are_the_standard_librarys(value):
    assert to_base64(value) == b64encode(value).decode()
    assert to_base64url(value) == urlsafe_b64encode(value).decode().rstrip("=")
    assert from_base64(to_base64(value)) == from_base64url(to_base64url(value)) == value


@pytest.mark.parametrize("text", ["Zg", "Zg=", "Zm9v\n", " Zm9v", "Zm9v!", "Zg==Zg==", "Zm_v", "Zmé="])
def test_what_is_not_base64_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_base64(text)


@pytest.mark.parametrize("text", ["A", "Zm9v\n", "Zm+v", "Zm/v", "Zm!v", "Zg==Zg"])
def test_what_is_not_base64_for_urls_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_base64url(text)
