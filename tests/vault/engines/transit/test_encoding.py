"""Base64 with the API's error positions, and the envelope."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.encoding import to_base64, to_base64url
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.encoding import (
    first_bad_byte,
    from_base64,
    from_base64url,
    split_envelope,
    split_signed,
)

# Positions that real servers of this API name.
BAD_BASE64 = [
    ("A", 0),
    ("AA", 0),
    ("AAA", 0),
    ("AAAAA", 4),
    ("AAAAAA", 4),
    ("AAAAAAA", 4),
    ("foobar", 4),
    ("simple_plaintext", 6),
    ("not-encoded", 3),
    (":;.?", 0),
    ("AA=", 3),
    ("AA==A", 4),
    ("A===", 1),
    ("AA=A", 2),
    ("AAA==", 4),
    ("AAAA ", 4),
    ("not base64!", 3),
    ("***", 0),
    ("5", 0),
]

# What a base64 text is made of, and what does not belong into one.
PIECES = st.lists(
    st.sampled_from(["A", "b", "9", "+", "/", "=", "==", "\n", "\r", "\r\n", " ", "-", "_", "ä", "\ud800", "AAAA"])
)


@pytest.mark.parametrize(("text", "position"), BAD_BASE64)
def test_a_bad_text_is_refused_with_its_position(text: str, position: int) -> None:
    with pytest.raises(BadRequest) as caught:
        from_base64(text)

    assert caught.value.errors == (f"illegal base64 data at input byte {position}",)


# Not from the list: padding that the standard library's strict mode lets pass, and newlines before the fault.
@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("AAAA=", 4),
        ("AAAA==", 4),
        ("AAAA====", 4),
        ("=", 0),
        ("====", 0),
        ("A=AA", 1),
        ("AAAA=AAA", 4),
        ("AA==AAAA", 4),
        ("AA\n=\n\n", 6),
        ("AA=\nA", 3),
        ("AA==\n\nA", 6),
        ("\n\nA*", 3),
        ("A\nA", 1),
        ("ää", 0),
        ("AAä", 2),
        ("AAAAé", 4),
    ],
)
def test_odd_padding_and_newlines(text: str, position: int) -> None:
    assert first_bad_byte(text.encode()) == position
    with pytest.raises(BadRequest, match=f"input byte {position}$"):
        from_base64(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", b""),
        ("\r\n", b""),
        ("YWI=", b"ab"),
        ("YWK=", b"ab"),  # its unused bits are set
        ("YR==", b"a"),
        ("Y\nW\r\nI\n=\n", b"ab"),
        ("YQ=\n=", b"a"),
        ("YWJj\r\nYWJj", b"abcabc"),
    ],
)
def test_what_is_skipped_and_what_is_overlooked(text: str, value: bytes) -> None:
    assert from_base64(text) == value


@given(st.binary(max_size=200))
def test_bytes_come_back(value: bytes) -> None:
    text = to_base64(value)

    assert text == base64.b64encode(value).decode()
    assert from_base64(text) == value
    assert from_base64("\r\n".join(text)) == value


@given(PIECES)
def test_a_text_is_read_exactly_when_no_byte_of_it_is_bad(pieces: list[str]) -> None:
    text = "".join(pieces)
    raw = text.encode("utf-8", "surrogatepass")

    position = first_bad_byte(raw)

    assert position == slow_first_bad_byte(raw)
    if position is None:
        clean = text.replace("\r", "").replace("\n", "")
        assert from_base64(text) == base64.b64decode(clean)
    else:
        with pytest.raises(BadRequest, match=f"input byte {position}$"):
            from_base64(text)


def slow_first_bad_byte(raw: bytes) -> int | None:
    """The same rule read byte by byte: groups of four places, of which the last two may be padding."""
    places = [(index, byte) for index, byte in enumerate(raw) if byte not in b"\r\n"]
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for start in range(0, len(places), 4):
        group = places[start : start + 4]
        for place, (index, byte) in enumerate(group):
            if byte in alphabet:
                continue
            if byte != ord("=") or place < 2:
                return index
            return slow_padding(raw, places, start, place)
        if len(group) < 4:
            return len(raw) - len(group)
    return None


def slow_padding(raw: bytes, places: list[tuple[int, int]], start: int, place: int) -> int | None:
    after = places[start + place + 1 :]
    if place == 2:
        if not after:
            return len(raw)
        if after[0][1] != ord("="):
            return after[0][0] - 1  # the byte before the one that should have been the second "="
        after = after[1:]
    return after[0][0] if after else None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("vault:v1:YWI=", (1, "YWI=")),
        ("vault:v12:", (12, "")),
        ("vault:v1:a:b", (1, "a:b")),
        ("vault:v0:x", (1, "x")),  # early servers numbered from 0
        ("vault:v-0:x", (1, "x")),
        ("vault:v+3:x", (3, "x")),
        ("vault:v-3:x", (-3, "x")),
        ("vault:v007:x", (7, "x")),
        (f"vault:v{'0' * 5000}7:x", (7, "x")),
        ("vault:v9223372036854775807:x", (2**63 - 1, "x")),
    ],
)
def test_an_envelope_splits(text: str, parts: tuple[int, str]) -> None:
    assert split_envelope(text) == parts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no prefix"),
        ("v1:YWI=", "no prefix"),
        ("vault:1:YWI=", "no prefix"),
        ("Vault:v1:YWI=", "no prefix"),
        ("vault:v", "wrong number of fields"),
        ("vault:v1", "wrong number of fields"),
        ("vault:vx", "wrong number of fields"),
        ("vault:v:YWI=", "version number could not be decoded"),
        ("vault:vx:YWI=", "version number could not be decoded"),
        ("vault:v 1:YWI=", "version number could not be decoded"),
        ("vault:v1_0:YWI=", "version number could not be decoded"),
        ("vault:v1.0:YWI=", "version number could not be decoded"),
        ("vault:v--1:YWI=", "version number could not be decoded"),
        ("vault:v\u0661:YWI=", "version number could not be decoded"),
        ("vault:v1\n:YWI=", "version number could not be decoded"),
        ("vault:v9223372036854775808:x", "version number could not be decoded"),
        (f"vault:v{'9' * 5000}:x", "version number could not be decoded"),
    ],
)
def test_an_envelope_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadRequest) as caught:
        split_envelope(text)

    assert caught.value.errors == (f"invalid ciphertext: {why}",)


def test_other_envelopes_have_their_own_noun() -> None:
    with pytest.raises(BadRequest, match=r"^invalid signature: no prefix$"):
        split_signed("x")
    with pytest.raises(BadRequest, match=r"^invalid HMAC to verify: no prefix$"):
        split_signed("x", "HMAC", "HMAC to verify")
    with pytest.raises(BadRequest, match=r"^invalid HMAC: wrong number of fields$"):
        split_signed("vault:v1", "HMAC", "HMAC to verify")


def test_the_version_of_a_signature_is_taken_as_it_stands() -> None:
    assert split_signed("vault:v0:YWI=") == (0, "YWI=")
    assert split_signed("vault:v-3:") == (-3, "")


def test_base64_for_urls_has_no_padding() -> None:
    for length in range(9):
        value = bytes(range(250, 250 + min(length, 6))) + bytes(max(0, length - 6))
        assert from_base64url(to_base64url(value)) == value
    assert from_base64url("\r\n-_\n-_\r") == from_base64("+/+/")
    for wrong in ("A", "AA==", "AA=", "+/+/", "AA AA", "AAAAA", "\u0661\u0661"):
        with pytest.raises(BadRequest):
            from_base64url(wrong)
