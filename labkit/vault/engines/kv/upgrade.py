"""From KV v1 to v2: every plain value becomes version 1 of a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.engines.kv.store import VALUES, append, read_config
from labkit.vault.engines.kv.versions import Key

if TYPE_CHECKING:
    from labkit.vault.storage.storage_view import StorageView


def upgrade(storage: StorageView, now_ns: int) -> int:
    """Turn a mount's plain values into secrets with one version, written now; return how many that were."""
    paths = _paths(storage, "")
    config = read_config(storage)
    for path in paths:
        value = storage.get(VALUES + path)
        assert value is not None
        append(storage, path, Key(now_ns, now_ns), config, value, now_ns)
        storage.delete(VALUES + path)
    return len(paths)


def _paths(storage: StorageView, folder: str) -> list[str]:
    found = []
    for name in storage.list(VALUES + folder):
        found += _paths(storage, folder + name) if name.endswith("/") else [folder + name]
    return found
