"""From KV v1 to v2: through the mount's tuning, and what becomes of the store."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.service.silence import Silence
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


@pytest.mark.parametrize("kind", ["memory", "file"])
@pytest.mark.slow
def test_what_was_acknowledged_before_an_upgrade_is_version_1_after_it(kind: str, tmp_path: Any) -> None:
    """Four threads write plain values until the mount is no longer of that kind."""
    vault = Vault.dev() if kind == "memory" else Vault.open(str(tmp_path / "kv.db"))
    vault.post("sys/mounts/plain", {"type": "kv"})
    acknowledged: dict[str, int] = {}
    answers = set()
    begun = threading.Barrier(5)

    def write(thread: int) -> None:
        begun.wait()
        for number in range(100_000):
            answer = vault.post(f"plain/{thread}/{number % 5}", {"n": number})
            answers.add((answer.status, bool(answer.warnings)))
            if not answer.ok:
                return
            acknowledged[f"{thread}/{number % 5}"] = number

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    while len(acknowledged) < 20:
        assert any(thread.is_alive() for thread in threads)
    tuned = vault.post("sys/mounts/plain/tune", {"options": {"version": "2"}})
    for thread in threads:
        thread.join()

    assert tuned.status == 200
    assert answers == {(204, False), (404, True)}, "a path of version 1 is explained"
    for path, number in acknowledged.items():
        read = vault.get(f"plain/data/{path}").data
        assert (read["data"], read["metadata"]["version"]) == ({"n": number}, 1)


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_leader_that_ends_inside_an_upgrade_leaves_one_version_or_the_other(moment: str) -> None:
    lab = Lab.pair(seed=7)
    paris = lab["paris"]
    paris.post("sys/mounts/plain", {"type": "kv"})
    for number in range(20):
        paris.post(f"plain/{number}", {"n": number})
    lab.crash_in_commit("paris", moment)

    with pytest.raises(Silence):
        paris.post("sys/mounts/plain/tune", {"options": {"version": "2"}}, timeout="15s")

    assert paris.active == "paris-2"
    if moment == "after":
        values = [paris.get(f"plain/data/{number}").data["data"] for number in range(20)]
    else:
        values = [paris.get(f"plain/{number}").data for number in range(20)]
        assert paris.post("sys/mounts/plain/tune", {"options": {"version": "2"}}).ok
    assert values == [{"n": number} for number in range(20)]
