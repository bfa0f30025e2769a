"""Managed keys: the keys of an external store that engines may use, by name and id.

A managed key is a record of where the key is and what it is for; its bytes stay in the store.  Names are unique among
all kinds of store.  They are the cluster's: engines of every namespace may use them.
"""

from __future__ import annotations

from typing import Any

from labkit.service.key_mechanisms import MECHANISMS, Mechanism
from labkit.service.record import NamedTuple
from labkit.vault.mounts import MANAGED_KEYS
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView


class ManagedKey(NamedTuple):
    """One managed key: name, kind of store, id, the key's label there, its mechanism, and what it may be used for.

    ``may_generate``: whether the store is asked to make the key where it has none; ``shown`` is what else a read shows.
    """

    name: str
    kind: str
    id: str
    label: str
    mechanism_name: str
    size_bits: int
    usages: tuple[str, ...]
    may_generate: bool
    shown: tuple[tuple[str, str | int | bool], ...] = ()

    def __repr__(self) -> str:
        return f"ManagedKey({self.kind}/{self.name})"

    @property
    def mechanism(self) -> Mechanism:
        """The row of its mechanism."""
        return MECHANISMS[self.mechanism_name]


def read_managed_keys(full_storage: StorageView) -> tuple[ManagedKey, ...]:
    """Return the managed keys, sorted by name."""
    return full_storage.decoded(MANAGED_KEYS, _decode) or ()


def write_managed_keys(full_storage: StorageView, keys: tuple[ManagedKey, ...]) -> None:
    """Store the managed keys; once there was one the record stays, for keys that still name it."""
    full_storage.put(MANAGED_KEYS, encode_record([list(key) for key in sorted(keys)]))


def find(full_storage: StorageView, name: str, key_id: str) -> ManagedKey | None:
    """Return the managed key of a name or, without one, of an id; None when there is none, or both name two."""
    for key in read_managed_keys(full_storage):
        if (key.name == name or not name) and (key.id == key_id or not key_id):
            return key
    return None


def _decode(stored: bytes) -> tuple[ManagedKey, ...]:
    return tuple([_key(row) for row in decode_record(stored)])


def _key(row: list[Any]) -> ManagedKey:
    key = ManagedKey(*row)
    return key._replace(usages=tuple(key.usages), shown=tuple([(name, value) for name, value in key.shown]))
