"""Leaves: where in its tree a key is, and the digest that stands for it there.

1. A leaf is SHA-256 over key, 0xFF, ciphertext, cut to 20 bytes.  UTF-8 never contains 0xFF or 0xFE, so no
   two pairs of key and ciphertext frame to the same bytes, and none to a node's, which begin with 0xFE.
2. A key's bucket is the low 16 bits of its CRC-32: the same on every machine, far cheaper than a hash, and
   evenly spread.  The high byte is the page, the low byte the subpage.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from labkit.vault.identifiers import long_sha256
from labkit.vault.replication.tree.key_classes import classify
from labkit.vault.replication.tree.tree_nodes import DIGEST_BYTES

MAX_CACHED_LEAVES, MAX_CACHED_BYTES = 2_048, 1_024

PlacedLeaf = tuple[bytes, int, int, int]
"""A leaf, the same as a number, and the tree and bucket that it is in."""

UNSETTLED = b""
"""Stands for a leaf that is not computed yet."""


class LeafStore(Protocol):
    """What keeps values and leaves; a ``Storage`` does."""

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""

    def leaf(self, key: str) -> bytes | None:
        """Return the kept leaf of a key, or None."""

    def leaves(self) -> Mapping[str, bytes]:
        """Return all kept leaves by key, in any order; the caller changes nothing of it."""


class NothingKept:
    """Keeps nothing: all leaves of a tree over it count as changed."""

    def get(self, key: str) -> bytes | None:
        """Return None."""

    def leaf(self, key: str) -> bytes | None:
        """Return None."""

    def leaves(self) -> Mapping[str, bytes]:
        """Return no leaves."""
        return {}


def bucket(key: str) -> int:
    """Return the number of a key's bucket in its tree: page * 256 + subpage."""
    return crc32(key.encode()) & 0xFFFF


def leaf_digest(key: str, stored: bytes) -> bytes:
    """Return the 20 bytes that stand for a key and its stored ciphertext."""
    return _small_leaf(key, stored)[0] if len(stored) <= MAX_CACHED_BYTES else computed_leaf(key, stored)


def leaf_or_none(key: str, stored: bytes | None) -> bytes | None:
    """Return the leaf of what is stored under a key, None where nothing is."""
    return None if stored is None else leaf_digest(key, stored)


def placed_leaf(key: str, stored: bytes) -> PlacedLeaf:
    """Return the same, with what a tree that takes it in needs beside it."""
    return _small_leaf(key, stored) if len(stored) <= MAX_CACHED_BYTES else _placed(key, stored)


def computed_leaf(key: str, stored: bytes) -> bytes:
    """Return what ``leaf_digest`` does, computed: for whoever asks for many that nobody asks for again."""
    return long_sha256()(key.encode() + b"\xff" + stored).digest()[:DIGEST_BYTES]


def _placed(key: str, stored: bytes) -> PlacedLeaf:
    name = key.encode()
    leaf = long_sha256()(name + b"\xff" + stored).digest()[:DIGEST_BYTES]
    return leaf, int.from_bytes(leaf, "big"), classify(key), crc32(name) & 0xFFFF


# Within a second the ledger, the primary's tree and that of each secondary ask for the digest of one ciphertext.
_small_leaf = lru_cache(MAX_CACHED_LEAVES)(_placed)
