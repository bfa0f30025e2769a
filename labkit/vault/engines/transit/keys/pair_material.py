"""Pair material: the halves of a key pair as they come and go, and as they are stored.

1. A private half comes in PKCS #8, a public one in PEM of its SubjectPublicKeyInfo, whatever the label.
2. Of an Ed25519 pair seed and public half are stored, of every other the DER of those two forms.
3. A half of another kind than the key's type is refused, and what it is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.pairs.pem import pem_blocks
from labkit.vault.engines.transit.pairs.pkcs8 import load_private_key

if TYPE_CHECKING:
    from labkit.vault.engines.transit.algorithms import KeyType

Halves = tuple[bytes, bytes]

NOT_PEM = "error parsing public key: not in PEM format"
UNREADABLE = "error parsing public key: asn1: structure error: not a SubjectPublicKeyInfo"


def read_private(key_type: KeyType, der: bytes) -> Halves:
    """Return the halves of an imported private key; raise BadRequest when it is not one of the type."""
    key = load_private_key(der)
    check_kind(key_type, key)
    return stored_halves(key)


def read_public(key_type: KeyType, pem: str) -> bytes:
    """Return an imported public half; raise BadRequest when it is not one of the type."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        blocks = pem_blocks(pem)
    except ValueError:
        blocks = []
    if not blocks:
        raise BadRequest(NOT_PEM)
    try:
        key = load_der_public_key(blocks[0][1])
    except (ValueError, UnsupportedAlgorithm):
        raise BadRequest(UNREADABLE) from None
    check_kind(key_type, key)
    return stored_public(key)


def stored_halves(key: Any) -> Halves:
    """Return a loaded private key's halves as they are stored."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    public = stored_public(key.public_key())
    if isinstance(key, Ed25519PrivateKey):
        return key.private_bytes_raw() + public, public
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()), public


def stored_public(key: Any) -> bytes:
    """Return a loaded public key as it is stored."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    if isinstance(key, Ed25519PublicKey):
        return key.public_bytes_raw()
    spki: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return spki


def to_pkcs8(key: Any) -> bytes:
    """Write a loaded private key in PKCS #8."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    written: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return written


def private_text(key: Any) -> str:
    """Write a loaded private key as export shows it: PKCS #1 or SEC 1 in PEM, of Ed25519 base64 of both halves."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    if isinstance(key, Ed25519PrivateKey):
        return to_base64(stored_halves(key)[0])
    text: str = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    return text if isinstance(key, RSAPrivateKey) else text.strip()


def check_kind(key_type: KeyType, key: Any) -> None:
    """Raise BadRequest when a loaded key, of either half, is not one of the type."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    pair = key_type.pair
    assert pair is not None, "only types of key pairs have halves"
    kinds: dict[str, tuple[Any, Any]] = {
        "rsa": (rsa.RSAPrivateKey, rsa.RSAPublicKey),
        "ecdsa": (ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey),
        "ed25519": (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey),
    }
    family = next((name for name, classes in kinds.items() if isinstance(key, classes)), "")
    if family != key_type.name.partition("-")[0]:
        raise BadRequest(f"invalid key type: expected {key_type.name}, got {_shown_kind(family, key)}")
    if family == "ecdsa" and (curve := _curve(key)) != pair.shown_name:
        raise BadRequest(f"invalid curve: expected {pair.shown_name}, got {curve}")
    if family == "rsa" and key.key_size != (wanted := int(pair.shown_name.partition("-")[2])):
        raise BadRequest(f"invalid key size: expected {wanted // 8} bytes, got {(key.key_size + 7) // 8} bytes")


def _shown_kind(family: str, key: Any) -> str:
    half = "PrivateKey" if hasattr(key, "private_bytes") else "PublicKey"
    return f"{'' if family == 'ed25519' else '*'}{family or 'crypto'}.{half}"


def _curve(key: Any) -> str:
    """Return a curve's name as NIST has it."""
    name: str = key.curve.name
    return f"P-{name[4:7]}" if name in ("secp256r1", "secp384r1", "secp521r1") else name
