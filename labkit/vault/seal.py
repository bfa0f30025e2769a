"""Sealed and unsealed: key shares open the root key, the root key opens the key ring.

1. Sealed is the start: the node holds no key.  ``SEAL`` is the whole table of states.
2. A share given twice does not count twice; the share that completes the threshold either opens the key ring or sets
   the progress back to nothing.
3. Sealing drops the root key, the key ring and every cache.
4. A node whose root key no longer opens the stored key ring (its cluster joined another replication set) seals itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.context import Core
from labkit.vault.identifiers import uuid_text
from labkit.vault.shamir import combine
from labkit.vault.storage.barrier import KEYRING, Barrier, BarrierError, open_ring
from labkit.vault.storage.records import decode_record, encode_record

SEAL: dict[str, dict[str, str]] = {
    "uninitialised": {"init": "sealed"},
    "sealed": {"share": "sealed", "threshold": "unsealed", "wrong": "sealed", "reset": "sealed"},
    "unsealed": {"seal": "sealed", "share": "unsealed", "stranger": "sealed"},
}

SEAL_CONFIG = "node/seal-config"
SHORTEST_SHARE, LONGEST_SHARE = 16, 33


class SealConfig(NamedTuple):
    """How the root key is shared out."""

    shares: int
    threshold: int


class SealState:
    """What a node knows about its seal in memory: shares given so far, and the root key while unsealed."""

    __slots__ = ("nonce", "progress", "root_key")

    def __init__(self, root_key: bytes | None = None, progress: tuple[bytes, ...] = (), nonce: str = "") -> None:
        self.root_key, self.progress, self.nonce = root_key, progress, nonce

    def __repr__(self) -> str:
        return f"SealState(progress={len(self.progress)})"


def seal_state(core: Core) -> str:
    """Name the node's state: one of the keys of ``SEAL``."""
    if core.barrier is not None:
        return "unsealed"
    return "sealed" if core.storage.get(SEAL_CONFIG) is not None else "uninitialised"


def read_config(core: Core) -> SealConfig | None:
    """Return how the root key is shared out; None before initialisation."""
    stored = core.storage.get(SEAL_CONFIG)
    return None if stored is None else SealConfig(*decode_record(stored))


def encode_config(config: SealConfig) -> bytes:
    """Write a seal configuration as it is stored (in the clear: it is needed while sealed)."""
    return encode_record(list(config))


def parse_share(text: Any) -> bytes:
    """Read a key share given as hex or base64; raise BadRequest with the API's text."""
    if not isinstance(text, str) or not text:
        raise BadRequest("'key' must be specified in request body as JSON")
    share = _from_hex(text)
    if share is None or not SHORTEST_SHARE <= len(share) <= LONGEST_SHARE:
        decoded = _from_base64(text)
        share = decoded if decoded is not None else share
    if share is None:
        raise BadRequest("'key' must be a valid hex or base64 string")
    if len(share) < SHORTEST_SHARE:
        raise BadRequest(f"invalid key: key is shorter than minimum {SHORTEST_SHARE} bytes")
    if len(share) > LONGEST_SHARE:
        raise BadRequest(f"invalid key: key is longer than maximum {LONGEST_SHARE} bytes")
    return share


def _from_hex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if not any(c.isspace() for c in text) else None
    except ValueError:
        return None


def _from_base64(text: str) -> bytes | None:
    from labkit.service.encoding import from_base64

    try:
        return from_base64(text)
    except ValueError:
        return None


def unseal(core: Core, share: bytes) -> bool:
    """Take one key share; return whether the node is unsealed now; raise BadRequest when the shares do not fit."""
    config = read_config(core)
    if config is None:
        raise BadRequest("Vault is not initialized")
    if core.barrier is not None:
        return True
    state = core.seal
    if share in state.progress:
        return False
    if not state.progress:
        state.nonce = uuid_text(core.entropy)
    given = (*state.progress, share)
    if len(given) < config.threshold:
        state.progress = given
        return False
    state.progress, state.nonce = (), ""
    open_with(core, combine_shares(given, lambda why: f"invalid key: {why}"))
    return True


def combine_shares(shares: tuple[bytes, ...], text: Callable[[str], str]) -> bytes:
    """Combine key shares into a root key (one share alone is the key); raise BadRequest through ``text``."""
    if len(shares) == 1:
        return shares[0]
    try:
        return combine(list(shares))
    except ValueError as error:
        raise BadRequest(text(str(error))) from None


def open_with(core: Core, root_key: bytes) -> None:
    """Unseal with the root key itself; raise BadRequest when it does not open the stored key ring."""
    core.barrier = Barrier(check_root_key(core, root_key, "invalid key: "))
    core.seal.root_key = root_key
    core.drop_caches()
    core.next_due_ns = None
    core.observe("unsealed")


def check_root_key(core: Core, root_key: bytes, prefix: str) -> tuple[Any, ...]:
    """Open the stored key ring with a root key and return it; raise BadRequest with the API's text."""
    stored = core.storage.get(KEYRING)
    try:
        if stored is not None:
            return open_ring(stored, root_key)
    except BarrierError:
        pass
    raise BadRequest(
        f"{prefix}failed to decrypt keys from storage: the key shares given do not combine to this cluster's root key"
    )


def seal(core: Core, reason: str = "asked") -> None:
    """Drop the keys and every cache."""
    core.barrier = None
    core.seal.root_key, core.seal.progress, core.seal.nonce = None, (), ""
    core.drop_caches()
    core.observe("sealed", reason=reason)


def refresh_ring(core: Core) -> None:
    """Take up a key ring that changed under this node; seal when its root key does not open it (rule 4)."""
    stored = core.storage.get(KEYRING)
    if core.barrier is None or stored is None:
        return
    kept = core.records.get(KEYRING)
    if kept is not None and kept[0] is stored:
        return
    assert core.seal.root_key is not None
    try:
        ring = open_ring(stored, core.seal.root_key)
    except BarrierError:
        seal(core, reason="the cluster joined another replication set")
        return
    if ring != core.barrier.ring:
        core.barrier = Barrier(ring)
    core.records[KEYRING] = (stored, None)
