"""Stored keys: the records that a node has its keyring and its root key from.

1. ``core/keyring`` is the keyring under the root key.  It is replicated: a secondary stores its primary's as it comes.
2. ``node/keyring`` is what a secondary used before, under its own root key.  It is kept while ``core/keyring`` is under
   a root key that this cluster was not given yet, and where that lacks keys of this cluster's own records.
3. The keyring in use is what both records give together, the keys of ``core/keyring`` last.
4. ``node/root-key`` is the root key of the last rekey, under keys of the keyring: a node that was unsealed with the one
   before it takes it from there.  It is under those of the last minute too, for one that did not look meanwhile.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from labkit.service.durations import SECOND_NS
from labkit.service.record import NamedTuple
from labkit.vault.seal_keys import fingerprint_of
from labkit.vault.storage.barrier import KEYRING, Barrier, BarrierError, KeyringTerm, decrypt_keyring, encrypt_keyring
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.core import Core
    from labkit.vault.seal_keys import Entropy

OWN_KEYRING = "node/keyring"
ROOT_KEY = "node/root-key"

LOOKS_NS = 60 * SECOND_NS

Rows = tuple[KeyringTerm, ...]


class StoredKeyring(NamedTuple):
    """The keyring that a root key opens, and whether the cluster's record is under that root key."""

    keyring: Rows
    is_whole: bool

    def __repr__(self) -> str:
        return f"StoredKeyring(is_whole={self.is_whole})"


def open_keyring(core: Core, root_key: bytes) -> StoredKeyring | None:
    """Return the keyring that the stored records give under a root key; None where neither opens."""
    replicated = decrypted(core.storage.get(KEYRING), root_key)
    own = decrypted(core.storage.get(OWN_KEYRING), root_key)
    if replicated is None:
        return None if own is None else StoredKeyring(own, is_whole=False)
    return StoredKeyring(together(replicated, own or ()), is_whole=True)


def decrypted(stored: bytes | None, root_key: bytes) -> Rows | None:
    """Return a stored keyring; None where there is none, or it is not under this root key."""
    try:
        return None if stored is None else decrypt_keyring(stored, root_key)
    except BarrierError:
        return None


def together(keyring: Rows, other: Rows) -> Rows:
    """Return a keyring with the keys of another that it lacks in front."""
    known = {(item.term, item.key) for item in keyring}
    return (*[item for item in other if (item.term, item.key) not in known], *keyring)


def encode_root_key(root_key: bytes, keyring: Rows, now_ns: int, entropy: Entropy) -> bytes:
    """Return a root key as ``node/root-key`` holds it: its fingerprint, and itself under the newest keys."""
    newest = [item for item, later in pairwise(keyring) if now_ns - later.installed_ns < LOOKS_NS]
    rows = [Barrier((item,)).encrypt(ROOT_KEY, root_key, entropy).hex() for item in (*newest, keyring[-1])]
    return encode_record([fingerprint_of(root_key), rows])


def passed_on(core: Core) -> bytes | None:
    """Return the root key of the last rekey where this node holds another and its keyring opens it; else None."""
    barrier, row = core.keys.barrier, _root_key_row(core)
    if barrier is None or row is None:
        return None
    for text in row[1]:
        try:
            return barrier.decrypt(ROOT_KEY, bytes.fromhex(text))
        except (BarrierError, ValueError):
            continue
    return None


def is_rekeyed(core: Core) -> bool:
    """Whether this node holds another root key than that of the last rekey."""
    return _root_key_row(core) is not None


def _root_key_row(core: Core) -> tuple[str, list[str]] | None:
    """Return what is stored of the last rekey, where this node's root key is another."""
    stored = core.storage.get(ROOT_KEY)
    if stored is None:
        return None
    try:
        name, rows = decode_record(stored)
    except (ValueError, TypeError):
        core.note_damage(ROOT_KEY)
        return None
    if name == core.keys.fingerprint():
        return None
    return name, [row for row in rows if isinstance(row, str)]


def kept_beside(core: Core, received: bytes | None) -> dict[str, bytes | None]:
    """Return the writes with which a secondary keeps its own keyring beside one that it received from its primary."""
    root_key, barrier = core.keys.root_key, core.keys.barrier
    assert root_key is not None
    assert barrier is not None
    stored = open_keyring(core, root_key)
    used = barrier.keyring if stored is None else stored.keyring
    keyring = decrypted(received, root_key)
    if keyring is not None and together(keyring, used) == keyring:
        return {} if core.storage.get(OWN_KEYRING) is None else {OWN_KEYRING: None}
    return {OWN_KEYRING: encrypt_keyring(together(keyring or used, used), root_key, core.entropy)}


def keyring_writes(core: Core, keyring: Rows, root_key: bytes, entropy: Entropy) -> dict[str, bytes | None]:
    """Return the writes that make a keyring the cluster's, under a root key; one kept beside it is in it already."""
    writes: dict[str, bytes | None] = {KEYRING: encrypt_keyring(keyring, root_key, entropy)}
    if core.storage.get(OWN_KEYRING) is not None:
        writes[OWN_KEYRING] = None
    return writes
