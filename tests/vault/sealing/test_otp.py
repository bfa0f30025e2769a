"""One-time pads: every token comes back with its pad, in base64 with padding or without."""

from __future__ import annotations

import base64

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labkit.vault.identifiers import BASE62
from labkit.vault.sealing.otp import decode, encode

TOKEN = "hvs." + BASE62[:24]
OTP = BASE62[-28:]

texts = st.text(BASE62, min_size=24, max_size=24)
pads = st.text(BASE62, min_size=28, max_size=28)


def test_an_encoded_token_is_the_exclusive_or_in_unpadded_base64() -> None:
    encoded = encode(TOKEN, OTP)
    masked = int.from_bytes(TOKEN.encode(), "big") ^ int.from_bytes(OTP.encode(), "big")

    assert encoded + "==" == base64.b64encode(masked.to_bytes(28, "big")).decode()
    assert len(encoded) == 38
    assert decode(encoded, OTP) == TOKEN


def test_the_alphabet_is_the_standard_one() -> None:
    assert encode("~~~~~~", "EMERED") == "OzM7LDs6"
    assert encode("??>>", "\x00\x00\x01\x01") == "Pz8/Pw"
    assert encode("{{{{", "EEEE") == "Pj4+Pg"
    assert decode("Pj4+Pg", "EEEE") == "{{{{"
    with pytest.raises(ValueError, match="not base64"):
        decode("Pj4-Pg", "EEEE")


@given(texts, pads)
def test_a_token_comes_back(text: str, otp: str) -> None:
    encoded = encode("hvs." + text, otp)

    assert decode(encoded, otp) == decode(encoded + "==", otp) == decode(encoded + "=", otp) == "hvs." + text


@given(st.text(st.characters(max_codepoint=127)), st.data())
def test_any_ascii_text_comes_back(token: str, data: st.DataObject) -> None:
    otp = data.draw(st.text(st.characters(max_codepoint=127), min_size=len(token), max_size=len(token)))

    assert "=" not in encode(token, otp)
    assert decode(encode(token, otp), otp) == token


@given(pads, pads)
def test_a_wrong_pad_gives_another_text_and_no_error(right: str, wrong: str) -> None:
    assume(right != wrong)
    text = decode(encode(TOKEN, right), wrong)

    assert text != TOKEN
    assert len(text) == 28


def test_a_wrong_pad_of_other_letters_gives_a_text_of_the_same_length() -> None:
    encoded = encode("tokens", "ääö")

    assert decode(encoded, "ääö") == "tokens"
    assert len(decode(encoded, "abcdef")) == 6


@pytest.mark.parametrize("otp", ["", OTP[:-1], OTP + "x"])
def test_a_pad_of_another_length_is_refused_and_nothing_is_shown(otp: str) -> None:
    for refused in (lambda: encode(TOKEN, otp), lambda: decode(encode(TOKEN, OTP), otp)):
        with pytest.raises(ValueError, match=f"28 and {len(otp)} bytes") as raised:
            refused()
        assert TOKEN not in str(raised.value)
        assert OTP[:-1] not in str(raised.value)


@given(st.text(max_size=60).filter(lambda text: len(text.rstrip("=")) != 38))
def test_no_text_of_another_length_decodes(text: str) -> None:
    with pytest.raises(ValueError, match=r"not base64|one length"):
        decode(text, OTP)


@pytest.mark.parametrize("cut", range(1, 38))
def test_a_token_that_was_cut_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"not base64|one length"):
        decode(encode(TOKEN, OTP)[:-cut], OTP)


@pytest.mark.parametrize("text", ["Pz 8/Pw", "Pz8/Pw\n", "Pz8=/Pw", "Pz8/Pw\u00e4", "P"])
def test_what_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not base64"):
        decode(text, "EEEE")
