"""API certificates: what a node's API presents, and who trusts it (decision D13).

1. A cluster has an authority for its API, which certifies one key for the hosts of all its nodes.  All three are
   Ed25519, made from entropy at one instant, and stand in the cluster's own files.
2. Who asks names a number of its own making; what is presented counts with a signature over it for the host that
   asked, by the certificate's key.
3. A certificate is trusted when one of the given authorities issued it, when it is valid now, and when it names the
   host that was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.keymaking import certificate_pem
from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.message import Response, respond

if TYPE_CHECKING:
    from cryptography import x509

Entropy = Callable[[int], bytes]
ReadFile = Callable[[str], bytes | None]

AUTHORITY_FILE = "/etc/labkit/api-ca.pem"
CERTIFICATE_FILE = "/etc/labkit/api-cert.pem"
KEY_FILE = "/etc/labkit/api-key.pem"

PRESENT = "certificate"
"""What is asked of a node whose API is to show its certificate."""

LIFETIME_S = 10 * 365 * 86_400
KEY_BYTES, SERIAL_BYTES = 32, 16
BEGIN_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"

UNKNOWN_AUTHORITY = "x509: certificate signed by unknown authority"
NOT_PRESENTED = "tls: this node has no certificate that its key fits"


# ---- the side that presents


def files_of(cluster: str, hosts: tuple[str, ...], entropy: Entropy, now_ns: int) -> dict[str, Callable[[], bytes]]:
    """Return what makes a cluster's three files; nothing is made before one of them is read."""

    @cache
    def made() -> dict[str, bytes]:
        return _make(cluster, hosts, entropy, now_ns)

    def file(name: str) -> Callable[[], bytes]:
        return lambda: made()[name]

    return {name: file(name) for name in (AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE)}


def present(read_file: ReadFile, nonce: str, asked_by: str) -> Response:
    """Answer a host that asks for the certificate: it, and a signature that only the holder of its key makes."""
    from labkit.keymaking import sign, verify

    try:
        certificate = (read_file(CERTIFICATE_FILE) or b"").decode()
        signature = sign(_read_key(read_file(KEY_FILE) or b""), _signed(nonce, asked_by))
        verify(certificate, _signed(nonce, asked_by), signature)
    except ValueError:
        return respond(500, {"errors": [NOT_PRESENTED]})
    return respond(200, {"data": {"certificate": certificate, "signature": signature.hex()}})


# ---- the side that judges


def authorities_in(content: bytes) -> tuple[str, ...]:
    """Return the certificates in a file, each as PEM; ValueError says why there is none."""
    from cryptography import x509

    if BEGIN_CERTIFICATE not in content:
        raise ValueError("it holds no certificate in PEM form")
    try:
        found = x509.load_pem_x509_certificates(content)
        return tuple([certificate_pem(certificate) for certificate in found])
    except (ValueError, x509.InvalidVersion):
        raise ValueError("it holds what is not an X.509 certificate in PEM form") from None


def check(shown: Any, nonce: str, parties: tuple[str, str], trusted: tuple[str, ...], now_ns: int) -> None:
    """Return if what a host presented is its own and trusted; else raise ValueError with the reason.

    ``parties`` are the host that was asked and the one that asked, ``trusted`` the authorities' certificates in PEM.
    """
    from labkit.keymaking import verify

    asked, asked_by = parties
    try:
        certificate, signature = shown["certificate"], bytes.fromhex(shown["signature"])
        verify(certificate, _signed(nonce, asked_by), signature)
    except (KeyError, TypeError, ValueError):
        raise ValueError("tls: what was presented was not signed with the certificate's key") from None
    presented = _load(certificate)
    if not any(_is_issued_by(presented, _load(authority), now_ns) for authority in trusted):
        raise ValueError(UNKNOWN_AUTHORITY)
    _check_dates(presented, now_ns)
    names = _hosts_of(presented)
    if asked not in names:
        raise ValueError(f"x509: certificate is valid for {', '.join(names) or 'no server'}, not {asked}")


# ---- certificates: Ed25519 (RFC 8410) in X.509 (RFC 5280)


def _make(cluster: str, hosts: tuple[str, ...], entropy: Entropy, now_ns: int) -> dict[str, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    from labkit.keymaking import make_authority

    authority = make_authority(f"{cluster} API authority"[:64], entropy, now_ns, LIFETIME_S)
    issuer = _load(authority.certificate)
    key = Ed25519PrivateKey.from_private_bytes(entropy(KEY_BYTES))
    certificate = (
        x509.CertificateBuilder()
        .public_key(key.public_key())
        .serial_number(1 << 127 | int.from_bytes(entropy(SERIAL_BYTES), "big"))
        .not_valid_before(issuer.not_valid_before_utc)
        .not_valid_after(issuer.not_valid_after_utc)
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, cluster[:64])]))
        .issuer_name(issuer.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_named(host) for host in hosts]), critical=False)
        .sign(Ed25519PrivateKey.from_private_bytes(authority.private), None)
    )
    private = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    return {
        AUTHORITY_FILE: authority.certificate.encode(),
        CERTIFICATE_FILE: certificate_pem(certificate).encode(),
        KEY_FILE: private,
    }


def _named(host: str) -> x509.GeneralName:
    """Return a host as a certificate names it: addresses apart from names (RFC 5280, 4.2.1.6)."""
    from ipaddress import ip_address

    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _signed(nonce: str, asked_by: str) -> bytes:
    return f"labkit API certificate {nonce} to {asked_by}".encode()


def _read_key(pem: bytes) -> bytes:
    """Return the private key of a PEM text, 32 bytes; ValueError for anything else."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (TypeError, UnsupportedAlgorithm):
        raise ValueError("the key is encrypted, or of an unknown kind") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("the key is of another kind than Ed25519")
    return key.private_bytes_raw()


def _load(pem: str) -> x509.Certificate:
    from cryptography import x509

    return x509.load_pem_x509_certificate(pem.encode())


def _is_issued_by(presented: x509.Certificate, authority: x509.Certificate, now_ns: int) -> bool:
    """Whether an authority that may sign certificates, and is valid now, issued this one."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    odd = (x509.DuplicateExtension, x509.ExtensionNotFound, x509.UnsupportedGeneralNameType)
    try:
        if not authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
            return False
        presented.verify_directly_issued_by(authority)
        _check_dates(authority, now_ns)
    except (InvalidSignature, UnsupportedAlgorithm, TypeError, ValueError, *odd):
        return False
    return True


def _check_dates(certificate: x509.Certificate, now_ns: int) -> None:
    begin_s = int(certificate.not_valid_before_utc.timestamp())
    end_s = int(certificate.not_valid_after_utc.timestamp())
    if not begin_s * SECOND_NS <= now_ns <= end_s * SECOND_NS:
        raise ValueError(
            f"x509: certificate has expired or is not yet valid: it is {format_instant(now_ns)}, and the certificate "
            f"is valid from {format_instant(begin_s * SECOND_NS)} to {format_instant(end_s * SECOND_NS)}"
        )


def _hosts_of(certificate: x509.Certificate) -> list[str]:
    """Return the hosts that a server's certificate names; none for one that is not a server's."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    try:
        uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.DuplicateExtension, x509.ExtensionNotFound, x509.UnsupportedGeneralNameType):
        return []
    if ExtendedKeyUsageOID.SERVER_AUTH not in uses:
        return []
    return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
