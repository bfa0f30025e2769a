"""Identifiers made of entropy: base62 texts and UUIDs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

Entropy: TypeAlias = Callable[[int], bytes]

# A byte below 248 stands for a digit, four bytes for each; the eight above would favour some and are dropped.
_UNBIASED = 248
_DIGIT = bytes(ord(BASE62[byte % 62]) for byte in range(256))
_DROPPED = bytes(range(_UNBIASED, 256))

# One byte in 32 is dropped: with so many to spare, about one token in two million needs a second draw.
_SPARE = 8


def base62(entropy: Entropy, length: int) -> str:
    """Draw a text of ``length`` base62 digits, each equally likely; ValueError when no draw holds a digit."""
    digits = entropy(length + _SPARE).translate(_DIGIT, _DROPPED)
    while len(digits) < length:
        more = entropy(length + _SPARE).translate(_DIGIT, _DROPPED)
        if not more:
            raise ValueError(f"no byte below {_UNBIASED} came in a whole draw: this is not entropy")
        digits += more
    return digits[:length].decode()


def uuid_text(entropy: Entropy) -> str:
    """Draw a random UUID (RFC 9562, version 4) as text: 36 characters."""
    drawn = entropy(16)
    text = drawn.hex()
    variant = "89ab"[drawn[8] >> 4 & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"
