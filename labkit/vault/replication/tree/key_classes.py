"""Key classes: which of the two trees a key is in, by its first folder: replicated, local, or outside both."""

from __future__ import annotations

NO_TREE, REPLICATED, LOCAL = 0, 1, 2

CLASSES = {
    "node/": NO_TREE,  # only this cluster's: mode, authority, WAL position, lease, kept index, seal configuration
    "token/": LOCAL,  # service tokens
    "cubbyhole/": LOCAL,  # their private storage
    "lease/": LOCAL,  # leases; like the two above, shipped for disaster recovery only
    "local/": LOCAL,  # data of local mounts
}
"""Class of every key by its first folder; all others are replicated."""

OUTSIDE = tuple([prefix for prefix, tree in CLASSES.items() if tree == NO_TREE])
"""What the keys outside both trees begin with: cheaper than ``classify`` where no more is asked."""


def classify(key: str) -> int:
    """Return a key's class: 1 replicated, 2 local (DR secondaries get both), 0 outside both trees, never shipped."""
    return CLASSES.get(key[: key.find("/") + 1], REPLICATED)
