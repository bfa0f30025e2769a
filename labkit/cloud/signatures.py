"""Signatures: tokens in compact form (RFC 7515), signed by any algorithm, honest or not; and the honest kind verified.

What is asked for is made: a header may name one algorithm and the key be another's.  Only verifiers have to be strict.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from labkit.service.arguments import wrong
from labkit.service.encoding import from_base64url, to_base64url

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

MAX_TOKEN_CHARACTERS = 16_384


def compact(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    """Return a token; ``key`` is a private key, or bytes for an HMAC or that hold a private key (PEM or DER).

    The header's ``alg`` says how it is signed: RS, PS, ES, HS with 256, 384 or 512, EdDSA.  ``none`` in any case leaves
    the signature empty; with any other text the key's own algorithm signs.
    """
    signed = f"{to_base64url(to_json(header))}.{to_base64url(to_json(claims))}"
    return f"{signed}.{to_base64url(sign(header.get('alg'), key, signed.encode()))}"


def to_json(value: Any) -> bytes:
    """Write JSON without spaces, members in the order they have."""
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"claims, headers: expected what JSON can say, got a value that it cannot: {error}") from None
    return text.encode(errors="surrogatepass")


def sign(algorithm: Any, key: Any, data: bytes) -> bytes:
    """Return a signature of bytes; ValueError when the key cannot make one."""
    name = algorithm if isinstance(algorithm, str) else ""
    if name.lower() == "none":
        return b""
    if name[:2] == "HS" and name[2:] in _HASHES:
        return hmac.new(_secret(key), data, _HASHES[name[2:]]).digest()
    return _sign_with(_private(key), name, data)


def verify_rs256(public: RSAPublicKey, token: str) -> dict[str, Any] | None:
    """Return the claims of a token that this key signed by RS256; None for any other."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    signed, _, signature = token.rpartition(".")
    try:
        public.verify(from_base64url(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        claims = json.loads(from_base64url(signed.partition(".")[2]))
    except (InvalidSignature, ValueError):
        return None
    return claims if isinstance(claims, dict) else None


def header_of(token: str) -> dict[str, Any]:
    """Return a token's header, unverified; an empty one for what is not a token."""
    if len(token) > MAX_TOKEN_CHARACTERS or token.count(".") != 2:
        return {}
    try:
        header = json.loads(from_base64url(token.partition(".")[0]))
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def public_pem(private: RSAPrivateKey) -> bytes:
    """Return a private key's public half in PEM: what a careless verifier takes for the secret of an HMAC."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _secret(key: Any) -> bytes:
    if isinstance(key, bytes):
        return key
    if hasattr(key, "private_bytes") and hasattr(key, "key_size"):
        return public_pem(key)
    raise wrong("key", "bytes for an HMAC", key)


def _private(key: Any) -> Any:
    if not isinstance(key, bytes):
        if hasattr(key, "sign"):
            return key
        raise wrong("key", "a private key, or bytes that hold one", key)
    from cryptography.hazmat.primitives.serialization import load_der_private_key, load_pem_private_key

    try:
        return load_pem_private_key(key, None) if key.startswith(b"-----") else load_der_private_key(key, None)
    except (ValueError, TypeError):
        raise wrong("key", "a private key in PEM or DER for this algorithm", key) from None


def _sign_with(key: Any, name: str, data: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    digest = {"384": hashes.SHA384, "512": hashes.SHA512}.get(name[2:], hashes.SHA256)()
    signature: bytes
    if isinstance(key, rsa.RSAPrivateKey):
        form: Any = padding.PKCS1v15()
        if name[:2] == "PS":
            form = padding.PSS(padding.MGF1(digest), digest.digest_size)
        signature = key.sign(data, form, digest)
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        size = (key.key_size + 7) // 8
        parts = decode_dss_signature(key.sign(data, ec.ECDSA(digest, deterministic_signing=True)))
        signature = b"".join(part.to_bytes(size, "big") for part in parts)
    else:
        signature = key.sign(data)
    return signature


_HASHES: dict[str, Any] = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}
