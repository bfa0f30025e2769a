"""Views: the part of the store under a prefix, decrypted, as one step sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from labkit.vault.context import Context

Record = TypeVar("Record")
Names = list[str]


class Subtree:
    """A step's view of everything under a prefix; its keys are relative to the prefix, nothing else can be reached."""

    __slots__ = ("_context", "prefix")

    def __init__(self, context: Context, prefix: str) -> None:
        self._context = context
        self.prefix = prefix

    def get(self, key: str) -> bytes | None:
        """Return the decrypted value of a key, or None."""
        full = self.prefix + key
        stored = self._context.read(full)
        return None if stored is None else self._context.core.open(full, stored)

    def decoded(self, key: str, decode: Callable[[bytes], Record]) -> Record | None:
        """Return a key's value as an immutable record, decoded once while the stored bytes are the same object.

        One key has one ``decode``: the record is kept under the key alone.  It must be immutable, as it is shared.
        """
        full = self.prefix + key
        stored = self._context.read(full)
        if stored is None:
            return None
        core = self._context.core
        kept = core.records.get(full)
        if kept is not None and kept[0] is stored:
            return kept[1]  # type: ignore[no-any-return]  # what decode made of these very bytes
        record = decode(core.open(full, stored))
        core.keep_record(full, stored, record)
        return record

    def put(self, key: str, value: bytes, record: Any = None) -> None:
        """Encrypt and write a value when the step commits.

        ``record`` is what ``decoded`` would make of the value; where it is given, nobody has to decode it again.
        """
        full = self.prefix + key
        context = self._context
        stored = context.core.close(full, value, context.nonce)
        context.write(full, stored)
        if record is not None:
            context.core.keep_record(full, stored, record)

    def note_due(self, when_ns: int) -> None:
        """Say that something that was put here falls due then; 0 for never."""
        self._context.note_due(when_ns)

    def delete(self, key: str) -> None:
        """Delete a key when the step commits; one that is not there is no error."""
        self._context.write(self.prefix + key, None)

    def list(self, folder: str = "") -> Names:
        """Return the names directly under a folder (empty, or ending in ``/``), sorted; sub-folders end in ``/``."""
        return self._context.list(self.prefix + folder)

    def under(self, folder: str) -> Subtree:
        """Return the view of a folder (ending in ``/``) of this view."""
        return Subtree(self._context, self.prefix + folder)

    def delete_all(self, folder: str = "") -> int:
        """Delete everything under a folder when the step commits; return how many keys that were."""
        keys = self.keys(folder)
        for key in keys:
            self.delete(key)
        return len(keys)

    def keys(self, folder: str = "") -> Names:
        """Return all keys under a folder, at any depth, the nearer ones first."""
        found: Names = []
        folders = [folder]
        for inside in folders:
            for name in self.list(inside):
                (folders if name.endswith("/") else found).append(inside + name)
        return found
