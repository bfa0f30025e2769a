"""Signing keys: those with which one environment's identity provider signs tokens, and which of them it publishes.

1. The provider signs with one key and publishes the next one beside it before it signs with that, so that whoever
   looks up an unknown key finds it.  The one before stays published until the next roll.
2. ``roll`` follows that rule.  ``use_unpublished`` and ``revoke`` break it, as accidents and emergencies do.
3. Keys are made when they are first needed: a real one takes a while.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha1, sha256
from typing import TYPE_CHECKING, Any

from labkit.rsa_keys import PAIRS, make_rsa_key
from labkit.service.encoding import to_base64url
from labkit.service.record import NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

KEY_BITS, KIND = 2_048, "rsa-2048"
KID_BYTES = 20


class SigningKey(NamedTuple):
    """An RSA key: its id, its public numbers (big-endian), and the private key (PKCS #8, DER)."""

    kid: str
    modulus: bytes
    exponent: bytes
    private: bytes

    def __repr__(self) -> str:
        return f"SigningKey({self.kid})"

    def jwk(self) -> dict[str, str]:
        """Return the public key as it is published (RFC 7517)."""
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": self.kid,
            "x5t": self.kid,
            "n": to_base64url(self.modulus),
            "e": to_base64url(self.exponent),
        }


class SigningKeys:
    """The keys of one environment: which one signs, which one is next, and which are published."""

    __slots__ = ("_certificates", "_entropy", "_loaded", "current", "held", "next", "published")

    def __init__(self, entropy: Callable[[int], bytes], state: dict[str, Any] | None = None) -> None:
        kept = state or {}
        self._entropy = entropy
        self._loaded: dict[str, RSAPrivateKey] = {}
        self._certificates: dict[str, bytes] = {}  # by id; made again from the key, so no state
        self.current: SigningKey | None = kept.get("current")
        self.next: SigningKey | None = kept.get("next")
        self.published: tuple[SigningKey, ...] = tuple(kept.get("published", ()))
        self.held: tuple[SigningKey, ...] = tuple(kept.get("held", ()))  # what is shown instead, while that is stale

    def state(self) -> dict[str, Any]:
        """Return the keys as plain values."""
        return {"current": self.current, "next": self.next, "published": self.published, "held": self.held}

    @property
    def signing(self) -> SigningKey:
        """The key that signs; both first keys are made when it is asked for."""
        if self.current is None:
            self.current, self.next = self._make(), self._make()
            self.published = (self.current, self.next)
        return self.current

    def key_set(self, *, certified: bool = False) -> list[dict[str, Any]]:
        """Return the published keys, with certificates if they are to be ``certified``; their order says nothing."""
        assert self.signing
        keys = sorted(self.held or self.published, key=lambda key: key.kid)
        return [key.jwk() | (self._certificate(key) if certified else {}) for key in keys]

    def _certificate(self, key: SigningKey) -> dict[str, Any]:
        """Return the members of a key that hold its certificate and the thumbprint of that (RFC 7517, 4.7, 4.8)."""
        from labkit.cloud.key_certificate import self_signed

        if key.kid not in self._certificates:
            self._certificates[key.kid] = self_signed(self.private(key), key.kid)
        der = self._certificates[key.kid]
        return {"x5c": [b64encode(der).decode()], "x5t": to_base64url(sha1(der, usedforsecurity=False).digest())}

    def roll(self) -> str:
        """Sign with the next key from now on, publish another one as the next; return the id of the one that signs."""
        before = self.signing
        assert self.next is not None
        self.current, self.next = self.next, self._make()
        self.published = (before, self.current, self.next)
        return self.current.kid

    def use_unpublished(self) -> str:
        """Sign with a key that is not published yet, as after a mistake; return its id."""
        assert self.signing
        self.current = self._make()
        return self.current.kid

    def publish(self) -> None:
        """Publish the key that signs, if it is not."""
        if self.signing not in self.published:
            self.published = (*self.published, self.signing)

    def revoke(self) -> str:
        """Take the key that signs back at once, as after a theft, and sign with the next; return the new one's id."""
        taken = self.signing
        assert self.next is not None
        self.current, self.next = self.next, self._make()
        self.published = (*[key for key in self.published if key.kid != taken.kid], self.next)
        return self.current.kid

    def hold(self) -> None:
        """Show the keys that are published now, whatever becomes of them."""
        assert self.signing
        self.held = self.published

    def release(self) -> None:
        """Show what is published again."""
        self.held = ()

    def private(self, key: SigningKey) -> RSAPrivateKey:
        """Return the key object of a key."""
        if key.kid not in self._loaded:
            from cryptography.hazmat.primitives.serialization import load_der_private_key

            # It was made here, so it is sound; to judge it takes 28 ms, to load it a few microseconds.
            loaded: Any = load_der_private_key(key.private, None, unsafe_skip_rsa_key_validation=True)
            self._loaded[key.kid] = loaded
        return self._loaded[key.kid]

    def named(self, kid: Any) -> SigningKey | None:
        """Return the published key of an id; None for any other."""
        return next((key for key in self.published if key.kid == kid), None)

    def _make(self) -> SigningKey:
        """Make a key: a new one, or in a seeded world one that nothing else in it has (R8)."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        entropy: Any = self._entropy
        pair = entropy.draw_once(KIND, PAIRS) if getattr(entropy, "is_seeded", False) else None
        private = make_rsa_key(KEY_BITS, pair)
        numbers = private.public_key().public_numbers()
        modulus, exponent = _bytes(numbers.n), _bytes(numbers.e)
        kid = to_base64url(sha256(modulus + exponent).digest()[:KID_BYTES])
        known = {key.kid for key in (self.current, self.next, *self.published, *self.held) if key is not None}
        self._loaded = {name: loaded for name, loaded in self._loaded.items() if name in known}  # others are gone
        self._loaded[kid] = private
        der = private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return SigningKey(kid, modulus, exponent, der)


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")
