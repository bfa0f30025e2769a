"""Damage: one node of a cluster's kept Merkle index, or one stored value, is altered where nobody notices at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.parts import Parts
from labkit.lab.queries import Queries
from labkit.vault.context import own_work
from labkit.vault.mounts import all_mounts
from labkit.vault.replication.tree.merkle import FAN_OUT, bucket, classify, leaf_digest
from labkit.vault.storage.barrier import BarrierError

ANY_TERM = 1 << 62  # damage asks for no leadership
POLICIES = "policy/"


class Damage(NamedTuple):
    """What was altered: where, and of a stored value the digests of what was there before and of what is now.

    ``place`` is its tree, page and subpage, -1 where one does not apply.
    """

    where: dict[str, Any]
    digests: tuple[bytes, bytes] | None
    place: tuple[int, int, int]


def damage(parts: Parts, queries: Queries, node: NodeHost, layer: str, key: str | None) -> Damage:
    """Alter a node of the index of an active node, or a stored value; return where that is.

    Without a key it is the index's first, or the last value of a secret.  ValueError where there is none.
    """
    if layer == "storage":
        return _alter_stored(parts, queries, node, key)
    if not node.journal.on:
        raise ValueError(f"{node.cluster} keeps no Merkle index: replication is disabled there")
    struck = node.journal.corrupt(layer, key, node.core.leadership.term)
    where = {name: number for name, number in struck._asdict().items() if name != "layer" and number >= 0}
    return Damage(where, None, struck[1:])


def _alter_stored(parts: Parts, queries: Queries, node: NodeHost, key: str | None) -> Damage:
    """Flip one bit of a stored value."""
    store = parts.stores[node.cluster]
    chosen = key or _last_secret(queries, node)
    stored = store.get(chosen)
    if not stored:
        raise ValueError(f"{node.cluster} stores nothing under {chosen}")
    if node.journal.on:
        node.journal.flush(node.core.leadership.term)
    altered = stored[:-1] + bytes([stored[-1] ^ 1])
    store.apply({chosen: altered}, ANY_TERM)
    place = (classify(chosen) or -1, *divmod(bucket(chosen), FAN_OUT))
    return Damage({"key": chosen}, (leaf_digest(chosen, stored), leaf_digest(chosen, altered)), place)


def _last_secret(queries: Queries, node: NodeHost) -> str:
    """Return the last key of the first engine that stores any, those for secrets first, or the last of a policy."""
    contents = sorted(queries.contents(node.cluster))
    try:
        mounts = [mount for _, mount in all_mounts(own_work(node.core))]
    except BarrierError:  # damaged before
        mounts = []
    engines = sorted(mounts, key=lambda mount: (mount.kind != "kv", mount.path))
    for prefix in (*[mount.prefix for mount in engines], POLICIES):
        keys = [key for key in contents if key.startswith(prefix)]
        if keys:
            return keys[-1]
    raise ValueError(f"{node.cluster} stores no secret that could be altered; write one first, or name a key")
