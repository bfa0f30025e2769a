"""Kept beside: what stood beside a vault at the instant to which it goes back, cloud, key store and files.

1. What a vault was given is not its own, and stays as it is.
2. A copy shares no object that changes with what it is a copy of.  Of a seed it goes on where that one was then, in the
   world that the vault is in when it is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Entropy = Callable[[int], bytes]


class KeptBeside:
    """What stood beside a vault when this was made; ``branches`` is how many it had made."""

    __slots__ = ("_cloud", "_files", "_is_configured", "_key_store", "branches")

    def __init__(self, vault: Any) -> None:
        self.branches: int = vault._branches
        self._files = vault.files.copied()
        self._cloud: Callable[[], Any] | None = None
        self._key_store: Callable[[], Any] | None = None
        link, stores = vault._link, vault._keystore
        self._is_configured = link is not None and link.is_configured
        if link is not None and link.own is not None:
            self._cloud = _kept_cloud(vault, link.own)
        if stores is not None and stores.own is not None:
            self._key_store = _kept_key_store(vault, stores.own)

    def restore(self, vault: Any) -> None:
        """Put beside a vault what stood there; cloud and key store are made again when they are asked for."""
        if vault._files_given is None:
            vault._use_own_files(self._files.copied())
        vault._branches = self.branches
        if self._cloud is not None:
            vault._link = vault._make_link(vault.core)
            vault._link.lead_to(self._cloud, self._is_configured)
        if self._key_store is not None:
            vault._keystore.begin_again(self._key_store)


def copy_of_cloud(cloud: Any, clock: Callable[[], int], entropy: Entropy) -> Any:
    """Return a cloud of its own that holds what another one holds now."""
    copy = type(cloud)(clock, entropy, cloud.state())
    copy.observe, copy.use.is_forked = cloud.observe, cloud.use.is_forked
    copy._takes_clock = False
    return copy


def copy_of_key_store(store: Any, entropy: Entropy) -> Any:
    """Return a key store of its own that holds what another one holds now."""
    copy = type(store)(entropy, store.state())
    copy.use.is_forked = store.use.is_forked
    return copy


def _kept_cloud(vault: Any, cloud: Any) -> Callable[[], Any]:
    stream = cloud.parts.entropy
    still, again = copy_of_cloud(cloud, cloud.clock, stream), _kept_stream(vault, stream)
    return lambda: copy_of_cloud(still, still.clock, again())


def _kept_key_store(vault: Any, store: Any) -> Callable[[], Any]:
    still, again = copy_of_key_store(store, store._entropy), _kept_stream(vault, store._entropy)
    return lambda: copy_of_key_store(still, again())


def _kept_stream(vault: Any, stream: Any) -> Callable[[], Entropy]:
    """Return what makes a stream that goes on where this one is now; that of the system is always where it is."""
    if not getattr(stream, "is_seeded", False):
        return lambda: stream
    counter, drawn = stream.drawn()
    world = vault.environment.entropy
    is_shared = getattr(world, "drawn_once", None) is stream.drawn_once
    return lambda: stream.at(counter, world.drawn_once if is_shared else type(stream.drawn_once)(drawn))
