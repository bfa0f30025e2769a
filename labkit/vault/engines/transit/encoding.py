"""Base64 and the ``vault:vN:`` envelope as callers send them, read and refused as the API does.

1. Base64 is the standard alphabet with padding (RFC 4648 section 4).  CR and LF are skipped wherever they stand;
   spaces and the URL alphabet are refused; unused bits of the last character may be set (section 3.5 allows it).
2. A refusal names the index of the first byte that cannot stand where it does, counted in the text's UTF-8 form; of
   a text that ends too early, the first byte of its unfinished group of four.
3. An envelope is ``vault:v``, a decimal key version, a colon, and the payload in base64.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from functools import cache

from labkit.service.errors import BadRequest

ENVELOPE = "vault:v"

_MAX_VERSION = 2**63 - 1
_MAX_VERSION_DIGITS = 19

# Compiled when they are first used: hardly a text needs them, no first answer does (R24).
_ALPHABET_RUN = rb"[A-Za-z0-9+/\r\n]*"
_NEWLINES = rb"[\r\n]*"
_URL_ALPHABET = r"[A-Za-z0-9_-]*"
_FROM_URL = str.maketrans("-_", "+/")


def from_base64(text: str) -> bytes:
    """Read base64; raise BadRequest with the position of the first byte that is wrong."""
    try:
        value = a2b_base64(text, strict_mode=True)
    except ValueError:
        return _from_doubtful_base64(text)
    # The strict mode still overlooks some padding that is too much; then the text is longer than the value's own.
    if (len(value) + 2) // 3 * 4 == len(text):
        return value
    return _from_doubtful_base64(text)


def _from_doubtful_base64(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    position = first_bad_byte(raw)
    if position is not None:
        raise BadRequest(f"illegal base64 data at input byte {position}")
    return a2b_base64(raw)


def first_bad_byte(raw: bytes) -> int | None:
    """Return where base64 goes wrong (rule 2), or None when it does not."""
    end = _after(_ALPHABET_RUN, raw, 0)
    characters = end - raw.count(b"\r", 0, end) - raw.count(b"\n", 0, end)
    unfinished = characters % 4
    if end == len(raw):
        return len(raw) - unfinished if unfinished else None
    if raw[end] != 0x3D or unfinished < 2:  # only "=" may follow, and not before the third place of a group
        return end
    end += 1
    if unfinished == 2:
        second = _after(_NEWLINES, raw, end)
        if second == len(raw):
            return second
        if raw[second] != 0x3D:
            return second - 1
        end = second + 1
    end = _after(_NEWLINES, raw, end)
    return None if end == len(raw) else end


def _after(pattern: bytes, raw: bytes, start: int) -> int:
    found = _compiled(pattern).match(raw, start)
    assert found is not None  # each of the patterns also matches nothing
    return found.end()


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def from_base64url(text: str) -> bytes:
    """Read base64 for URLs without padding (RFC 4648 section 5), CR and LF skipped; raise BadRequest."""
    plain = text.replace("\r", "").replace("\n", "")
    if not re.fullmatch(_URL_ALPHABET, plain) or len(plain) % 4 == 1:
        raise BadRequest("illegal base64 data")
    return a2b_base64(plain.translate(_FROM_URL) + "=" * (-len(plain) % 4))


def split_envelope(text: str) -> tuple[int, str]:
    """Split a ciphertext into key version and payload text; version 0 is read as 1, which early servers wrote as 0."""
    version, payload = split_signed(text, "ciphertext")
    return version or 1, payload


def split_signed(text: str, noun: str = "signature", without_prefix: str = "") -> tuple[int, str]:
    """Split an envelope into key version and payload text; ``without_prefix`` is the noun where it has no prefix."""
    if not text.startswith(ENVELOPE):
        raise BadRequest(f"invalid {without_prefix or noun}: no prefix")
    number, colon, payload = text[len(ENVELOPE) :].partition(":")
    if not colon:
        raise BadRequest(f"invalid {noun}: wrong number of fields")
    sign, digits = (number[0], number[1:]) if number[:1] in ("+", "-") else ("", number)
    digits = digits.lstrip("0") or digits[:1]
    is_number = len(digits) <= _MAX_VERSION_DIGITS and digits.isascii() and digits.isdigit()
    version = int(sign + digits) if is_number else _MAX_VERSION + 1
    if version > _MAX_VERSION:
        raise BadRequest(f"invalid {noun}: version number could not be decoded")
    return version, payload
