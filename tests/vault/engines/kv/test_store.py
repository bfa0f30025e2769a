"""How secrets lie in the store: two values a write, facts apart from data, and nobody else's in the way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.engines.kv import store
from labkit.vault.engines.kv.versions import MAX_RECENT, Config, Key, Version, add_version, text_of
from labkit.vault.mounts import ResolvedRoute, read_table
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView
from tests.examples import examples

NOW = 1_893_456_000 * 1_000_000_000


def test_a_write_is_two_values(context: Context, storage: StorageView) -> None:
    told = store.append(storage, "a/b", Key(NOW, NOW), Config(max_versions=1), b'{"x":1}', NOW)

    assert sorted(key.removeprefix(storage.prefix) for key in context.writes) == [
        "keys/a/b",
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

    assert storage.list("versions/a/") == ["3.data", "4.data"]
    assert key is not None
    assert store.read_version(storage, "a", key, 2) is None
    assert store.read_version(storage, "a", key, 3) == Version(NOW)


def test_what_is_destroyed_is_out_of_the_store(service: Any, storage: StorageView) -> None:
    for number in (1, 2):
        service.post("secret/data/app", {"data": {"v": number}})

    service.put("secret/destroy/app", {"versions": [1]})

    assert storage.list("versions/app/") == ["2.data"]


def test_removing_a_secret_touches_nothing_below_it(context: Context, storage: StorageView, service: Any) -> None:
    for path in ("a", "a/1"):
        service.post(f"secret/data/{path}", {"data": {}})

    store.remove(storage, "a")

    assert {key.removeprefix(storage.prefix): value for key, value in context.writes.items()} == {
        "keys/a": None,
        "versions/a/1.data": None,
    }


def test_a_keys_record_does_not_grow_beyond_ten_versions(service: Any, storage: StorageView) -> None:
    service.post("secret/metadata/app", {"max_versions": 40})
    sizes = []
    for number in range(1, 41):
        service.post("secret/data/app", {"data": {"v": number}})
        sizes.append(len(storage.get("keys/app") or b""))

    assert sizes[8] < sizes[9] == sizes[39] < 300
    assert [name for name in storage.list("versions/app/") if not name.endswith(".data")] == sorted(
        str(number) for number in range(1, 31)
    )


@pytest.mark.slow
def test_ten_thousand_versions_are_read_as_fast_as_one_and_pruned_to_few(service: Any, storage: StorageView) -> None:
    service.post("secret/metadata/app", {"max_versions": 10_000})
    for number in range(1, 10_001):
        service.post("secret/data/app", {"data": {"v": number}})
        if number == MAX_RECENT:
            first = len(storage.get("keys/app") or b"")

    assert len(storage.get("keys/app") or b"") == first + len("10000") - len("10")
    assert len(service.get("secret/metadata/app").data["versions"]) == 10_000
    assert service.get("secret/data/app?version=1").data["data"] == {"v": 1}
    service.post("secret/metadata/app", {"max_versions": 2})
    assert service.post("secret/data/app", {"data": {}}).data["version"] == 10_001
    assert storage.list("versions/app/") == ["10000.data", "10001.data"]


def test_records_come_back_as_they_were_put(storage: StorageView) -> None:
    recent = (NOW, (NOW, NOW + 5, True), (NOW, None, True), NOW + 9)
    key = Key(NOW, NOW + 1, 12, 3, 10, True, 60, (("a", "1"), ("ü", "2")), recent, text_of(recent))
    version = Version(NOW, NOW + 5, True)
    config = Config(7, True, -1)
    store.write_key(storage, "a", key)
    store.write_versions(storage, "a", key, {8: version})
    store.write_config(storage, config)

    storage._records.clear()
    assert store.read_key(storage, "a") == key
    assert hash(store.read_key(storage, "a")) == hash(key), "immutable all through: it is shared"
    assert [store.read_version(storage, "a", key, number) for number in range(8, 14)] == [
        *(version, Version(NOW), version, Version(NOW, None, True), Version(NOW + 9)),
        None,
    ]
    assert store.read_config(storage) == config
    assert store.describe(key, 12, version) == {
        "created_time": "2030-01-01T00:00:00Z",
        "custom_metadata": {"a": "1", "ü": "2"},
        "deletion_time": "2030-01-01T00:00:00.000000005Z",
        "destroyed": True,
        "version": 12,
    }


INSTANTS = st.integers(0, 2**63)
FACTS = st.one_of(INSTANTS, st.tuples(INSTANTS, st.none() | INSTANTS, st.booleans()))
METADATA = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=2).map(tuple)
NUMBERS = st.integers(0, 20)
DRAWN = st.builds(Key, INSTANTS, INSTANTS, NUMBERS, NUMBERS, NUMBERS, st.booleans(), st.integers(-1, 9), METADATA)
KEYS = DRAWN.map(lambda key: key._replace(oldest=min(key.oldest, key.current)))  # what is pruned is older than the last


@given(KEYS, st.lists(FACTS, max_size=MAX_RECENT).map(tuple), st.booleans())
def test_a_key_is_written_as_the_record_of_all_that_is_stored_of_it(key: Key, recent: Any, is_known: bool) -> None:
    full = key._replace(recent=recent, recent_text=text_of(recent) if is_known else "")

    assert store.encode_key(full) == encode_record(full[:-1])
    assert store._decode_key(store.encode_key(full)) == full._replace(recent_text=text_of(recent))


@given(KEYS, st.lists(FACTS, max_size=MAX_RECENT).map(tuple), st.lists(st.integers(-1, 5), max_size=15), st.booleans())
def test_the_text_of_a_key_is_that_of_its_facts_after_any_writes(
    key: Key, recent: Any, lifetimes_s: list[int], is_known: bool
) -> None:
    grown = key._replace(recent=recent, recent_text=text_of(recent) if is_known else "")
    for number, lifetime_s in enumerate(lifetimes_s):
        grown, version, _ = add_version(grown, Config(delete_after_s=lifetime_s), NOW + number)
        assert grown.recent_text == text_of(grown.recent)
        assert grown.recent_version(grown.current) == version


def as_an_earlier_release_kept_it(service: Any, context: Context, storage: StorageView, path: str) -> None:
    """Put the facts of all of a secret's versions apart, as they were before the key's record had any."""
    key = store.read_key(storage, path)
    assert key is not None
    for number in key.numbers:
        version = store.read_version(storage, path, key, number)
        storage.put(f"versions/{path}/{number}", encode_record(version), version)
    storage.put(f"keys/{path}", encode_record(key[:-2]))
    service.core.commit(context.writes)
    context.writes.clear()


def test_what_an_earlier_release_wrote_lives_on(service: Any, context: Context, storage: StorageView) -> None:
    for path in ("new", "old"):
        for number in range(1, 13):
            service.post(f"secret/data/{path}", {"data": {"v": number}})
        service.put(f"secret/destroy/{path}", {"versions": [4]})
    as_an_earlier_release_kept_it(service, context, storage, "old")
    assert [name for name in storage.list("versions/old/") if not name.endswith(".data")] == [
        *("10", "11", "12", "3", "4", "5", "6", "7", "8", "9"),
    ]

    def both_answer_alike() -> None:
        asked = ["metadata/{}", "data/{}", *(f"data/{{}}?version={number}" for number in range(1, 16))]
        for path in asked:
            new, old = (service.get("secret/" + path.format(name)) for name in ("new", "old"))
            assert (new.status, without_times(new.data)) == (old.status, without_times(old.data)), path

    both_answer_alike()
    for step in (
        lambda path: service.delete(f"secret/data/{path}"),
        lambda path: service.put(f"secret/delete/{path}", {"versions": [5, 6]}),
        lambda path: service.put(f"secret/undelete/{path}", {"versions": [6, 12]}),
        lambda path: service.post(f"secret/data/{path}", {"data": {"v": 13}, "options": {"cas": 12}}),
        lambda path: service.put(f"secret/destroy/{path}", {"versions": [7, 13]}),
        lambda path: service.post(f"secret/metadata/{path}", {"max_versions": 12}),
        lambda path: [service.post(f"secret/data/{path}", {"data": {"v": number}}) for number in range(14, 18)],
        lambda path: service.put(f"secret/delete/{path}", {"versions": [8, 17]}),
        lambda path: service.post(f"secret/metadata/{path}", {"max_versions": 3}),
        lambda path: service.post(f"secret/data/{path}", {"data": {"v": 18}}),
    ):
        step("new"), step("old")
        both_answer_alike()
    assert storage.list("versions/old/") == storage.list("versions/new/") == ["16.data", "17.data", "18.data"]
    for path in ("new", "old"):
        service.delete(f"secret/metadata/{path}")
        assert storage.list(f"versions/{path}/") == []


def test_damage_of_a_versions_data_is_that_versions_only(service: Any, storage: StorageView) -> None:
    for number in (1, 2, 3):
        service.post("secret/data/app", {"data": {"v": number}})
    key = f"{storage.prefix}versions/app/2.data"
    service.core.commit({key: b"damaged"})

    assert service.get("secret/data/app?version=2").status == 500
    assert [service.get(f"secret/data/app?version={number}").data["data"]["v"] for number in (1, 3)] == [1, 3]
    assert service.list("secret/metadata").data["keys"] == ["app"]
    assert set(service.get("secret/metadata/app").data["versions"]) == {"1", "2", "3"}
    for verb, expected in (("delete", 404), ("undelete", 500), ("destroy", 404)):
        assert service.put(f"secret/{verb}/app", {"versions": [2]}).status == 204
        assert service.get("secret/data/app?version=2").status == expected
    assert service.post("secret/data/app", {"data": {"v": 4}}).data["version"] == 4


def without_times(data: Any) -> Any:
    """Return an answer's data, with instants cut to whether there are any."""
    if not isinstance(data, dict):
        return data
    return {name: bool(value) if name.endswith("_time") else without_times(value) for name, value in data.items()}


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
@pytest.mark.slow
def test_data_is_kept_exactly(data: dict[str, Any]) -> None:
    kept = decode_record(store.encode_data(data))

    assert kept == data
    assert repr(kept) == repr(data)  # tells 1 from 1.0 and from true, 0.0 from -0.0


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\udfff"], ids=["inf", "nan", "half a pair"])
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(BadRequest, match="failed to decode JSON input"):
        store.encode_data({"deep": [value]})


def test_what_is_kept_decoded_is_what_the_bytes_say(service: Any) -> None:
    service.post("secret/metadata/a", {"custom_metadata": {"z": "1"}, "delete_version_after": "1h", "max_versions": 11})
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
    assert store.find_existing(context, "a") is None
    store.write_key(storage, "a", Key(NOW, NOW))
    assert store.find_existing(context, "a") == Key(NOW, NOW)
