"""The managed keys: each a record of its own, found by name or id; stores of before have them in one record."""

from __future__ import annotations

from typing import Any

from labkit import Vault
from labkit.service.message import Request
from labkit.vault import managed_keys
from labkit.vault.context import Context
from labkit.vault.managed_keys import IDS, ManagedKey
from labkit.vault.mounts import MANAGED_KEYS
from labkit.vault.storage.records import encode_record
from tests.counting import calls_made

FIRST = ManagedKey("a", "pkcs11", "id-1", "label", "CKM_AES_GCM", 256, ("encrypt",), True, (("library", "softhsm"),))
SECOND = ManagedKey("b", "awskms", "id-2", "label", "CKM_ECDSA", 384, ("sign", "verify"), False)
HSM = {"key_label": "orders", "mechanism": "CKM_AES_GCM"}
HSM_PATH, FOLDER = "sys/managed-keys/pkcs11/k0", "sys/managed-keys/pkcs11"


def step_of(vault: Any) -> Context:
    """A step whose writes the test commits."""
    return Context(vault.core, Request("GET", ""), 0)


def found(storage: Any) -> list[ManagedKey | None]:
    """What is found by names, ids, and both."""
    wanted = (("a", ""), ("", "id-2"), ("a", "id-1"), ("a", "id-2"), ("b", "id-2"), ("c", ""), ("", "id-3"))
    return [managed_keys.find(storage, *pair) for pair in wanted]


def with_keys(vault: Any, count: int) -> Any:
    """Give a vault so many managed keys of one kind in one step."""
    step = step_of(vault)
    for number in range(count):
        managed_keys.write(step.full_storage, FIRST._replace(name=f"k{number}", id=f"id-{number}"))
    vault.core.commit(step.writes)
    return vault


def stored_together(vault: Any, *keys: ManagedKey) -> Any:
    """Give a vault managed keys as stores of before have them."""
    step = step_of(vault)
    step.full_storage.put(MANAGED_KEYS, encode_record([list(key) for key in keys]))
    vault.core.commit(step.writes)
    return vault


def places(vault: Any) -> list[str]:
    """Where something of managed keys is stored."""
    return [key for key in sorted(vault.core.storage.values) if key.startswith((MANAGED_KEYS, IDS))]


def test_they_are_found_by_name_or_id(service: Any) -> None:
    storage = step_of(service).full_storage
    assert found(storage) == [None] * 7

    for key in SECOND, FIRST:
        managed_keys.write(storage, key)

    assert found(storage) == [FIRST, SECOND, FIRST, None, SECOND, None, None]
    assert [managed_keys.names(storage, kind) for kind in ("pkcs11", "awskms", "azurekeyvault")] == [["a"], ["b"], []]
    assert managed_keys.read(storage, "awskms", "a") is None
    assert FIRST.mechanism.iv_bytes == 12


def test_a_forgotten_one_leaves_only_the_record_that_there_was_one(service: Any) -> None:
    """A key that names a managed key which is gone is still known to be external."""
    with_keys(service, 2)
    assert service.delete(HSM_PATH).status == service.delete(f"{FOLDER}/k1").status == 204

    assert places(service) == [MANAGED_KEYS]
    assert found(step_of(service).full_storage) == [None] * 7
    service.delete(HSM_PATH)
    assert places(service) == [MANAGED_KEYS]


def test_no_call_works_more_where_there_are_more(clock: Any) -> None:
    def work(count: int) -> list[int]:
        vault = with_keys(Vault.dev(clock=clock), count)
        calls = (
            lambda: vault.post(FOLDER + "/new", HSM),
            lambda: vault.post(HSM_PATH, HSM),
            lambda: vault.get(HSM_PATH),
            lambda: vault.list(FOLDER),
            lambda: vault.delete(HSM_PATH),
            lambda: managed_keys.find(step_of(vault).full_storage, "k3", ""),
            lambda: managed_keys.find(step_of(vault).full_storage, "", "id-3"),
            lambda: managed_keys.find(step_of(vault).full_storage, "none", ""),
        )
        assert [call() for call in calls][-3:] == [FIRST._replace(name="k3", id="id-3")] * 2 + [None]
        vault.post(HSM_PATH, HSM).raise_for_status()
        vault.delete(FOLDER + "/new").raise_for_status()
        return [calls_made(call) for call in calls]

    few, many = work(10), work(1_000)
    assert all(more <= less + 20 for less, more in zip(few, many, strict=True)), (few, many)


def test_a_key_costs_its_own_record_and_one_that_finds_it(service: Any) -> None:
    with_keys(service, 3)

    def changed(path: str) -> list[str]:
        before = dict(service.core.storage.values)
        service.post(path, HSM).raise_for_status()
        return sorted(key for key, value in service.core.storage.values.items() if before.get(key) is not value)

    assert changed(HSM_PATH) == ["core/managed-keys/pkcs11/k0"]
    made = changed(f"{FOLDER}/new")
    assert made == [IDS + service.get(f"{FOLDER}/new").data["UUID"], "core/managed-keys/pkcs11/new"]


def test_a_store_of_before_is_read_and_divided_by_the_first_change(clock: Any) -> None:
    for change in ("write", "write another", "delete"):
        vault = stored_together(Vault.dev(clock=clock), FIRST, SECOND)
        step = step_of(vault)
        assert found(step.full_storage) == [FIRST, SECOND, FIRST, None, SECOND, None, None]
        assert managed_keys.names(step.full_storage, "awskms") == ["b"]
        assert vault.get("sys/managed-keys/pkcs11/a").data["UUID"] == "id-1"
        assert places(vault) == [MANAGED_KEYS]

        if change == "delete":
            assert vault.delete("sys/managed-keys/pkcs11/a").status == 204
        else:
            name = "a" if change == "write" else "c"
            assert vault.post(f"sys/managed-keys/pkcs11/{name}", HSM).status == 204
        step = step_of(vault)
        kept, names = found(step.full_storage), managed_keys.names(step.full_storage, "pkcs11")
        assert (kept[1], names) == (SECOND, {"write": ["a"], "write another": ["a", "c"], "delete": []}[change])
        assert kept[0] == {"write": kept[0], "write another": FIRST, "delete": None}[change]
        assert change != "write" or vault.get("sys/managed-keys/pkcs11/a").data["UUID"] == "id-1"
        assert len(places(vault)) == {"write": 5, "write another": 7, "delete": 3}[change]
        assert step.full_storage.get(MANAGED_KEYS) == b"[]"


def test_a_file_of_before_is_opened(tmp_path: Any) -> None:
    """What is written once it was opened stands in the file, with what was there."""
    vault = stored_together(Vault.open(tmp_path / "old.db"), FIRST)
    for name in "bc":
        vault.close()
        vault = Vault.open(tmp_path / "old.db")
        assert vault.get("sys/managed-keys/pkcs11/a").data["UUID"] == "id-1"
        vault.post(f"sys/managed-keys/pkcs11/{name}", HSM).raise_for_status()
    vault.close()
    vault = Vault.open(tmp_path / "old.db")
    assert vault.list(FOLDER).data == {"keys": ["a", "b", "c"]}
    vault.close()


def test_damage_of_one_reaches_no_other(service: Any) -> None:
    with_keys(service, 3)
    service.core.storage.apply({"core/managed-keys/pkcs11/k1": b"garbage"}, service.core.leadership.term)

    answers = [service.get(f"{FOLDER}/k{number}") for number in range(3)]
    assert [answer.status for answer in answers] == [200, 500, 200]
    assert "core/managed-keys/pkcs11/k1" in answers[1].errors[0]
    assert service.post(f"{FOLDER}/k4", HSM).ok
    assert service.list(FOLDER).data == {"keys": ["k0", "k1", "k2", "k4"]}


def test_records_of_which_some_are_newer_are_each_taken_as_they_are(service: Any) -> None:
    """A secondary that is promoted in the middle of a sync may have the records of different times."""
    stored_together(service, FIRST)
    step = step_of(service)
    newer = FIRST._replace(id="id-9", label="newer")
    step.full_storage.put("core/managed-keys/pkcs11/a", encode_record(list(newer)))
    step.full_storage.put(IDS + "id-1", encode_record(["pkcs11", "a"]))
    service.core.commit(step.writes)

    service.post(f"{FOLDER}/other", HSM).raise_for_status()
    storage = step_of(service).full_storage
    assert managed_keys.find(storage, "a", "") == newer
    assert managed_keys.find(storage, "", "id-1") is None
    assert managed_keys.names(storage, "pkcs11") == ["a", "other"]
