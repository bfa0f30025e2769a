"""Leases: what ends by itself or may be ended by an id; here, every token that is stored and has an end.

1. A lease's id is the path that made the token, ``/h`` and the hash that it is stored under, and outside the root
   namespace the id of its own: ``auth/token/create/h4f…``.  It stands for the token without giving it away.
2. Leases are not stored: they are the tokens' records.  The index of their paths is a cache (R3): it is derived at the
   first question, kept up by what this node commits, and dropped when its mode, leadership or seal changes.  Where
   others write to the store too, as after this node was overtaken, it is derived each time, and not kept.
3. A token whose record does not open is in no lease's place: it cannot be ended either, and is counted apart (C12).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING

from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import IDS, Token, decode_token

if TYPE_CHECKING:
    from labkit.vault.context import Context

HASH_DIGITS = 64

Place = tuple[str, str, str]
"""Where a lease belongs: its namespace's path and id, and the path that made it."""


class LeaseIndex:
    """The digests of the tokens that are leases, by the path and id of the namespace and the path that made them."""

    __slots__ = ("_changed", "_places", "by_path")

    def __init__(self, digests: Iterable[str]) -> None:
        self.by_path: dict[Place, dict[str, None]] = {}
        self._places: dict[str, Place] = {}
        self._changed: dict[str, None] = dict.fromkeys(digests)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"LeaseIndex({len(self)} leases)"

    def note(self, writes: Iterable[str]) -> None:
        """Take note of the keys that a step wrote."""
        for key in writes:
            if key.startswith(IDS):
                self._changed[key[len(IDS) :]] = None

    def settle(self, ctx: Context) -> None:
        """Read the records that were written since the last time."""
        if not self._changed:
            return
        changed, self._changed = self._changed, {}
        for digest in changed:
            place = self._places.pop(digest, None)
            if place is not None:
                self._remove(place, digest)
            token = _read(ctx, digest)
            if token is not None and token.expires_ns:
                place = (token.namespace, token.namespace_id, token.path)
                self._places[digest] = place
                self.by_path.setdefault(place, {})[digest] = None

    def _remove(self, place: Place, digest: str) -> None:
        digests = self.by_path[place]
        del digests[digest]
        if not digests:
            del self.by_path[place]


def _read(ctx: Context, digest: str) -> Token | None:
    """Return a token's record without keeping it: there may be more than the caches hold."""
    key = IDS + digest
    stored = ctx.read(key)
    if stored is None:
        return None
    with suppress(BarrierError):
        return decode_token(ctx.decrypt(key, stored))
    return None


def index_of(ctx: Context) -> LeaseIndex:
    """Return the node's index of leases, as of its last commit."""
    if ctx.is_taped or not ctx.core.writes_alone:  # of a tape every read is made, so that a replay has the same (R2)
        derived = LeaseIndex(ctx.source.names(IDS))
        derived.settle(ctx)
        return derived
    caches = ctx.core.caches
    if caches.leases is None:
        caches.leases = LeaseIndex(ctx.core.storage.list(IDS))
    index: LeaseIndex = caches.leases
    index.settle(ctx)
    return index


def id_of(token: Token, digest: str) -> str:
    """Return a lease's id."""
    return _id(token.namespace_id, token.path, digest)


def _id(namespace_id: str, path: str, digest: str) -> str:
    return f"{path}/h{digest}.{namespace_id}" if namespace_id else f"{path}/h{digest}"


def find(ctx: Context, lease_id: str) -> tuple[Token, str] | None:
    """Return the token of a lease of the request's namespace or below it, and its hash; None for no such lease."""
    name = lease_id.rpartition("/")[2]
    digest = name[1 : 1 + HASH_DIGITS]
    token = ctx.full_storage.decoded(IDS + digest, decode_token) if len(digest) == HASH_DIGITS else None
    if token is None or not token.expires_ns or ctx.is_past(token.expires_ns) or id_of(token, digest) != lease_id:
        return None
    return (token, digest) if token.namespace.startswith(ctx.namespace.path) else None


def names_below(ctx: Context, folder: str) -> list[str]:
    """Return what is directly below a folder of lease ids of the request's namespace, sorted; folders end in ``/``."""
    names: dict[str, None] = {}
    for (_, namespace_id, path), digests in _own(ctx):
        whole = path + "/"
        if whole == folder:
            names |= dict.fromkeys([_id(namespace_id, "", digest)[1:] for digest in digests])
        elif whole.startswith(folder):
            names[whole[len(folder) :].partition("/")[0] + "/"] = None
    return sorted(names)


def digests_below(ctx: Context, prefix: str, namespace_id: str | None = None) -> list[str]:
    """Return the hashes of the tokens whose leases, in the request's namespace or one of that id, are below a prefix.

    They are sorted; the id of the root namespace is empty.
    """
    folder = prefix.strip("/") + "/"
    own = _own(ctx) if namespace_id is None else _of(ctx, namespace_id)
    return sorted([digest for (_, _, path), digests in own if (path + "/").startswith(folder) for digest in digests])


def counts(ctx: Context) -> dict[str, int]:
    """Return how many leases of the request's namespace each path made."""
    return {path: len(digests) for (_, _, path), digests in sorted(_own(ctx), key=itemgetter(0))}


def _own(ctx: Context) -> list[tuple[Place, dict[str, None]]]:
    return _of(ctx, ctx.namespace.id if ctx.namespace.path else "")


def _of(ctx: Context, namespace_id: str) -> list[tuple[Place, dict[str, None]]]:
    return [(place, digests) for place, digests in index_of(ctx).by_path.items() if place[1] == namespace_id]
