"""Key store: a simulated store of external keys to hold in the hand, for the managed keys of a vault."""

from __future__ import annotations

from typing import Self

from labkit import real, seeded
from labkit.cloud.key_store_service import KeyStoreService
from labkit.service.arguments import seed as checked_seed


class KeyStore(KeyStoreService):
    """One simulated store of external keys, outside a lab."""

    @classmethod
    def dev(cls, *, seed: int | None = None) -> Self:
        """Make an empty store; with a ``seed`` its keys are the same every time."""
        return cls.beside(seed, None)

    @classmethod
    def beside(cls, seed: int | None, drawn_once: seeded.DrawnOnce | None) -> Self:
        """Make an empty store of a world that has drawn this, and so gives no key twice."""
        if seed is not None:
            checked_seed("seed", seed)
        drawn = real.entropy if seed is None else seeded.SeededEntropy(seed, "key store", drawn_once=drawn_once)
        store = cls(drawn)
        store.use.is_forked = real.fork_watch()
        return store
