"""Keys, certificates and signatures, made from entropy bytes that the caller passes in.

1. Time and entropy are arguments.  The same entropy bytes at the same instant give the same keys and certificates.
2. Private keys are raw bytes; certificates and public signing keys are PEM text.
3. A check that fails raises ValueError with the reason.  No message and no repr shows a key or a token.
4. Libraries are imported by the function that needs them: importing this module loads neither X.509 nor JWT.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Entropy: TypeAlias = Callable[[int], bytes]

SECOND_NS = 1_000_000_000
KEY_BYTES = 32
SERIAL_BYTES = 16

# A client certificate names its subject in an alternative name (RFC 5280, 4.2.1.6) with the id
# percent-encoded, because a common name has at most 64 characters and an id may be longer.
SUBJECT_PREFIX = "labkit:client:"

# NIST SP 800-186, 3.2.1.5: the number of points of P-521.
P521_ORDER = int(
    "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa"
    "51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    16,
)
P521_BYTES = 66
P521_DRAW_BYTES = 74

JWT_HEADER = b'{"alg":"ES512","typ":"JWT"}'
MAX_TOKEN_CHARACTERS, MAX_BRACKETS = 16_384, 256
AUTHORITY = "the authority's certificate"
ALTERED = "the token was signed by another key, or altered"
MAX_CERTIFICATES = 64  # kept parsed, and with whose signature was checked: who joins shows its own twice


# ---- certificates: Ed25519 (RFC 8410) in X.509 (RFC 5280) --------------------------------------------------


class Identity(NamedTuple):
    """A private key (Ed25519, 32 bytes) and the certificate of its public half (PEM)."""

    private: bytes
    certificate: str

    def __repr__(self) -> str:
        return "Identity(private key not shown)"


def make_authority(common_name: str, entropy: Entropy, now_ns: int, lifetime_s: int) -> Identity:
    """Make a certificate authority that signs client certificates and nothing below them.

    The name has 1 to 64 characters; the certificate is valid from now, cut to the second, for the lifetime.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509.oid import NameOID

    private = entropy(KEY_BYTES)
    key = Ed25519PrivateKey.from_private_bytes(private)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    certificate = (
        _begin(key.public_key(), entropy, now_ns, lifetime_s)
        .subject_name(name)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, None)
    )
    return Identity(private, certificate_pem(certificate))


def issue_client_certificate(
    authority: Identity, subject_id: str, entropy: Entropy, now_ns: int, lifetime_s: int
) -> Identity:
    """Make a key and a certificate, signed by the authority, that lets its holder connect as ``subject_id``.

    Any text that is not empty may be an id; dates as those of `make_authority`.
    """
    from urllib.parse import quote

    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509.oid import ExtendedKeyUsageOID

    if not subject_id:
        raise ValueError("a client certificate needs the id of its subject, not an empty text")
    private = entropy(KEY_BYTES)
    public = Ed25519PrivateKey.from_private_bytes(private).public_key()
    signer = Ed25519PrivateKey.from_private_bytes(authority.private)
    authority_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    subject = x509.UniformResourceIdentifier(SUBJECT_PREFIX + quote(subject_id))
    certificate = (
        _begin(public, entropy, now_ns, lifetime_s)
        .subject_name(x509.Name([]))
        .issuer_name(_load(authority.certificate, AUTHORITY).subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        # With an empty subject the alternative name is the name, and critical (RFC 5280, 4.2.1.6).
        .add_extension(x509.SubjectAlternativeName([subject]), critical=True)
        .add_extension(authority_key, critical=False)
        .sign(signer, None)
    )
    return Identity(private, certificate_pem(certificate))


def check_client_certificate(certificate: str, authority_certificate: str, now_ns: int) -> str:
    """Return the id that a client certificate is for; ValueError unless this authority issued it and it is valid.

    The checks are made one by one, because the path validation of the ``cryptography`` package follows the
    rules of the web, which do not accept Ed25519.  Whether the holder has the key is checked by `verify`.
    """
    presented, authority = _issued_by(certificate, authority_certificate)
    _check_dates(authority, AUTHORITY, now_ns)
    _check_dates(presented, "the client certificate", now_ns)
    return _subject_of(presented)


@lru_cache(MAX_CERTIFICATES)
def _issued_by(certificate: str, authority_certificate: str) -> tuple[x509.Certificate, x509.Certificate]:
    """Return a client certificate and that of its authority; ValueError for one that the authority did not sign."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    presented, authority = _load(certificate, "the client certificate"), _load(authority_certificate, AUTHORITY)
    try:
        presented.verify_directly_issued_by(authority)
    except (InvalidSignature, UnsupportedAlgorithm, TypeError, ValueError):
        raise ValueError("the client certificate was issued by another authority, or altered") from None
    return presented, authority


def sign(private: bytes, data: bytes) -> bytes:
    """Sign with an Ed25519 key: 64 bytes (RFC 8032)."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private).sign(data)


def verify(certificate: str, data: bytes, signature: bytes) -> None:
    """Check that the holder of the certificate's key signed the data; ValueError if not.

    The certificate itself is not checked: see `check_client_certificate`.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _load(certificate, "the certificate").public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("the certificate holds a key of another kind than Ed25519")
    try:
        key.verify(signature, data)
    except InvalidSignature:
        raise ValueError("the signature was not made over this data with the certificate's key") from None


def _begin(owner: Ed25519PublicKey, entropy: Entropy, now_ns: int, lifetime_s: int) -> x509.CertificateBuilder:
    """Begin a certificate: its owner's key, a serial number with 127 random bits, and its dates."""
    from cryptography import x509

    if lifetime_s < 1:
        raise ValueError(f"a certificate is valid for at least one second, not {lifetime_s}")
    begin_s = now_ns // SECOND_NS
    return (
        x509.CertificateBuilder()
        .public_key(owner)
        .serial_number(1 << 127 | int.from_bytes(entropy(SERIAL_BYTES), "big"))
        .not_valid_before(certificate_date(begin_s))
        .not_valid_after(certificate_date(begin_s + lifetime_s))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(owner), critical=False)
    )


def certificate_date(seconds: int) -> datetime:
    """Return seconds since 1970 in the type that certificates take their dates in."""
    from datetime import UTC, datetime, timedelta

    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError("a certificate's dates end with the year 9999; ask for a shorter lifetime") from None


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def certificate_pem(certificate: x509.Certificate) -> str:
    """Write a certificate as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode()


@lru_cache(MAX_CERTIFICATES)
def _load(certificate: str, what: str) -> x509.Certificate:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(certificate.encode())
    except (ValueError, x509.InvalidVersion):
        raise ValueError(f"{what} is not an X.509 certificate in PEM form") from None


def _check_dates(certificate: x509.Certificate, what: str, now_ns: int) -> None:
    """Both ends belong to the time of validity (RFC 5280, 4.1.2.5)."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now_ns < int(begin.timestamp()) * SECOND_NS:
        raise ValueError(f"{what} is not yet valid: it begins at {begin.isoformat()}")
    if now_ns > int(end.timestamp()) * SECOND_NS:
        raise ValueError(f"{what} has expired: it ended at {end.isoformat()}")


def _subject_of(certificate: x509.Certificate) -> str:
    from urllib.parse import unquote

    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    try:
        uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise ValueError("the certificate is not a client certificate") from None
    addresses = names.get_values_for_type(x509.UniformResourceIdentifier)
    client = ExtendedKeyUsageOID.CLIENT_AUTH in uses
    if not client or len(addresses) != 1 or not addresses[0].startswith(SUBJECT_PREFIX):
        raise ValueError("the certificate is not a client certificate")
    return unquote(addresses[0].removeprefix(SUBJECT_PREFIX))


# ---- tokens: JWT (RFC 7519) signed with ES512 (RFC 7518, 3.4) ----------------------------------------------


def make_signing_key(entropy: Entropy) -> tuple[bytes, str]:
    """Make a key for ES512: the private scalar (66 bytes, big-endian) and the public key (PEM).

    More bits are drawn than the order has, and reduced: no scalar is likelier than another by more than one
    part in 2^64 (FIPS 186-5, A.2.1).
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    scalar = int.from_bytes(entropy(P521_DRAW_BYTES), "big") % (P521_ORDER - 1) + 1
    public = ec.derive_private_key(scalar, ec.SECP521R1()).public_key()
    text = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return scalar.to_bytes(P521_BYTES, "big"), text


def point_of(public: str) -> tuple[int, int]:
    """Return the coordinates of an elliptic-curve public key (PEM)."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(public.encode())
    assert isinstance(key, ec.EllipticCurvePublicKey), "make_signing_key makes no other"
    numbers = key.public_numbers()
    return numbers.x, numbers.y


def sign_es512(private: bytes, claims: dict[str, Any]) -> str:
    """Write claims as a signed token: compact form, canonical JSON (keys sorted, no spaces, UTF-8)."""
    head = _to_base64url(JWT_HEADER) + "." + _to_base64url(_to_json(claims))
    return head + "." + _to_base64url(sign_p521(private, head.encode()))


def sign_p521(private: bytes, data: bytes) -> bytes:
    """Sign with ECDSA over P-521 and SHA-512: r and s, 66 bytes each.

    The nonce depends only on key and data (RFC 6979), so that the same token always has the same signature.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    key = ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP521R1())
    r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA512(), deterministic_signing=True)))
    return r.to_bytes(P521_BYTES, "big") + s.to_bytes(P521_BYTES, "big")


def verify_es512(public: str, token: str, now_ns: int | None = None) -> dict[str, Any]:
    """Return the claims of a token signed by this key (PEM); ValueError for any other, or out of its time.

    ``exp``, ``nbf`` and ``iat`` are judged where the token has them and ``now_ns`` is given, without leeway.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    claims = _token_payload(token)
    key = load_pem_public_key(public.encode())
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.key_size != P521_ORDER.bit_length():
        raise ValueError("ES512 is verified with an elliptic-curve key on P-521; this key is of another kind")
    head, _, text = token.rpartition(".")
    signature = _from_base64url(text)
    if len(signature) != 2 * P521_BYTES:  # RFC 7518, 3.4: two numbers have one spelling
        raise ValueError(ALTERED)
    r, s = (int.from_bytes(half, "big") for half in (signature[:P521_BYTES], signature[P521_BYTES:]))
    try:
        key.verify(encode_dss_signature(r, s), head.encode(), ec.ECDSA(hashes.SHA512()))
    except InvalidSignature:
        raise ValueError(ALTERED) from None
    decoded = _from_json(claims, "the token's payload")
    if now_ns is not None:
        _check_times(decoded, now_ns)
    return decoded


def read_claims(token: str) -> dict[str, Any]:
    """Return a token's claims, with neither signature nor times checked; ValueError for anything but an ES512 token."""
    return _from_json(_token_payload(token), "the token's payload")


def _token_payload(token: str) -> bytes:
    """Split a token into three segments, each canonical base64url, the first an ES512 header; return the payload."""
    segments = token.split(".", 3) if len(token) <= MAX_TOKEN_CHARACTERS else []
    if len(segments) != 3:
        raise ValueError(f"a token is three segments with dots between, at most {MAX_TOKEN_CHARACTERS} characters")
    head, payload, _ = (_from_base64url(segment) for segment in segments)
    header = _from_json(head, "the token's header")
    if header.get("alg") != "ES512" or header.get("typ", "JWT") != "JWT":
        raise ValueError("the token's header names another algorithm or type than ES512 and JWT")
    if "crit" in header:
        raise ValueError("the token's header names extensions that must be understood; none is")
    return payload


def _check_times(claims: dict[str, Any], now_ns: int) -> None:
    for name in ("exp", "nbf", "iat"):
        if type(claims.get(name, 0)) is not int:
            raise ValueError(f"the token's claim {name} must be a whole number of seconds since 1970")
    now = f"it is {now_ns // SECOND_NS} now, in seconds since 1970"
    if "exp" in claims and now_ns >= claims["exp"] * SECOND_NS:
        raise ValueError(f"the token expired at {claims['exp']}; {now}")
    if "nbf" in claims and now_ns < claims["nbf"] * SECOND_NS:
        raise ValueError(f"the token is not valid before {claims['nbf']}; {now}")
    if "iat" in claims and now_ns < claims["iat"] * SECOND_NS:
        raise ValueError(f"the token was issued in the future, at {claims['iat']}; {now}")


def _to_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _from_json(raw: bytes, what: str) -> dict[str, Any]:
    """Read a JSON object that can be written again: no NaN, no half of a surrogate pair."""
    if raw.count(b"[") + raw.count(b"{") > MAX_BRACKETS:  # the depth that a parser accepts differs between Pythons
        raise ValueError(f"{what} is not JSON with at most {MAX_BRACKETS} brackets")
    try:
        value = json.loads(raw.decode())
        _to_json(value)
    except (ValueError, RecursionError):
        raise ValueError(f"{what} is not JSON in UTF-8") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not a JSON object")
    return value


def _to_base64url(raw: bytes) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _from_base64url(text: str) -> bytes:
    """Read base64url without padding (RFC 7515, 2); ValueError for any but the canonical spelling."""
    from base64 import urlsafe_b64decode

    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raw = b""
    if _to_base64url(raw) != text:
        raise ValueError("a token's segment is not base64url without padding")
    return raw
