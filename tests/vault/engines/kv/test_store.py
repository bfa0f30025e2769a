"""How secrets lie in the store: three small values a version, and nobody else's in the way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.engines.kv import store
from labkit.vault.engines.kv.versions import Config, Key, Version
from labkit.vault.mounts import ResolvedRoute, read_table
from labkit.vault.storage.records import decode_record
from labkit.vault.storage.storage_view import StorageView
from tests.examples import examples

NOW = 1_893_456_000 * 1_000_000_000


def test_a_version_is_three_values(context: Context, storage: StorageView) -> None:
    told = store.append(storage, "a/b", Key(NOW, NOW), Config(max_versions=1), b'{"x":1}', NOW)

    assert sorted(key.removeprefix(storage.prefix) for key in context.writes) == [
        "keys/a/b",
        "versions/a/b/1",
        "versions/a/b/1.data",
    ]
    assert told == {
        "created_time": "2030-01-01T00:00:00Z",
        "custom_metadata": None,
        "deletion_time": "",
        "destroyed": False,
        "version": 1,
    }
    assert storage.get("versions/a/b/1.data") == b'{"x":1}'


def test_what_is_pruned_leaves_nothing_behind(context: Context, storage: StorageView) -> None:
    key: Key | None = Key(NOW, NOW)
    for _ in range(4):
        assert key is not None
        store.append(storage, "a", key, Config(max_versions=2), b"{}", NOW)
        key = store.read_key(storage, "a")

    assert storage.list("versions/a/") == ["3", "3.data", "4", "4.data"]
    assert key is not None
    assert store.read_version(storage, "a", key, 2) is None
    assert store.read_version(storage, "a", key, 3) == Version(NOW)


def test_what_is_destroyed_is_out_of_the_store(service: Any, storage: StorageView) -> None:
    for number in (1, 2):
        service.post("secret/data/app", {"data": {"v": number}})

    service.put("secret/destroy/app", {"versions": [1]})

    assert storage.list("versions/app/") == ["1", "2", "2.data"]


def test_removing_a_secret_touches_nothing_below_it(context: Context, storage: StorageView, service: Any) -> None:
    for path in ("a", "a/1"):
        service.post(f"secret/data/{path}", {"data": {}})

    store.remove(storage, "a")

    assert {key.removeprefix(storage.prefix): value for key, value in context.writes.items()} == {
        "keys/a": None,
        "versions/a/1": None,
        "versions/a/1.data": None,
    }


def test_a_keys_record_does_not_grow_with_its_versions(service: Any, storage: StorageView) -> None:
    service.post("secret/metadata/app", {"max_versions": 9})
    sizes = set()
    for number in range(1, 10):
        service.post("secret/data/app", {"data": {"v": number}})
        sizes.add(len(storage.get("keys/app") or b""))

    assert len(sizes) == 1


def test_ten_thousand_versions_are_read_as_fast_as_one_and_pruned_to_few(service: Any, storage: StorageView) -> None:
    service.post("secret/metadata/app", {"max_versions": 10_000})
    for number in range(1, 10_001):
        service.post("secret/data/app", {"data": {"v": number}})
        if number == 1:
            first = len(storage.get("keys/app") or b"")

    assert len(storage.get("keys/app") or b"") == first + len("10000") - len("1")
    assert len(service.get("secret/metadata/app").data["versions"]) == 10_000
    assert service.get("secret/data/app?version=1").data["data"] == {"v": 1}
    service.post("secret/metadata/app", {"max_versions": 2})
    assert service.post("secret/data/app", {"data": {}}).data["version"] == 10_001
    assert storage.list("versions/app/") == ["10000", "10000.data", "10001", "10001.data"]


def test_records_come_back_as_they_were_put(storage: StorageView) -> None:
    key = Key(NOW, NOW + 1, 12, 3, 10, True, 60, (("a", "1"), ("ü", "2")))
    version = Version(NOW, NOW + 5, True)
    config = Config(7, True, -1)
    store.write_key(storage, "a", key)
    store.write_version(storage, "a", 12, version)
    store.write_config(storage, config)

    assert store.read_key(storage, "a") == key
    assert hash(store.read_key(storage, "a")) == hash(key), "immutable all through: it is shared"
    assert store.read_version(storage, "a", key, 12) == version
    assert store.read_config(storage) == config
    assert store.describe(key, 12, version) == {
        "created_time": "2030-01-01T00:00:00Z",
        "custom_metadata": {"a": "1", "ü": "2"},
        "deletion_time": "2030-01-01T00:00:00.000000005Z",
        "destroyed": True,
        "version": 12,
    }


@pytest.mark.parametrize("endpoint", ["data", "subkeys"])
def test_data_that_the_store_lost_is_a_fault(
    service: Any, context: Context, storage: StorageView, endpoint: str
) -> None:
    service.post("secret/data/app", {"data": {}})
    store.drop_data(storage, "app", 1)
    service.core.commit(context.writes)

    answer = service.get(f"secret/{endpoint}/app")

    assert answer.status == 500
    assert answer.errors == ["1 error occurred:\n\t* could not find version data\n\n"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.text(), JSON))
def test_data_is_kept_exactly(data: dict[str, Any]) -> None:
    kept = decode_record(store.encode_data(data))

    assert kept == data
    assert repr(kept) == repr(data)  # tells 1 from 1.0 and from true, 0.0 from -0.0


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\udfff"], ids=["inf", "nan", "half a pair"])
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(BadRequest, match="failed to decode JSON input"):
        store.encode_data({"deep": [value]})


def test_what_is_kept_decoded_is_what_the_bytes_say(service: Any) -> None:
    service.post("secret/metadata/a", {"custom_metadata": {"z": "1", "b": "2"}, "delete_version_after": "1h"})
    for _ in range(12):
        service.post("secret/data/a", {"data": {"x": [1]}})
    service.delete("secret/data/a")
    service.put("secret/destroy/a", {"versions": [11]})
    service.post("secret/undelete/a", {"versions": [12]})
    core = service.core
    kept = {key: record for key, (_, record) in core.caches.records.items() if isinstance(record, (Key, Version))}
    core.caches.clear()

    assert {type(record) for record in kept.values()} == {Key, Version}
    ctx = Context(core, Request("GET", ""), service.now())
    for key, record in kept.items():
        if core.storage.get(key) is not None:  # some were pruned
            decode = store._decode_key if isinstance(record, Key) else store._decode_version
            assert repr(ctx.full_storage.decoded(key, decode)) == repr(record)


def test_a_key_is_there_once_it_has_a_record(context: Context, storage: StorageView) -> None:
    context.resolved = ResolvedRoute("write", "", {}, read_table(context.full_storage).at("secret/"), BadRequest(""))
    assert store.key_exists(context, "a") is False
    store.write_key(storage, "a", Key(NOW, NOW))
    assert store.key_exists(context, "a") is True
