"""Key pairs: what every type whose keys have a private and a public half can do; each type is a file of its own.

1. Both halves are bytes, as they are stored; what is loaded from them is a cache, never state.
2. A pair is made from what a ``KeySource`` gives: in a seeded world it is a function of the seed (R8).
3. A signature that was not made by the key over the message is an answer, not an error; only what cannot be read as a
   signature is refused.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from labkit.service.record import NamedTuple

DEFAULT_HASH = "sha2-256"
AUTO_SALT, HASH_SALT = 0, -1
"""Lengths of a PSS salt that are no lengths: the largest that fits, and that of the hash."""


class KeySource(Protocol):
    """What new keys are made of; the context of a request is one."""

    def entropy(self, count: int) -> bytes:
        """Draw random bytes."""

    def draw_once(self, kind: str, count: int) -> int | None:
        """Draw a number below ``count`` that this seeded world has not drawn of its kind; None with real entropy."""


class Scheme(NamedTuple):
    """How a request signs: hash, whether the input is a digest already, RSA scheme and salt, form of the signature."""

    hash_name: str = DEFAULT_HASH
    prehashed: bool = False
    rsa_scheme: str = ""
    salt_length: int = AUTO_SALT
    jws: bool = False


DerivePair = Callable[[int, bytes, bytes], tuple[bytes, bytes]]
"""Derives the pair of a context: takes the derivation's number, a stored private half and the context."""


class PairType(Protocol):
    """What the engine needs of a type of key pair; ``shown_name`` is the name that a key read shows."""

    shown_name: str

    @property
    def derive(self) -> DerivePair | None:
        """Derives the pair of a context; None for types that are never derived."""

    def make(self, source: KeySource) -> tuple[bytes, bytes]:
        """Make a pair: private and public half."""

    def private_key(self, stored: bytes) -> Any:
        """Load a private half."""

    def public_key(self, stored: bytes) -> Any:
        """Load a public half."""

    def public_text(self, stored: bytes) -> str:
        """Write a public half as the API shows it."""

    def sign(self, key: Any, message: bytes, scheme: Scheme) -> bytes:
        """Sign a message with a loaded private half."""

    def verify(self, key: Any, signature: bytes, message: bytes, scheme: Scheme) -> bool:
        """Whether a signature was made over a message, judged with a loaded public half."""


def to_pem(label: str, value: bytes) -> str:
    """Write bytes as PEM, in lines of 64 characters, the last one ended too (RFC 7468)."""
    lines = [b2a_base64(value[start : start + 48]).decode() for start in range(0, len(value), 48)]
    return f"-----BEGIN {label}-----\n{''.join(lines)}-----END {label}-----\n"


def chain_text(chain: Sequence[bytes]) -> str:
    """Write certificates (DER) as PEM blocks one below the other, without a last line's end."""
    return "\n".join([to_pem("CERTIFICATE", certificate).rstrip("\n") for certificate in chain])
