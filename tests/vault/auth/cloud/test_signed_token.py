"""Signed tokens against published vectors: what is RS256 and canonical is read and verified, all else is refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.encoding import from_base64url
from labkit.service.errors import BadRequest
from labkit.vault.auth.cloud.key_sets import acceptable_keys, public_key
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.signed_token import SignedToken, check_signature, read_object, read_token


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


# ---- published vectors

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "json_web_signatures.json").read_text())


def lets_in(token: str, keys: list[dict[str, Any]]) -> bool:
    """Whether a token is verified with a published set of keys."""
    known = {name: public_key(modulus, exponent) for name, modulus, exponent in acceptable_keys({"keys": keys})}
    try:
        read = read_token(token)
        check_signature(read, known.get(read.key_id))
    except (BadRequest, LoginRefused):
        return False
    return True


def test_published_tokens_are_verified_if_they_are_what_is_taken_here() -> None:
    """Of those that are valid, other algorithms are refused, and what is not written in the canonical way."""
    wrong, verified = [], 0
    for group in VECTORS["groups"]:
        for comment, result, token in group["tokens"]:
            header = json.loads(from_base64url(token.partition(".")[0])) if result == "valid" else {}
            taken = header.get("alg") == "RS256" and "kid" in header and ".." not in token  # no claims are none
            verified += taken
            if lets_in(token, [group["key"]]) != taken:
                wrong.append(f"{group['source']}: {comment}")

    assert wrong == []
    assert verified >= 5


def test_the_signature_of_a_token_without_a_name_of_its_key_is_right_but_not_taken() -> None:
    vector = VECTORS["rfc7515"]
    key, text = vector["key"], vector["token"]
    signed, _, signature = text.rpartition(".")
    token = SignedToken("a2", signed.encode(), from_base64url(signature), b"")
    check_signature(token, public_key(key["n"], key["e"]))

    with pytest.raises(LoginRefused, match="no_key"):
        read_token(text)
    with pytest.raises(LoginRefused, match="algorithm"):
        read_token(vector["unsecured"])
    with pytest.raises(LoginRefused, match="signature"):
        check_signature(token._replace(signed=signed[:-1].encode()), public_key(key["n"], key["e"]))


def test_a_published_set_has_one_key_that_is_taken() -> None:
    assert [row[0] for row in acceptable_keys(VECTORS["rfc7517"]["set"])] == ["2011-04-29"]


def test_examples_of_the_cookbook() -> None:
    found = [lets_in(vector["token"], [{**vector["key"], "use": "sig"}]) for vector in VECTORS["rfc7520"]]

    assert found == [True, False, False, False, False]
