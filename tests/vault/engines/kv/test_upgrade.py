"""From KV v1 to v2: through the mount's tuning, and what becomes of the store."""

from __future__ import annotations

from typing import Any

from labkit.vault.context import Context
from labkit.vault.engines.kv.upgrade import upgrade
from labkit.vault.storage.storage_view import StorageView

NOW = 1_893_456_000 * 1_000_000_000


def test_every_value_becomes_version_1(service: Any) -> None:
    service.post("sys/mounts/plain", {"type": "kv"})
    values = {"a": {"x": 1}, "a/b": {"y": [1.0, None]}, "deep/er/c": {"z": {}}}
    for path, value in values.items():
        service.post(f"plain/{path}", value)
    service.advance("1h")

    tuned = service.post("sys/mounts/plain/tune", {"options": {"version": "2"}})

    assert tuned.status == 200
    assert tuned.warnings
    for path, value in values.items():
        read = service.get(f"plain/data/{path}")
        assert read.data["data"] == value
        assert read.data["metadata"]["version"] == 1
        assert read.data["metadata"]["created_time"] == "2030-01-01T01:00:00Z"
    assert service.list("plain/metadata").data == {"keys": ["a", "a/", "deep/"]}
    assert service.post("plain/data/a", {"data": {}, "options": {"cas": 1}}).data["version"] == 2


def test_nothing_plain_is_left(context: Context, storage: StorageView) -> None:
    storage.put("values/a", b'{"x":1}')
    storage.put("values/a/b", b"{}")

    assert upgrade(storage, NOW) == 2

    assert storage.list("values/") == []
    assert storage.list() == ["keys/", "versions/"]
    assert upgrade(storage, NOW) == 0
