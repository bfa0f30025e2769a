"""What the transit tests stand on: known entropy, keyrings of known keys, keyrings put in storage."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.keywrap import aes_key_wrap_with_padding

from labkit import Vault
from labkit.front.keystore import KeyStore
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion, write_keyring
from labkit.vault.engines.transit.keys.wrapping_key import write_wrapping_key
from labkit.vault.mounts import MOUNTS, decode_table
from labkit.vault.storage.storage_view import StorageView

IMPORTS = json.loads((Path(__file__).parents[3] / "vectors" / "transit_import.json").read_text())
MADE_NS = 1_704_164_645_000_000_000


class KnownSource:
    """Gives bytes that look random and come the same in every run, as a function and as what keys are made of."""

    def __init__(self) -> None:
        self._drawn = iter(range(1_000_000))

    def __call__(self, count: int) -> bytes:
        return hashlib.shake_256(f"draw {next(self._drawn)}".encode()).digest(count)

    entropy = __call__

    def draw_once(self, kind: str, count: int) -> int:
        return next(self._drawn) % count


@pytest.fixture
def entropy() -> KnownSource:
    """Bytes that look random and come the same in every run."""
    return KnownSource()


@pytest.fixture
def keyring_of() -> Callable[..., Keyring]:
    """Make a keyring around given keys: `keyring_of("aes128-gcm96", key, entry_convergent=3, derived=True)`."""

    def make(key_type: str, *keys: bytes, entry_convergent: int = 0, **settings: Any) -> Keyring:
        entries = (KeyVersion(key, bytes(32), MADE_NS, entry_convergent) for key in keys)
        return Keyring(key_type, tuple(entries), **settings)

    return make


@pytest.fixture
def put_keyring(service: Any) -> Callable[[str, Keyring], None]:
    """Write a keyring into the storage of the mount at transit/, as if it had been there before."""

    def put(name: str, keyring: Keyring) -> None:
        put_into(service, lambda storage: write_keyring(storage, name, keyring))

    return put


@pytest.fixture
def wrapping_key(service: Any) -> RSAPrivateKey:
    """Give the mount at transit/ the wrapping key of the published vectors: making one takes half a second."""
    key = serialization.load_der_private_key(
        base64.b64decode(IMPORTS["wrapping_key_pkcs1_der_b64"]), None, unsafe_skip_rsa_key_validation=True
    )
    assert isinstance(key, RSAPrivateKey)
    put_into(service, lambda storage: write_wrapping_key(storage, key))
    return key


@pytest.fixture
def wrapped(wrapping_key: RSAPrivateKey) -> Callable[..., str]:
    """Wrap key material as a client does: `wrapped(material)`, for another hash `wrapped(material, SHA1())`."""

    def wrap(material: bytes, algorithm: Any = None, key: bytes = bytes(32), public: Any = None) -> str:
        algorithm = algorithm or hashes.SHA256()
        padding = OAEP(MGF1(algorithm), algorithm, None)
        block = (public or wrapping_key.public_key()).encrypt(key, padding)
        return base64.b64encode(block + aes_key_wrap_with_padding(key, material)).decode()

    return wrap


def put_into(service: Any, write: Callable[[StorageView], None]) -> None:
    core = service.core
    mount = decode_table(core.keys.decrypt(MOUNTS, core.storage.get(MOUNTS))).at("transit/")
    assert mount is not None
    ctx = Context(core, Request("POST", ""), core.now())
    write(StorageView(ctx, mount.prefix))
    core.commit(ctx.writes)


@pytest.fixture
def certificate() -> Callable[..., bytes]:
    """Make a certificate (DER): `certificate(public_key, authority=True)`; authority None says nothing of it."""

    def make(public: Any, *, authority: bool | None = None, name: str = "labkit test") -> bytes:
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).serial_number(7)
        builder = builder.not_valid_before(begin).not_valid_after(begin.replace(year=2021)).public_key(public)
        if authority is not None:
            builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        issuer = Ed25519PrivateKey.from_private_bytes(b"i" * 32)
        return builder.sign(issuer, None).public_bytes(serialization.Encoding.DER)

    return make


@pytest.fixture
def managed(clock: Any) -> Any:
    """A vault whose transit keys aes, oaep, ec and pss are external ones, each of one version."""
    service = Vault.dev(clock=clock, keystore=KeyStore.dev(seed=7))  # whose RSA keys come from the pool
    mechanisms = {"aes": "CKM_AES_GCM", "oaep": "CKM_RSA_PKCS_OAEP", "ec": "CKM_ECDSA", "pss": "CKM_RSA_PKCS_PSS"}
    for name, mechanism in mechanisms.items():
        sent = {"key_label": f"label-{name}", "mechanism": mechanism, "allow_generate_key": True}
        service.post(f"sys/managed-keys/pkcs11/{name}", sent).raise_for_status()
        asked = {"type": "managed_key", "managed_key_name": name}
        service.post(f"transit/keys/{name}", asked).raise_for_status()
    return service
