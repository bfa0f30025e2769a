"""Backup pairs: the halves of a key pair as numbers, as a backup blob has them.

1. Of an Ed25519 key a blob has bytes, of one on another curve its point and scalar, of an RSA key all its numbers.
2. Where a private half stands the public one is computed from it; what the blob says of it must agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.backups.backup_members import Members
from labkit.vault.engines.transit.keys.pair_material import (
    Halves,
    check_kind,
    read_public,
    stored_halves,
    stored_public,
)
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from labkit.vault.engines.transit.algorithms import KeyType
    from labkit.vault.engines.transit.keyring import KeyVersion

ED25519_BYTES = 64


def written_pair(key_type: KeyType, entry: KeyVersion) -> dict[str, Any]:
    """Lay out the halves of a version."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    pair = key_type.pair
    assert pair is not None
    public = pair.public_key(entry.public)
    private = pair.private_key(entry.key) if entry.key else None
    if isinstance(public, EllipticCurvePublicKey):
        point = public.public_numbers()
        scalar = private.private_numbers().private_value if private is not None else None
        return {"ec_x": point.x, "ec_y": point.y, "ec_d": scalar, "public_key": pair.public_text(entry.public)}
    if isinstance(public, RSAPublicKey):
        numbers = public.public_numbers()
        half = {"N": numbers.n, "E": numbers.e}
        return {"rsa_public_key": half} if private is None else {"rsa_key": half | _rsa_numbers(private)}
    return {"key": to_base64(entry.key) if entry.key else None, "public_key": pair.public_text(entry.public)}


def _rsa_numbers(private: Any) -> dict[str, Any]:
    numbers = private.private_numbers()
    computed = {"Dp": numbers.dmp1, "Dq": numbers.dmq1, "Qinv": numbers.iqmp, "CRTValues": []}
    return {"D": numbers.d, "Primes": [numbers.p, numbers.q], "Precomputed": computed}


def read_pair(key_type: KeyType, members: Members) -> Halves:
    """Read the halves of a version, the private one empty where only the public one is there; raise BadRequest."""
    try:
        if members.has("rsa_key") or members.has("rsa_public_key"):
            key = _read_rsa(key_type, members)
        elif members.has("ec_x") or members.has("ec_d"):
            key = _read_ec(key_type, members)
        elif members.has("key"):
            key = _read_ed25519(members)
        elif members.text("public_key").startswith("-----"):
            return b"", read_public(key_type, members.text("public_key"))
        else:
            key = _read_ed25519_public(members)
        check_kind(key_type, key)
    except BadRequest:
        raise
    except (ValueError, OverflowError):
        raise ListedRefusal(
            f"in the backup, {members.path.rstrip('.')} must be a key of type {key_type.name}"
        ) from None
    return stored_halves(key) if hasattr(key, "private_bytes") else (b"", stored_public(key))


def _read_ed25519(members: Members) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    both = members.value("key")
    key = Ed25519PrivateKey.from_private_bytes(both[: ED25519_BYTES // 2])
    if both != stored_halves(key)[0]:
        raise ValueError("the halves are no pair")
    return key


def _read_ed25519_public(members: Members) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(members.value("public_key"))


def _read_ec(key_type: KeyType, members: Members) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    pair = key_type.pair
    curves: dict[str, ec.EllipticCurve] = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
    curve = curves.get(pair.shown_name if pair is not None else "")
    if curve is None:
        raise ValueError("not a type on one of these curves")
    point = (members.large_number("ec_x"), members.large_number("ec_y"))
    if not members.has("ec_d"):
        return ec.EllipticCurvePublicNumbers(*point, curve).public_key()
    key = ec.derive_private_key(members.large_number("ec_d"), curve)
    numbers = key.public_key().public_numbers()
    if members.has("ec_x") and point != (numbers.x, numbers.y):
        raise ValueError("the halves are no pair")
    return key


def _read_rsa(key_type: KeyType, members: Members) -> Any:
    from cryptography.hazmat.primitives.asymmetric import rsa

    whole = members.object("rsa_key")
    half = whole or members.object("rsa_public_key")
    assert half is not None
    public = rsa.RSAPublicNumbers(half.large_number("E"), half.large_number("N"))
    key = public.public_key()
    if whole is None:
        return key
    check_kind(key_type, key)  # before anything is computed with numbers of any size
    primes, exponent = whole.numbers("Primes"), whole.large_number("D")
    if len(primes) != 2 or min(primes) < 3:
        raise ValueError("not two primes")
    p, q = primes
    computed = (rsa.rsa_crt_dmp1(exponent, p), rsa.rsa_crt_dmq1(exponent, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, exponent, *computed, public).private_key()
