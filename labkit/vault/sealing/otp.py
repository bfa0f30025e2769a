"""One-time pads for operation tokens: the token XOR the pad, as base64 without padding.

1. Token and pad have one length; a token is ASCII, as the pads that the service makes are.
2. The encoding has no integrity check: a wrong pad of the right length gives another text, not an error.
3. No message shows a token, a pad or an encoded token.
"""

from __future__ import annotations

from labkit.service.encoding import from_unpadded_base64, to_base64


def encode(token: str, otp: str) -> str:
    """Mask a token with a pad of the same length; raise ValueError when the lengths differ."""
    return to_base64(_masked(token.encode(), otp.encode())).rstrip("=")


def decode(encoded: str, otp: str) -> str:
    """Unmask a token, with base64 padding or without; raise ValueError when the pad has another length."""
    try:
        masked = from_unpadded_base64(encoded)
    except ValueError:
        raise ValueError("the encoded token is not base64: give the whole value of the last answer") from None
    # With a wrong pad the bytes may not be UTF-8: every byte becomes one character.
    return _masked(masked, otp.encode()).decode("latin-1")


def _masked(text: bytes, otp: bytes) -> bytes:
    if len(text) != len(otp):
        raise ValueError(f"token and OTP must be of one length: {len(text)} and {len(otp)} bytes came")
    return bytes(a ^ b for a, b in zip(text, otp, strict=True))
