"""What the transit tests stand on: known entropy, keyrings of known keys, keyrings put in storage."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion, write_keyring
from labkit.vault.mounts import MOUNTS, decode_table
from labkit.vault.storage.storage_view import StorageView

MADE_NS = 1_704_164_645_000_000_000


@pytest.fixture
def entropy() -> Callable[[int], bytes]:
    """Bytes that look random and come the same in every run."""
    drawn = iter(range(1_000_000))
    return lambda count: hashlib.shake_256(f"draw {next(drawn)}".encode()).digest(count)


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
        core = service.core
        mount = decode_table(core.keys.decrypt(MOUNTS, core.storage.get(MOUNTS))).at("transit/")
        assert mount is not None
        ctx = Context(core, Request("POST", ""), core.now())
        write_keyring(StorageView(ctx, mount.prefix), name, keyring)
        core.commit(ctx.writes)

    return put
