"""Base64 as the service writes and reads it (RFC 4648): the standard alphabet with padding, the URL alphabet without.

Reading is strict: what is not base64 is a ValueError, nothing is skipped.  Transit reads its callers' base64 by the
API's own rules, in ``vault/engines/transit/encoding``.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64


def to_base64(value: bytes) -> str:
    """Write bytes as base64 with padding."""
    return b2a_base64(value, newline=False).decode()


def from_base64(text: str) -> bytes:
    """Read base64 with padding; raise ValueError."""
    return a2b_base64(text, strict_mode=True)


def from_unpadded_base64(text: str) -> bytes:
    """Read base64 whose padding may be left out; raise ValueError."""
    return a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)


def to_base64url(value: bytes) -> str:
    """Write bytes as base64 for URLs, without padding."""
    return to_base64(value).replace("+", "-").replace("/", "_").rstrip("=")


def from_base64url(text: str) -> bytes:
    """Read base64 for URLs, whose padding may be left out; raise ValueError."""
    if "+" in text or "/" in text:
        raise ValueError("the alphabet for URLs has - and _ in place of + and /")
    return from_unpadded_base64(text.replace("-", "+").replace("_", "/"))
