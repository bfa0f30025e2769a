"""Certificate chains: read from PEM, and judged against the key that the leaf is to certify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.keys.pair_material import stored_public
from labkit.vault.engines.transit.pairs.pem import pem_blocks

if TYPE_CHECKING:
    from labkit.vault.engines.transit.algorithms import KeyType
    from labkit.vault.engines.transit.keyring import KeyVersion

LABELS = ("CERTIFICATE", "X509 CERTIFICATE")

UNREADABLE = "failed to parse certificate in certificate chain: x509: malformed certificate"


def read_chain(text: str) -> tuple[bytes, ...]:
    """Return the certificates of a PEM text (DER), without blocks of another kind; raise BadRequest."""
    try:
        blocks = pem_blocks(text)
    except ValueError:
        blocks = []
    if not blocks:
        raise BadRequest("could not decode PEM block in certificate chain")
    chain = tuple([contents for label, contents in blocks if label in LABELS])
    if not chain:
        raise BadRequest("provided certificate chain did not contain any valid PEM certificate")
    for certificate in chain:
        _authority(certificate)
    return chain


def malformed() -> tuple[type[Exception], ...]:
    """Return what the library raises for certificates, and requests for them, that are none."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    own = (x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType, UnsupportedAlgorithm)
    return (*own, ValueError, TypeError, LookupError, RuntimeError, Warning)


def check_chain(chain: tuple[bytes, ...]) -> None:
    """Raise BadRequest unless the first certificate is a leaf and none of the others."""
    if _authority(chain[0]) is True:
        raise BadRequest("certificate in the first position is not a leaf certificate")
    if any(_authority(certificate) is False for certificate in chain[1:]):
        raise BadRequest("provided certificate chain contains more than one leaf certificate")


def check_leaf(key_type: KeyType, entry: KeyVersion, leaf: bytes) -> None:
    """Raise BadRequest unless a certificate is for a version's public half."""
    from cryptography import x509

    try:
        key = x509.load_der_x509_certificate(leaf).public_key()
    except malformed():
        key = None
    algorithm = _algorithm(key)
    if algorithm.lower() != key_type.name.partition("-")[0]:
        raise BadRequest(
            "could not validate key match between leaf certificate key and key version in transit: provided leaf "
            f"certificate public key algorithm '{algorithm}' does not match the transit key type '{key_type.name}'"
        )
    if stored_public(key) != entry.public:
        raise BadRequest("leaf certificate public key does match the key version selected")


def _algorithm(key: Any) -> str:
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

    kinds = (
        (rsa.RSAPublicKey, "RSA"),
        (ec.EllipticCurvePublicKey, "ECDSA"),
        (ed25519.Ed25519PublicKey, "Ed25519"),
        (dsa.DSAPublicKey, "DSA"),
    )
    return next((name for kind, name in kinds if isinstance(key, kind)), "0")


def _authority(der: bytes) -> bool | None:
    """Whether a certificate says that it may sign others (RFC 5280, 4.2.1.9); None where it says nothing of that."""
    from cryptography import x509

    try:
        extensions = x509.load_der_x509_certificate(der).extensions
        return extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return None
    except malformed():
        raise BadRequest(UNREADABLE) from None
