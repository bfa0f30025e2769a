"""Token index: by what stored tokens are found beside their text: accessor, namespace, and the token that made them.

1. A token has one record.  By what else it is found stands in that record's label, which is in the clear: the index
   decrypts nothing, and a record that does not open is found as before, so that it keeps none of its family alive.
2. The index is a cache (R3): it is derived from the labels at the first question, kept up by what this node commits,
   and dropped when its mode, leadership or seal changes.  A step's own writes are an index of their own above it.
3. Where others write to the store too, as after this node was overtaken or while it follows a primary, it is derived
   each time, and not kept; of a tape every read is made, so that a replay has the same (R2).
4. Earlier versions gave records no label, and kept accessors and children in entries of their own.  Such a record is
   decrypted for its label; nobody reads the entries, and they are deleted with their token.

Deriving 100,000 tokens takes 0.2 s in memory, 0.4 s on SQLite, where all records are read at once; if each record were
decrypted for it, 0.4 s more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from labkit.vault.storage.barrier import BarrierError, label_of
from labkit.vault.token_record import IDS, decode_token, names_in

if TYPE_CHECKING:
    from labkit.vault.context import Context

Member = TypeVar("Member")
Read = Callable[[str], bytes | None]
"""Returns the stored bytes of a key."""

Older = Callable[[str, bytes], bytes | None]
"""Returns the label of a key's record that was stored without one, or None."""


class TokenIndex:
    """Stored tokens by the hashes that they are stored under; ``below`` knows those that were not noted here."""

    __slots__ = ("_below", "_by_namespace", "_changed", "_children", "_labels")

    def __init__(self, digests: Iterable[str], below: TokenIndex | None = None) -> None:
        self._below = below
        self._changed: dict[str, None] = dict.fromkeys(digests)
        self._labels: dict[str, bytes | None] = {}
        self._by_namespace: dict[str, dict[str, str]] = {}  # {its id, empty for the root's: {accessor: hash}}
        self._children: dict[str, dict[str, None]] = {}

    @classmethod
    def derived(cls, stored: Mapping[str, bytes], older: Older) -> TokenIndex:
        """Make the index of stored records by key: as ``settle`` would, in half the time for many."""
        index = cls(())
        labels, namespaces, children = index._labels, index._by_namespace, index._children
        for key, value in stored.items():
            label = label_of(value) or older(key, value)
            if label is None:
                continue
            digest = key[len(IDS) :]
            labels[digest] = label
            accessor, parent = names_in(label)
            _group(namespaces, accessor.partition(".")[2])[accessor] = digest
            if parent:
                _group(children, parent)[digest] = None
        return index

    def __len__(self) -> int:
        return sum(map(len, self._by_namespace.values()))

    def __repr__(self) -> str:
        return f"TokenIndex({len(self)} tokens)"

    def note(self, writes: Iterable[str]) -> None:
        """Take note of the keys that a step wrote."""
        for key in writes:
            if key.startswith(IDS):
                self._changed[key[len(IDS) :]] = None

    def settle(self, read: Read, older: Older) -> None:
        """Read the labels of the records that were written since the last time; ``older``: of those without one."""
        if not self._changed:
            return
        labels = self._labels
        for digest in self._changed:
            stored = read(IDS + digest)
            label = None if stored is None else label_of(stored) or older(IDS + digest, stored)
            known = labels.get(digest)
            if label is not None:
                labels[digest] = label
            elif self._below is not None:
                labels[digest] = None
            elif known is not None:
                del labels[digest]
            if label != known:
                if known is not None:
                    self._remove(digest, known)
                if label is not None:
                    self._add(digest, label)
        self._changed = {}

    def _add(self, digest: str, label: bytes) -> None:
        accessor, parent = names_in(label)
        _group(self._by_namespace, accessor.partition(".")[2])[accessor] = digest
        if parent:
            _group(self._children, parent)[digest] = None

    def _remove(self, digest: str, label: bytes) -> None:
        accessor, parent = names_in(label)
        namespace_id = accessor.partition(".")[2]
        if self._by_namespace.get(namespace_id, {}).get(accessor) == digest:  # two have one where a label was altered
            _drop(self._by_namespace, namespace_id, accessor)
        if parent:
            _drop(self._children, parent, digest)

    def by_accessor(self, accessor: str) -> str | None:
        """Return the hash of the token that has an accessor, or None."""
        digest = self._by_namespace.get(accessor.partition(".")[2], {}).get(accessor)
        if digest is None and self._below is not None:
            digest = self._below.by_accessor(accessor)
            return None if digest in self._labels else digest
        return digest

    def of_namespace(self, namespace_id: str) -> list[tuple[str, str]]:
        """Return the accessors and hashes of a namespace's tokens, sorted; the id of the root namespace is empty."""
        found = [*self._by_namespace.get(namespace_id, {}).items()]
        if self._below is not None:
            found += [item for item in self._below.of_namespace(namespace_id) if item[1] not in self._labels]
        return sorted(found)

    def children_of(self, digest: str) -> list[str]:
        """Return the hashes of the tokens that a token made, sorted."""
        found = [*self._children.get(digest, ())]
        if self._below is not None:
            found += [child for child in self._below.children_of(digest) if child not in self._labels]
        return sorted(found)


def index_of(ctx: Context) -> TokenIndex:
    """Return the index of the tokens as the step sees them now: what it writes later is not in it."""
    core, older = ctx.core, partial(_label_within, ctx)
    if ctx.is_taped or core.replica.is_secondary or not core.writes_alone:
        index = TokenIndex(ctx.source.names(IDS))
    else:
        if core.caches.tokens is None:
            core.caches.tokens = TokenIndex.derived(core.storage.values_below(IDS), older)
        index = core.caches.tokens
    index.settle(ctx.source.read, older)
    written = [key[len(IDS) :] for key in ctx.writes if key.startswith(IDS)]
    if not written:
        return index
    own = TokenIndex(written, index)
    own.settle(ctx.read, older)
    return own


def _label_within(ctx: Context, key: str, stored: bytes) -> bytes | None:
    """Return the label of a record that was stored without one; None where it does not open."""
    with suppress(BarrierError):
        return decode_token(ctx.decrypt(key, stored)).label
    return None


def _group(groups: dict[str, dict[str, Member]], name: str) -> dict[str, Member]:
    group = groups.get(name)
    if group is None:
        group = groups[name] = {}
    return group


def _drop(groups: dict[str, dict[str, Member]], name: str, member: str) -> None:
    group = groups[name]
    del group[member]
    if not group:
        del groups[name]
