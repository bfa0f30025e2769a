"""Key classes: which of the two trees a key is in, by its first folder: replicated, local, or outside both."""

from __future__ import annotations

from labkit.vault.replication import OUTSIDE

NO_TREE, REPLICATED, LOCAL = 0, 1, 2

CLASSES = {
    **dict.fromkeys(OUTSIDE, NO_TREE),  # mode, authority, WAL position, lease, kept index, seal configuration
    "token/": LOCAL,  # service tokens
    "cubbyhole/": LOCAL,  # their private storage
    "lease/": LOCAL,  # leases; like the two above, shipped for disaster recovery only
    "local/": LOCAL,  # data of local mounts
}
"""Class of every key by its first folder; all others are replicated."""


def classify(key: str) -> int:
    """Return a key's class: 1 replicated, 2 local (DR secondaries get both), 0 outside both trees, never shipped."""
    return CLASSES.get(key[: key.find("/") + 1], REPLICATED)
