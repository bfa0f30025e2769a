"""The store in memory: one flat dict, and the names of each folder kept sorted."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

from labkit.vault.storage import Names, Writes
from labkit.vault.storage.fencing import check_term


class MemoryStorage:
    """Keys and ciphertexts in a dict; lost when the process ends."""

    __slots__ = ("_folders", "_items", "_term")

    kind = "inmem"

    def __init__(self, items: dict[str, bytes] | None = None, term: int = 0) -> None:
        self._items: dict[str, bytes] = {}
        self._folders: dict[str, Names] = {}
        self._term = term
        if items:
            self.apply(items, term)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> MemoryStorage:
        """Make a store of what ``state`` returned."""
        return cls(state["items"], state["term"])

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""
        return self._items.get(key)

    def list(self, prefix: str) -> Names:
        """Return the names directly under a prefix, sorted; folders end in ``/``."""
        return self._folders.get(prefix, [])[:]

    def keys(self) -> Names:
        """Return all keys, sorted."""
        return sorted(self._items)

    def claim(self, term: int) -> None:
        """Make a leadership term the newest one."""
        check_term(term, self._term)
        self._term = term

    def apply(self, writes: Writes, term: int) -> None:
        """Carry out all writes at once; None deletes."""
        check_term(term, self._term)
        items = self._items
        for key, value in writes.items():
            if value is None:
                if items.pop(key, None) is not None:
                    self._leave_folder(key)
            else:
                if key not in items:
                    self._enter_folder(key)
                items[key] = value

    def state(self) -> dict[str, Any]:
        """Return the store as plain values, sharing the immutable ciphertexts."""
        return {"items": dict(self._items), "term": self._term}

    def _enter_folder(self, key: str) -> None:
        folders = self._folders
        end = len(key)
        while True:
            cut = key.rfind("/", 0, end - 1) + 1
            parent, name = key[:cut], key[cut:end]
            names = folders.get(parent)
            if names is not None:
                insort(names, name)
                return
            folders[parent] = [name]
            if not cut:
                return
            end = cut

    def _leave_folder(self, key: str) -> None:
        folders = self._folders
        end = len(key)
        while True:
            cut = key.rfind("/", 0, end - 1) + 1
            parent, name = key[:cut], key[cut:end]
            names = folders[parent]
            del names[bisect_left(names, name)]
            if names or not cut:
                if not names:
                    del folders[parent]
                return
            del folders[parent]
            end = cut
