"""Managed keys: the keys of an external store that engines may use, by name and id.

A managed key is a record of where the key is and what it is for; its bytes stay in the store.  Names are unique among
all kinds of store.  They are the cluster's: engines of every namespace may use them.

1. Each key is a record of its own, and so is where the key of an id is found: no work grows with how many there are.
2. Stores of before have all of them in the one record at ``MANAGED_KEYS``; the first change gives each its own.
3. That record stays, empty, once there was a managed key: without it nobody looks for keys that name one.
"""

from __future__ import annotations

from typing import Any

from labkit.service.key_mechanisms import MECHANISMS, STORE_KINDS, Mechanism
from labkit.service.record import NamedTuple
from labkit.vault.mounts import MANAGED_KEYS
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView

IDS = "core/managed-key-ids/"
"""Where {id: kind and name} is stored."""


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


def read(full_storage: StorageView, kind: str, name: str) -> ManagedKey | None:
    """Return the managed key of a kind and name, or None."""
    own = full_storage.decoded(_place(kind, name), _decode)
    if own is not None:
        return own
    return next((key for key in _in_one_record(full_storage) if (key.kind, key.name) == (kind, name)), None)


def find(full_storage: StorageView, name: str, key_id: str) -> ManagedKey | None:
    """Return the managed key of a name or, without one, of an id; None when there is none, or both name two."""
    if name:
        found = next((key for kind in STORE_KINDS if (key := read(full_storage, kind, name)) is not None), None)
        return found if found is not None and key_id in ("", found.id) else None
    place = full_storage.decoded(IDS + key_id, _decode_place)
    if place is not None:
        found = read(full_storage, *place)
        return found if found is not None and found.id == key_id else None
    return next((key for key in _in_one_record(full_storage) if key.id == key_id), None)


def names(full_storage: StorageView, kind: str) -> list[str]:
    """Return the names of the managed keys of one kind, sorted."""
    own = full_storage.list(f"{MANAGED_KEYS}/{kind}/")
    old = [key.name for key in _in_one_record(full_storage) if key.kind == kind]
    return sorted({*own, *old}) if old else own


def write(full_storage: StorageView, key: ManagedKey) -> None:
    """Store a managed key, and where it is found by its id."""
    _divide(full_storage)
    _put(full_storage, key)


def delete(full_storage: StorageView, kind: str, name: str) -> None:
    """Forget a managed key; one that does not exist is not an error."""
    key = read(full_storage, kind, name)
    if key is not None:
        _divide(full_storage)
        full_storage.delete(_place(kind, name))
        full_storage.delete(IDS + key.id)


def _place(kind: str, name: str) -> str:
    return f"{MANAGED_KEYS}/{kind}/{name}"


def _put(full_storage: StorageView, key: ManagedKey) -> None:
    full_storage.put(_place(key.kind, key.name), encode_record(list(key)))
    if full_storage.decoded(IDS + key.id, _decode_place) != (key.kind, key.name):
        full_storage.put(IDS + key.id, encode_record([key.kind, key.name]))


def _in_one_record(full_storage: StorageView) -> tuple[ManagedKey, ...]:
    """Return the managed keys that are stored together (rule 2)."""
    return full_storage.decoded(MANAGED_KEYS, _decode_all) or ()


def _divide(full_storage: StorageView) -> None:
    """Give each key of the one record its own, and leave that record empty; it is made where there is none (rule 3)."""
    together = _in_one_record(full_storage)
    if together or full_storage.get(MANAGED_KEYS) is None:
        full_storage.put(MANAGED_KEYS, encode_record([]))
    for key in together:
        if full_storage.get(_place(key.kind, key.name)) is None:
            _put(full_storage, key)


def _decode_place(stored: bytes) -> tuple[str, str]:
    kind, name = decode_record(stored)
    return kind, name


def _decode_all(stored: bytes) -> tuple[ManagedKey, ...]:
    return tuple([_key(row) for row in decode_record(stored)])


def _decode(stored: bytes) -> ManagedKey:
    return _key(decode_record(stored))


def _key(row: list[Any]) -> ManagedKey:
    key = ManagedKey(*row)
    return key._replace(usages=tuple(key.usages), shown=tuple([(name, value) for name, value in key.shown]))
