"""Storage view: the part of the store under a prefix, decrypted, as one step sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from labkit.vault.storage import Names
from labkit.vault.storage.nonce_counts import NonceCounts

if TYPE_CHECKING:
    from typing import Protocol

    class Keys(Protocol):
        """What decrypts stored bytes."""

        def decrypt(self, key: str, stored: bytes) -> bytes:
            """Decrypt a key's stored bytes."""

    class Reader(Protocol):
        """What reads stored values."""

        def read(self, key: str, /) -> bytes | None:
            """Return the stored bytes of a key."""

    class StepSource(Protocol):
        """What a view needs of the step that it belongs to; keys are full storage keys."""

        @property
        def records(self) -> CachedRecords:
            """The node's decoded records."""

        @property
        def writes(self) -> Mapping[str, bytes | None]:
            """What the step will write."""

        @property
        def source(self) -> Reader:
            """What is stored, without what the step will write."""

        @property
        def nonce_counts(self) -> NonceCounts:
            """The node's counts of random nonces."""

        def read(self, key: str) -> bytes | None:
            """Return the stored bytes of a key as the step sees them."""

        def write(self, key: str, stored: bytes | None, due_ns: int = 0) -> None:
            """Put stored bytes (None deletes) when the step commits; ``due_ns``: when some of it falls due, or 0."""

        def list(self, prefix: str) -> Names:
            """Return the names directly under a prefix as the step sees them, sorted."""

        def put(self, key: str, value: bytes, due_ns: int = 0) -> bytes:
            """Encrypt a value for its key and put it when the step commits, as ``write`` does; return the bytes."""

        def decrypt(self, key: str, stored: bytes) -> bytes:
            """Decrypt a key's stored bytes."""


Record = TypeVar("Record")

MAX_CACHED_RECORDS = 65_536


class CachedRecords(dict[str, tuple[bytes, Any]]):
    """Decoded records by key, each with the stored bytes it came from: valid while they are the same object (R22)."""

    __slots__ = ()

    def keep(self, key: str, stored: bytes, record: Any) -> None:
        """Keep what a key's stored bytes mean."""
        if len(self) >= MAX_CACHED_RECORDS:
            self.clear()
        self[key] = (stored, record)

    def derive(self, key: str, stored: bytes, make: Callable[[bytes], Record], keys: Keys | None = None) -> Record:
        """Return what is kept of a key while its stored bytes are the same object, else what is made of them now.

        ``make`` is passed the bytes, decrypted where ``keys`` are given.  One key has one ``make``.  What it makes must
        be immutable, as it is shared; when it raises, nothing is kept.
        """
        cached = self.get(key)
        if cached is not None and cached[0] is stored:
            return cached[1]  # type: ignore[no-any-return]  # what make returned for these very bytes
        return self.make(key, stored, make, keys)

    def make(self, key: str, stored: bytes, make: Callable[[bytes], Record], keys: Keys | None = None) -> Record:
        """Make of a key's stored bytes what they mean, and keep it."""
        record = make(stored if keys is None else keys.decrypt(key, stored))
        self.keep(key, stored, record)
        return record


class StorageView:
    """A step's view of everything under a prefix; its keys are relative to the prefix, nothing else can be reached."""

    __slots__ = ("_records", "_step", "prefix")

    def __init__(self, step: StepSource, prefix: str, records: CachedRecords | None = None) -> None:
        self._step = step
        self.prefix = prefix
        self._records = step.records if records is None else records

    @property
    def nonce_counts(self) -> NonceCounts:
        """The node's counts of random nonces, by full storage key."""
        return self._step.nonce_counts

    def get(self, key: str) -> bytes | None:
        """Return the decrypted value of a key, or None."""
        full = self.prefix + key
        stored = self._step.read(full)
        return None if stored is None else self._step.decrypt(full, stored)

    def decoded(self, key: str, decode: Callable[[bytes], Record]) -> Record | None:
        """Return a key's value as an immutable record, decoded once while the stored bytes are the same object.

        One key has one ``decode``: the record is cached under the key only.  It must be immutable, as it is shared.
        """
        full = self.prefix + key
        step = self._step
        stored = step.read(full) if step.writes else step.source.read(full)
        if stored is None:
            return None
        cached = self._records.get(full)  # as derive does: the frame less is 2 % of a reading of a secret
        if cached is not None and cached[0] is stored:
            return cached[1]  # type: ignore[no-any-return]  # what decode returned for these very bytes
        return self._records.make(full, stored, decode, step)

    def put(self, key: str, value: bytes, record: Any = None, due_ns: int = 0) -> None:
        """Encrypt and write a value when the step commits.

        ``record`` is what ``decoded`` would make of the value; where it is given, the value is not decoded again.
        ``due_ns`` is when something of it falls due, 0 for never.
        """
        full = self.prefix + key
        stored = self._step.put(full, value, due_ns)
        if record is not None:
            self._records.keep(full, stored, record)

    def delete(self, key: str) -> None:
        """Delete a key when the step commits; a missing key is not an error."""
        self._step.write(self.prefix + key, None)

    def list(self, folder: str = "") -> Names:
        """Return the names directly under a folder (empty, or ending in ``/``), sorted; sub-folders end in ``/``."""
        return self._step.list(self.prefix + folder)

    def folder(self, folder: str) -> StorageView:
        """Return the view of a folder (ending in ``/``) of this view."""
        return StorageView(self._step, self.prefix + folder, self._records)

    def delete_all(self, folder: str = "") -> int:
        """Delete everything under a folder when the step commits; return how many keys that were."""
        keys = self.keys(folder)
        for key in keys:
            self.delete(key)
        return len(keys)

    def keys(self, folder: str = "") -> Names:
        """Return all keys under a folder, at any depth, the nearer ones first."""
        keys: Names = []
        folders = [folder]
        for inside in folders:
            for name in self.list(inside):
                (folders if name.endswith("/") else keys).append(inside + name)
        return keys
