"""Accessors: those of each namespace's stored tokens, at hand however many tokens the others have.

1. The index is a cache (R3): it is derived from what is stored at the first question, kept up by what this node
   commits, and dropped when its mode, leadership or seal changes.
2. Where others write to the store too, as after this node was overtaken, it is derived each time, and not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from labkit.vault.token_record import ACCESSORS

if TYPE_CHECKING:
    from labkit.vault.context import Context


class AccessorIndex:
    """The accessors of stored tokens by the id of their namespace, which ends them; that of the root is empty."""

    __slots__ = ("_by_namespace",)

    def __init__(self, accessors: Iterable[str]) -> None:
        self._by_namespace: dict[str, dict[str, None]] = {}
        for accessor in accessors:
            self._by_namespace.setdefault(_namespace_id(accessor), {})[accessor] = None

    def __len__(self) -> int:
        return sum(map(len, self._by_namespace.values()))

    def __repr__(self) -> str:
        return f"AccessorIndex({len(self)} accessors)"

    def note(self, writes: Mapping[str, bytes | None]) -> None:
        """Take note of what a step wrote."""
        for key, value in writes.items():
            if key.startswith(ACCESSORS):
                accessor = key[len(ACCESSORS) :]
                namespace_id = _namespace_id(accessor)
                known = self._by_namespace.setdefault(namespace_id, {})
                if value is not None:
                    known[accessor] = None
                else:
                    known.pop(accessor, None)
                    if not known:
                        del self._by_namespace[namespace_id]

    def of(self, namespace_id: str) -> list[str]:
        """Return the accessors of a namespace, sorted."""
        return sorted(self._by_namespace.get(namespace_id, ()))


def of_namespace(ctx: Context, namespace_id: str) -> list[str]:
    """Return the accessors of a namespace's stored tokens, sorted; the id of the root namespace is empty."""
    return _index(ctx).of(namespace_id)


def _index(ctx: Context) -> AccessorIndex:
    """Return the node's index; where that is not what the step sees, one of its own (R2)."""
    if ctx.is_taped or any(key.startswith(ACCESSORS) for key in ctx.writes) or not ctx.core.writes_alone:
        return AccessorIndex(ctx.list(ACCESSORS))
    caches = ctx.core.caches
    if caches.accessors is None:
        caches.accessors = AccessorIndex(ctx.core.storage.list(ACCESSORS))
    index: AccessorIndex = caches.accessors
    return index


def _namespace_id(accessor: str) -> str:
    return accessor.partition(".")[2]
