"""``wrapping_key``: the RSA key that key material is wrapped with before it is imported into this mount.

It is made when it is first needed, by a read or an import, kept for the mount's life, and never shown but for its
public half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.rsa_keys import PAIRS, make_rsa_key
from labkit.service.routing import Route
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from labkit.vault.engine_context import EngineContext
    from labkit.vault.storage.storage_view import StorageView

STORED_AT = "import/wrapping-key"
SIZE_BITS = 4096


def read_wrapping_key(ctx: EngineContext) -> dict[str, Any]:
    """Return the public half, in PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = wrapping_key(ctx).public_key()
    return {"public_key": public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()}


def wrapping_key(ctx: EngineContext) -> RSAPrivateKey:
    """Return the mount's wrapping key; the first call makes it."""
    found: RSAPrivateKey | None = ctx.storage.decoded(STORED_AT, _decode)
    if found is None:
        write_wrapping_key(ctx.storage, _make_key(ctx))
        found = ctx.storage.decoded(STORED_AT, _decode)
        assert found is not None
    return found


def write_wrapping_key(storage: StorageView, key: RSAPrivateKey) -> None:
    """Store a wrapping key when the step commits."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    storage.put(STORED_AT, encode_record({"private": private.hex()}))


def _make_key(ctx: EngineContext) -> RSAPrivateKey:
    return make_rsa_key(SIZE_BITS, ctx.draw_once(f"rsa-{SIZE_BITS}", PAIRS))


def _decode(stored: bytes) -> RSAPrivateKey:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    private = bytes.fromhex(decode_record(stored)["private"])
    key = load_der_private_key(private, None, unsafe_skip_rsa_key_validation=True)  # the service made it itself
    assert isinstance(key, RSAPrivateKey)
    return key


ROUTES = (Route("read", "wrapping_key", read_wrapping_key),)
