"""Differences: what two clusters hold that is not the same, name by name, straight from their stores.

1. Only what is replicated is compared, as stored: ciphertexts that differ count, whatever is inside.
2. Nothing is asked of a node, so clusters that are cut off, sealed or down are compared as well.
3. A name in the store of a mount is shown with the mount's path, where an unsealed node knows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from labkit.lab.queries import Queries
from labkit.vault.context import own_work
from labkit.vault.mounts import all_mounts
from labkit.vault.replication.tree.merkle import leaf_digest
from labkit.vault.storage.barrier import BarrierError

SHOWN = 5


class Difference(NamedTuple):
    """A name in the store: what it is in its mount, and the leaf digests in hex in both; empty for none."""

    name: str
    mount: str
    first: str
    second: str


class Differences(tuple[Difference, ...]):
    """All differences of two clusters, in order of names; a data frame of it has a row each."""

    __slots__ = ()

    def __repr__(self) -> str:
        words = [f"{row.mount or 'the store'} {row.name}" for row in self[:SHOWN]]
        more = f" and {len(self) - SHOWN} more" if len(self) > SHOWN else ""
        return f"Differences({len(self)}{': ' if self else ''}{', '.join(words)}{more})"


def differences(queries: Queries, first: str, second: str) -> Differences:
    """Return what two clusters hold that is not the same."""
    mine, theirs = queries.contents(first), queries.contents(second)
    mounts = [*_mounts(queries, first), *_mounts(queries, second)]
    rows = []
    for key in sorted(mine.keys() | theirs.keys()):
        if mine.get(key) != theirs.get(key):
            prefix, path = next(((prefix, path) for prefix, path in mounts if key.startswith(prefix)), ("", ""))
            rows.append(Difference(key.removeprefix(prefix), path, _digest(key, mine), _digest(key, theirs)))
    return Differences(rows)


def _mounts(queries: Queries, cluster: str) -> Iterable[tuple[str, str]]:
    """Return prefix and path of each mount of a cluster, as far as a node of it can tell."""
    node = queries.active_node(cluster)
    if not node:
        return []
    try:
        mounts = all_mounts(own_work(queries.parts.nodes[node].core))
    except BarrierError:  # damaged: names are shown as they are stored
        return []
    return [(mount.prefix, namespace.path + mount.path) for namespace, mount in mounts]


def _digest(key: str, contents: dict[str, bytes]) -> str:
    stored = contents.get(key)
    return "" if stored is None else leaf_digest(key, stored).hex()
