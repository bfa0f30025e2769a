"""Seal keys: keyring and root key of one node while it is unsealed, and the progress of an unseal.

A reloaded keyring acts at once, sealing and unsealing once their request is recorded and committed; a step that joins a
replication set carries the new keys itself, and they take effect when it commits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.errors import NODE_SEALED, Unavailable
from labkit.vault.identifiers import sha256
from labkit.vault.storage.barrier import Barrier, KeyringTerm

SEALED = "Vault is sealed"

Entropy = Callable[[int], bytes]


def fingerprint_of(root_key: bytes) -> str:
    """Return a digest that stands for a root key."""
    return sha256(b"labkit root key " + root_key).hexdigest()[:16]


class SealKeys:
    """The keyring and the root key while unsealed, else None; the progress of an unseal; why it sealed itself."""

    __slots__ = ("barrier", "nonce", "progress", "reason", "root_key")

    def __init__(self, root_key: bytes | None = None, progress: tuple[bytes, ...] = (), nonce: str = "") -> None:
        self.barrier: Barrier | None = None
        self.root_key, self.progress, self.nonce, self.reason = root_key, progress, nonce, ""

    @classmethod
    def opened(cls, root_key: bytes, keyring: tuple[KeyringTerm, ...]) -> SealKeys:
        """Return the keys of an unsealed node."""
        keys = cls()
        keys.install(root_key, keyring)
        return keys

    def __repr__(self) -> str:
        return f"SealKeys({'sealed' if self.sealed else 'unsealed'}, progress={len(self.progress)})"

    @property
    def sealed(self) -> bool:
        """Whether there are no keys."""
        return self.barrier is None

    def install(self, root_key: bytes, keyring: tuple[KeyringTerm, ...]) -> None:
        """Unseal: from now on values are encrypted under this keyring; the count of a newest key that stays goes on."""
        barrier = self.barrier
        if barrier is None or barrier.keyring[-1] != keyring[-1]:
            self.barrier = Barrier(keyring)
        elif barrier.keyring != keyring:
            self.barrier = Barrier(keyring, barrier.encryptions, barrier.look_at)
        self.root_key = root_key
        self.progress, self.nonce, self.reason = (), "", ""

    def drop(self, reason: str = "") -> None:
        """Seal: drop the keys and the shares given so far; ``reason``: why, where nobody asked for it."""
        self.barrier, self.root_key = None, None
        self.progress, self.nonce, self.reason = (), "", reason

    def adopt(self, other: SealKeys) -> None:
        """Take over the keys of a step that joined a replication set, or that opened this node."""
        self.barrier, self.root_key, self.reason = other.barrier, other.root_key, ""

    def add_share(self, progress: tuple[bytes, ...], nonce: str) -> None:
        """Remember the key shares given so far, under the nonce of this unseal; an empty tuple resets it."""
        self.progress, self.nonce = progress, nonce

    def decrypt(self, key: str, stored: bytes) -> bytes:
        """Decrypt a stored value; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return self.barrier.decrypt(key, stored)

    def encrypt(self, key: str, value: bytes, entropy: Entropy) -> bytes:
        """Encrypt a value for its key; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return self.barrier.encrypt(key, value, entropy)

    def encrypt_labelled(self, nonce: bytes, key: str, value: bytes, label: bytes) -> bytes:
        """Encrypt a value with a label that is in the clear; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return self.barrier.encrypt_labelled(nonce, key, value, label)

    def fingerprint(self) -> str:
        """Return a digest that stands for the root key: equal while it was not replaced; empty while sealed."""
        return "" if self.root_key is None else fingerprint_of(self.root_key)

    def state(self) -> tuple[Any, ...]:
        """Return the keys as plain values: root key, progress, nonce, keyring with its counts, why it sealed itself."""
        barrier = self.barrier
        counted = None if barrier is None else (barrier.keyring, barrier.encryptions, barrier.look_at)
        return self.root_key, self.progress, self.nonce, counted, self.reason

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> SealKeys:
        """Return the keys that a node had; the keyring in the store may have changed since."""
        root_key, progress, nonce, counted, reason = state
        keys = cls(root_key, progress, nonce)
        keys.reason = reason
        if counted is not None:
            keyring, encryptions, look_at = counted
            keys.barrier = Barrier(tuple([KeyringTerm(*row) for row in keyring]), encryptions, look_at)
        return keys
