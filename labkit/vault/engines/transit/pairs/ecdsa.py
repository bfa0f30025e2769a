"""ECDSA over the curves P-256, P-384 and P-521 (FIPS 186-5): keys, signatures, and their two forms.

1. The private half is a PKCS #8 PrivateKeyInfo, the public half a SubjectPublicKeyInfo (both DER).
2. Signing is deterministic (RFC 6979): the same key and digest give the same signature (R8).
3. Of a digest that was sent the bits count that the order has, from the left; so it may have any length.  The library
   knows digests of the hashes' lengths: a shorter one is filled up with zeros, which changes no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.hash_algorithms import NO_HASH, algorithm
from labkit.vault.engines.transit.pairs.key_pairs import KeySource, Scheme, to_pem
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

SPARE_BYTES = 8
_HASH_OF_BYTES = {20: "sha1", 28: "sha2-224", 32: "sha2-256", 48: "sha2-384", 64: "sha2-512"}
MAX_DIGEST_BYTES = max(_HASH_OF_BYTES)
_SEQUENCE, _INTEGER = 0x30, 0x02  # of DER


class Ecdsa:
    """The type of one curve; ``curve`` is its name in the library, ``shown_name`` that in the API."""

    derive = None

    def __init__(self, shown_name: str, curve: str, size_bits: int) -> None:
        self.shown_name, self._curve, self.size_bits = shown_name, curve, size_bits
        self.size_bytes = (size_bits + 7) // 8

    def __repr__(self) -> str:
        return f"Ecdsa({self.shown_name})"

    def curve(self) -> ec.EllipticCurve:
        """Return the library's object for the curve."""
        from cryptography.hazmat.primitives.asymmetric import ec

        found: ec.EllipticCurve = getattr(ec, self._curve)()
        return found

    def make(self, source: KeySource) -> tuple[bytes, bytes]:
        """Make a pair: more bits are drawn than the order has, and reduced (FIPS 186-5, A.2.1)."""
        drawn = int.from_bytes(source.entropy(self.size_bytes + SPARE_BYTES), "big")
        return self.pair_of(drawn % (self.curve().group_order - 1) + 1)

    def pair_of(self, scalar: int) -> tuple[bytes, bytes]:
        """Return private and public half of the key with a scalar."""
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

        key = ec.derive_private_key(scalar, self.curve())
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()), public

    def private_key(self, stored: bytes) -> ec.EllipticCurvePrivateKey:
        """Load a private half."""
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        key = load_der_private_key(stored, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey), "a private half of this type was stored"
        return key

    def public_key(self, stored: bytes) -> ec.EllipticCurvePublicKey:
        """Load a public half."""
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        key = load_der_public_key(stored)
        assert isinstance(key, ec.EllipticCurvePublicKey), "a public half of this type was stored"
        return key

    def public_text(self, stored: bytes) -> str:
        """Write a public half as the API shows it: PEM."""
        return to_pem("PUBLIC KEY", stored)

    def sign(self, key: ec.EllipticCurvePrivateKey, message: bytes, scheme: Scheme) -> bytes:
        """Sign a message: a DER sequence of r and s, or for ``jws`` both one after the other (RFC 7518, 3.4)."""
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        data, ecdsa = self._digested(message, scheme, deterministic=True)
        signature = key.sign(data, ecdsa)
        if not scheme.jws:
            return signature
        r, s = decode_dss_signature(signature)
        return r.to_bytes(self.size_bytes, "big") + s.to_bytes(self.size_bytes, "big")

    def verify(self, key: ec.EllipticCurvePublicKey, signature: bytes, message: bytes, scheme: Scheme) -> bool:
        """Whether a signature was made over a message; raise BadRequest for what is not DER of two numbers."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

        if scheme.jws:
            half = self.size_bytes
            if len(signature) != 2 * half:
                return False
            signature = encode_dss_signature(
                int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
            )
        elif is_negative(signature):
            return False
        else:
            check_der(signature)
        data, ecdsa = self._digested(message, scheme, deterministic=False)
        try:
            key.verify(signature, data, ecdsa)
        except InvalidSignature:
            return False
        return True

    def _digested(self, message: bytes, scheme: Scheme, *, deterministic: bool) -> tuple[bytes, ec.ECDSA]:
        """Return what the library works on, and how: a message with its hash, or a digest in a length that it knows."""
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

        if not (scheme.prehashed or scheme.hash_name == NO_HASH):
            return message, ec.ECDSA(algorithm(scheme.hash_name), deterministic_signing=deterministic)
        digest = message if len(message) in _HASH_OF_BYTES else self._fitted(message)
        made_by = algorithm(_HASH_OF_BYTES[len(digest)])
        return digest, ec.ECDSA(Prehashed(made_by), deterministic_signing=deterministic)

    def _fitted(self, digest: bytes) -> bytes:
        """Cut or fill up a digest to a length that the library knows; the number that it stands for stays the same."""
        longest = min(self.size_bytes, MAX_DIGEST_BYTES)
        if len(digest) <= longest:
            return digest.rjust(min(size for size in _HASH_OF_BYTES if size >= len(digest)), b"\0")
        if self.size_bytes > MAX_DIGEST_BYTES:
            raise ListedRefusal(
                f"a prehashed input for {self.shown_name} has at most {MAX_DIGEST_BYTES} bytes, not {len(digest)}"
            )
        return digest[:longest]


P256, P384, P521 = Ecdsa("P-256", "SECP256R1", 256), Ecdsa("P-384", "SECP384R1", 384), Ecdsa("P-521", "SECP521R1", 521)
PAIR_TYPES = {"ecdsa-p256": P256, "ecdsa-p384": P384, "ecdsa-p521": P521}


def check_der(signature: bytes) -> None:
    """Raise BadRequest for bytes that are not a DER sequence of two numbers, or that go on behind one."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    try:
        decode_dss_signature(signature)
    except ValueError:
        pass
    else:
        return
    try:
        decode_dss_signature(signature[: _sequence_bytes(signature)])
    except ValueError:
        raise BadRequest("supplied signature is invalid") from None
    raise BadRequest("supplied signature contains extra data")


def is_negative(signature: bytes) -> bool:
    """Whether bytes are a short DER sequence of two whole numbers of which one is below zero (X.690, 8.3)."""
    if len(signature) < 2 or signature[0] != _SEQUENCE or signature[1] != len(signature) - 2 or signature[1] >= 0x80:
        return False
    rest, signs = signature[2:], []
    while len(rest) > 2 and rest[0] == _INTEGER and 0 < rest[1] <= len(rest) - 2:
        number, rest = rest[2 : 2 + rest[1]], rest[2 + rest[1] :]
        if len(number) > 1 and (number[0], number[1] >= 0x80) in ((0, False), (0xFF, True)):
            return False  # longer than it need be
        signs.append(number[0] >= 0x80)
    return not rest and len(signs) == 2 and any(signs)


def _sequence_bytes(signature: bytes) -> int:
    """Return how long a DER sequence says that it is, header included (X.690, 8.1.3)."""
    length = signature[1] if len(signature) > 1 else 0
    if length < 0x80:
        return 2 + length
    count = length - 0x80
    return 2 + count + int.from_bytes(signature[2 : 2 + count], "big")
