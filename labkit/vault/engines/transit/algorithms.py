"""The key types: what each can do, how long its keys are, and the cipher that works with them.

1. A type is one row of the table; nothing else in the engine compares a type's name.
2. Keys are made from entropy bytes that are handed in.
3. What a type of key pair can do is in its family's module, which is loaded when such a key is first used (R24).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import loaded

if TYPE_CHECKING:
    from typing import Protocol

    from labkit.vault.engines.transit.pairs.key_pairs import PairType

    class Cipher(Protocol):
        """An authenticated cipher that holds its key."""

        def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
            """Return ciphertext and tag."""

        def decrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
            """Return the plaintext, or raise InvalidTag."""


DEFAULT_TYPE = "aes256-gcm96"

NONCE_BYTES = 12

COUNTER_MODE = 0
HKDF_SHA256 = 1
KDF_NAMES = {COUNTER_MODE: "hmac-sha256-counter", HKDF_SHA256: "hkdf_sha256"}
"""The functions that derive keys (``derivation``), by their numbers in keyrings and backups."""

MIN_HMAC_KEY_BYTES = 32
MAX_HMAC_KEY_BYTES = 512


class KeyType(NamedTuple):
    """One key type; ``code`` is its number in backups, ``key_bytes`` 0 where the key's creator says how many.

    ``family`` is the module of a key pair's type.
    """

    name: str
    code: int
    key_bytes: int
    cipher: Callable[[bytes], Cipher] | None = None
    tampered: str = ""
    derives: bool = False
    certified: bool = True  # in FIPS 140-2 mode
    family: str = ""
    asymmetric: bool = False  # encrypts with the public half
    is_hmac: bool = False  # the key is the HMAC key itself
    external: bool = False  # its keys are managed keys, in a store of their own

    @property
    def signs(self) -> bool:
        """Whether keys of the type sign and verify."""
        return self.family != ""

    @property
    def pair(self) -> PairType | None:
        """What a type of key pair can do; None for the other types."""
        return _pair_type(self.family, self.name) if self.family else None

    @property
    def encrypts(self) -> bool:
        """Whether keys of the type encrypt and decrypt."""
        return self.cipher is not None or self.asymmetric

    @property
    def symmetric(self) -> bool:
        """Whether the type is a cipher that derives: its keys can be convergent, and encrypt makes missing ones."""
        return self.cipher is not None and self.derives


_GCM_TAMPERED = "cipher: message authentication failed"
_CHACHA_TAMPERED = "chacha20poly1305: message authentication failed"

KEY_TYPES = {
    row.name: row
    for row in (
        KeyType("aes256-gcm96", 0, 32, AESGCM, _GCM_TAMPERED, derives=True),
        KeyType("chacha20-poly1305", 5, 32, ChaCha20Poly1305, _CHACHA_TAMPERED, derives=True, certified=False),
        KeyType("aes128-gcm96", 8, 16, AESGCM, _GCM_TAMPERED, derives=True),
        KeyType("ed25519", 2, 64, derives=True, certified=False, family="ed25519"),
        KeyType("ecdsa-p256", 1, 0, family="ecdsa"),
        KeyType("ecdsa-p384", 6, 0, family="ecdsa"),
        KeyType("ecdsa-p521", 7, 0, family="ecdsa"),
        KeyType("rsa-2048", 3, 0, family="rsa", asymmetric=True),
        KeyType("rsa-3072", 9, 0, family="rsa", asymmetric=True),
        KeyType("rsa-4096", 4, 0, family="rsa", asymmetric=True),
        KeyType("managed_key", 10, 0, external=True),
        KeyType("hmac", 11, 0, is_hmac=True),
    )
}


@cache
def _pair_type(family: str, name: str) -> PairType:
    found: PairType = loaded(f"labkit.vault.engines.transit.pairs.{family}").PAIR_TYPES[name]
    return found


def type_for_new_key(named: str, *, fips: bool, external: bool = False) -> KeyType:
    """Return the type of a key that is to be made; raise BadRequest if there is none, or FIPS 140-2 mode bars it."""
    key_type = KEY_TYPES.get(named)
    if key_type is None:
        raise BadRequest(f"unknown key type {named}")
    if key_type.external and not external:
        raise BadRequest(f"a key of type {named} has no bytes here: it is only created, with managed_key_name")
    if fips and not key_type.certified:  # decision C8
        certified = ", ".join(name for name, row in KEY_TYPES.items() if row.certified)
        raise BadRequest(f"key type {named} is not certified for FIPS 140-2 mode, which is on; certified: {certified}")
    return key_type
