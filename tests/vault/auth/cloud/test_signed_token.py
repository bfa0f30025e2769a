"""Signed tokens against published vectors: what is RS256 and canonical is read and verified, all else is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.vault.auth.cloud.key_sets import public_key
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.signed_token import check_signature, read_object, read_token


def coded(value: Any) -> str:
    """JSON, or bytes, as base64 for URLs."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@given(st.text(max_size=40))
def test_no_text_is_more_than_refused(text) -> None:
    with pytest.raises((BadRequest, LoginRefused)):
        read_token(text)


@given(st.binary(max_size=60), st.binary(max_size=20), st.binary(max_size=20))
def test_no_bytes_in_three_parts_are_more_than_refused(head, claims, signature) -> None:
    with pytest.raises((BadRequest, LoginRefused)):
        read_token(f"{coded(head)}.{coded(claims)}.{coded(signature)}")


def test_the_parts_of_a_token() -> None:
    token = read_token(f"{coded({'alg': 'RS256', 'kid': 'k'})}.{coded({'a': 1})}.{coded(b'sig')}")

    assert (token.key_id, token.signature, token.claims) == ("k", b"sig", b'{"a": 1}')
    assert repr(token) == "SignedToken(k)"


def test_a_library_that_fails_lets_nobody_in() -> None:
    token = read_token(f"{coded({'alg': 'RS256', 'kid': 'k'})}.{coded({})}.{coded(b'sig')}")
    for key in (None, object(), "x", public_key(coded(b"\xff" * 256), "AQAB")):
        with pytest.raises(LoginRefused, match="signature"):
            check_signature(token, key)


def test_an_object_of_bounded_depth_is_read() -> None:
    deepest: Any = {}
    for _ in range(15):
        deepest = {"a": deepest}

    assert read_object(json.dumps(deepest).encode(), "claims") == deepest
    with pytest.raises(BadRequest, match="nested deeper"):
        read_object(json.dumps({"a": deepest}).encode(), "claims")
