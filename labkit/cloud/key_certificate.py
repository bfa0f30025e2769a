"""Key certificate: the certificate with which a signing key is published to clients that look for one (RFC 7517, 4.7).

It is signed with the key itself: whoever reads it trusts the address that it came from.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from labkit.keymaking import certificate_date

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

NAME = "labkit cloud signing key"
BEGIN_S, END_S = 1_577_836_800, 4_102_358_400
"""The years 2020 to 2099: it ends with its key, whenever that is."""


def self_signed(private: RSAPrivateKey, kid: str) -> bytes:
    """Return a key's certificate in DER: the same bytes each time."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import NameOID

    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    serial = int.from_bytes(sha256(kid.encode()).digest()[:8], "big") | 1
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(serial)
        .not_valid_before(certificate_date(BEGIN_S))
        .not_valid_after(certificate_date(END_S))
        .sign(private, SHA256())
    )
    return made.public_bytes(Encoding.DER)
