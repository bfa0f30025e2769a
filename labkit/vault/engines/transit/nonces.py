"""Random nonces: drawn here, and counted for each key version.

Under one key no more than 2^32 messages may be encrypted with random nonces of 12 bytes (NIST SP 800-38D, 8.3): from
there on each answer warns.  What is counted is stored with the key's next write (``nonce_counts``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.engines.transit.algorithms import NONCE_BYTES
from labkit.vault.engines.transit.keyring import COUNTS_FOLDER, Keyring
from labkit.vault.identifiers import sha256
from labkit.vault.storage.nonce_counts import NonceCount
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

USED_UP = (
    "version {} of this key has encrypted {} messages with random nonces, at or above the limit of {}: a nonce may "
    "come twice under it, which reveals what it protects; rotate the key"
)


def draw(ctx: EngineContext, keyring: Keyring, count: int = 1) -> bytes:
    """Draw the nonces of ``count`` messages, one behind the other; a convergent keyring needs none."""
    return b"" if keyring.convergent_encryption else ctx.entropy(NONCE_BYTES * count)


def count_used(ctx: EngineContext, name: str, keyring: Keyring, version: int, used: int = 1) -> None:
    """Count the random nonces that a version was used with, and warn when they are too many.

    A convergent keyring and a key pair use none: they are not counted.
    """
    counted = keyring.nonce_counts.get(version)
    if counted is None or not counted.live:
        if keyring.convergent_encryption or not keyring.key_type.symmetric:
            return
        counted = _find(ctx, name, keyring, version)
    counted.used = total = counted.used + used
    if total >= counted.limit:
        ctx.warn(USED_UP.format(version, total, counted.limit))


def _find(ctx: EngineContext, name: str, keyring: Keyring, version: int) -> NonceCount:
    """Return the count of a version, and keep it with the keyring."""
    storage, key = ctx.storage, COUNTS_FOLDER + name
    digest = sha256(b"labkit nonce count " + keyring.live(version).key).hexdigest()[:16]
    counted = storage.nonce_counts.find(storage.prefix + key, version, digest, storage.get(key), ctx.nonce_limit)
    keyring.nonce_counts[version] = counted
    return counted


def forget_counts(storage: StorageView, name: str) -> None:
    """Forget what was counted of a keyring that is deleted."""
    storage.delete(COUNTS_FOLDER + name)
    storage.nonce_counts.forget(storage.prefix + COUNTS_FOLDER + name)
