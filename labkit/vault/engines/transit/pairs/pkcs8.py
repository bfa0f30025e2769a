"""PKCS #8 (RFC 5958): private keys as other programs write them, recognised and loaded.

1. Only PKCS #8 is read: what is PKCS #1 or SEC 1 is refused by its name.
2. Beside the usual spellings there are two of which clients make use: an RSA key under the identifier of RSASSA-PSS,
   and an Ed25519 key in the form of an elliptic-curve key (as NSS writes it), of which only the seed counts.
"""

from __future__ import annotations

from typing import Any

from labkit.service.errors import BadRequest

INTEGER, OCTET_STRING, OBJECT_ID, SEQUENCE = 0x02, 0x04, 0x06, 0x30
EC_PUBLIC_KEY = bytes.fromhex("2a8648ce3d0201")  # 1.2.840.10045.2.1
EDWARDS_CURVES = (bytes.fromhex("2b06010401da470f01"), bytes.fromhex("2b656e"))  # 1.3.6.1.4.1.11591.15.1, 1.3.101.110
SEED_BYTES = 32

PKCS1 = "x509: failed to parse private key (use ParsePKCS1PrivateKey instead for this key format)"
SEC1 = "x509: failed to parse private key (use ParseECPrivateKey instead for this key format)"
UNREADABLE = "asn1: structure error: not a private key in PKCS #8"

Element = tuple[int, bytes]


def load_private_key(der: bytes) -> Any:
    """Load a private key; raise BadRequest with the reason."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        algorithm, private = _split(der)
        seed = _edwards_seed(algorithm, private)
        return load_der_private_key(der, None) if seed is None else Ed25519PrivateKey.from_private_bytes(seed)
    except (ValueError, TypeError, IndexError, UnsupportedAlgorithm):
        raise BadRequest(f"error parsing asymmetric key: {UNREADABLE}") from None


def _split(der: bytes) -> tuple[list[Element], bytes]:
    """Return the parts of the algorithm and the private key within; raise BadRequest or ValueError."""
    elements = _elements(_only(der, SEQUENCE))
    kinds = [kind for kind, _ in elements[:3]]
    if kinds[:2] == [INTEGER, INTEGER]:
        raise BadRequest(f"error parsing asymmetric key: {PKCS1}")
    if kinds[:2] == [INTEGER, OCTET_STRING]:
        raise BadRequest(f"error parsing asymmetric key: {SEC1}")
    if kinds != [INTEGER, SEQUENCE, OCTET_STRING]:
        raise ValueError(UNREADABLE)
    return _elements(elements[1][1]), elements[2][1]


def _edwards_seed(algorithm: list[Element], private: bytes) -> bytes | None:
    """Return the seed of an Ed25519 key that comes as an elliptic-curve key; None for any other key."""
    if algorithm[0] != (OBJECT_ID, EC_PUBLIC_KEY):
        return None
    if len(algorithm) < 2 or algorithm[1][0] != OBJECT_ID or algorithm[1][1] not in EDWARDS_CURVES:
        return None
    seed = _elements(_only(private, SEQUENCE))[1]
    if seed[0] != OCTET_STRING or len(seed[1]) != SEED_BYTES:
        raise ValueError(UNREADABLE)
    return seed[1]


def _only(der: bytes, kind: int) -> bytes:
    """Return the contents of the one element that DER text consists of."""
    found = _elements(der)
    if len(found) != 1 or found[0][0] != kind:
        raise ValueError(UNREADABLE)
    return found[0][1]


def _elements(der: bytes) -> list[Element]:
    """Split DER (X.690, 8.1) into elements one after another: kind and contents of each."""
    found: list[Element] = []
    at = 0
    while at < len(der):
        kind, size, at = der[at], der[at + 1], at + 2
        if size >= 0x80:
            digits = size & 0x7F
            size, at = int.from_bytes(der[at : at + digits], "big"), at + digits
        if at + size > len(der):
            raise ValueError(UNREADABLE)
        found.append((kind, der[at : at + size]))
        at += size
    return found
