"""Stored policies: names, texts, and access lists that are compiled again when a policy changes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from labkit import Vault
from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context, own_work
from labkit.vault.mounts import namespace_at
from labkit.vault.policies import READ, UPDATE, policy_text
from labkit.vault.policies import store as policy_store
from labkit.vault.policies.store import OLD_INDEX, TEXTS
from labkit.vault.storage.records import encode_record
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.walk.suspension import Tape
from tests.counting import calls_made
from tests.vault.test_damage import spoil

READ_X = 'path "x" { capabilities = ["read"] }'


@pytest.fixture
def step(service):
    """Makes steps of the service."""

    def make() -> Context:
        return Context(service.core, Request("GET", "x"), service.core.now())

    return make


def test_written_read_listed_and_deleted(step) -> None:
    ctx = step()
    policy_store.write_text(ctx, "b", READ_X)
    policy_store.write_text(ctx, "a", READ_X)
    assert policy_store.names(ctx) == ["a", "b", "default"]
    assert policy_store.read_text(ctx, "a") == READ_X
    assert policy_store.is_known(ctx, "a")

    policy_store.delete(ctx, "a")
    policy_store.delete(ctx, "a")
    assert policy_store.names(ctx) == ["b", "default"]
    assert policy_store.read_text(ctx, "a") is None
    assert not policy_store.is_known(ctx, "a")


def test_a_policy_has_one_record(service, step) -> None:
    for name in ("b/c", "b", "a-1", "index"):
        ctx = step()
        policy_store.write_text(ctx, name, READ_X)
        assert list(ctx.writes) == [f"policy/text/{name}"]
        service.core.commit(ctx.writes)
    assert policy_store.names(step()) == ["a-1", "b", "b/c", "default", "index"]

    ctx = step()
    policy_store.delete(ctx, "b")
    policy_store.delete(ctx, "none")
    assert ctx.writes == {"policy/text/b": None}


def test_a_change_costs_the_same_however_many_there_are(service) -> None:
    """Function calls stay the same, and so do the bytes that are written, which an index would let grow."""

    def change() -> None:
        service.put("sys/policies/acl/p0", {"policy": READ_X}).raise_for_status()

    costs = []
    for count in (10, 200):
        for number in range(count):
            service.put(f"sys/policies/acl/p{number}", {"policy": READ_X}).raise_for_status()
        before = dict(service.core.storage.values)
        change()
        written = [value for key, value in service.core.storage.values.items() if before.get(key) is not value]
        calls = min([calls_made(change) for _ in range(3)])  # now and then one also draws the ids of many requests
        costs.append((calls, sum(map(len, written))))
    assert costs[0] == costs[1]


# ---- stores of an earlier version, which have an index of names beside the texts


def with_index(vault: Vault, *namespaces: str) -> list[str]:
    """Store what an earlier version kept beside the texts of namespaces (``""``: the root); return the keys, sorted."""
    step = own_work(vault.core)
    known = {place: namespace_at(step, place) for place in namespaces}
    for namespace in known.values():
        assert namespace is not None
        storage = StorageView(step, namespace.prefix)
        texts = {name: storage.get(name) or b"" for name in storage.keys(TEXTS)}
        digests = {name.removeprefix(TEXTS): sha256(text).hexdigest()[:16] for name, text in texts.items()}
        storage.put(OLD_INDEX, encode_record(dict(sorted(digests.items()))))
    vault.core.commit(step.writes)
    return indexes(vault)


def indexes(vault: Vault) -> list[str]:
    """The keys of all indexes of names."""
    return [key for key in vault.core.storage.keys() if key.endswith(OLD_INDEX)]  # noqa: SIM118  # a store is no dict


CHANGES: dict[str, Callable[[Vault, str], Any]] = {
    "write": lambda vault, place: vault.put("sys/policies/acl/new", {"policy": READ_X}, namespace=place),
    "write again": lambda vault, place: vault.put("sys/policies/acl/a", {"policy": READ_X}, namespace=place),
    "delete": lambda vault, place: vault.delete("sys/policies/acl/a", namespace=place),
}
LEFT = {
    "write": ["a", "default", "new", "root"],
    "write again": ["a", "default", "root"],
    "delete": ["default", "root"],
}


@pytest.mark.parametrize("place", ["", "team"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("damaged", [False, True])
def test_the_first_change_of_a_policy_ends_the_index_of_its_namespace(service, change, place, damaged) -> None:
    service.post("sys/namespaces/team").raise_for_status()
    for namespace in ("", "team"):
        service.put("sys/policies/acl/a", {"policy": READ_X}, namespace=namespace).raise_for_status()
    old = with_index(service, "", "team/")
    assert len(old) == 2
    ended = next(key for key in old if key.startswith("namespace/") == bool(place))
    if damaged:
        spoil(service, ended)

    assert service.list("sys/policies/acl", namespace=place).data["keys"] == ["a", "default", "root"]
    assert service.get("sys/policies/acl/a", namespace=place).data["policy"] == READ_X
    assert service.put("sys/policies/acl/new", {"policy": "path {"}, namespace=place).status == 400
    assert service.delete("sys/policies/acl/none", namespace=place).status == 204
    assert indexes(service) == old, "what changes no policy leaves it"

    assert CHANGES[change](service, place).status == 204
    assert indexes(service) == [key for key in old if key != ended]
    assert service.list("sys/policies/acl", namespace=place).data["keys"] == LEFT[change]
    other = "" if place else "team"
    assert service.list("sys/policies/acl", namespace=other).data["keys"] == ["a", "default", "root"]


def test_an_index_goes_with_its_namespace(service) -> None:
    service.post("sys/namespaces/team").raise_for_status()
    service.put("sys/policies/acl/b/c", {"policy": READ_X}, namespace="team").raise_for_status()
    assert len(with_index(service, "team/")) == 1

    assert service.delete("sys/namespaces/team").ok
    assert [key for key in service.core.storage.keys() if key.startswith("namespace/")] == []  # noqa: SIM118  # a store is no dict


def test_a_change_of_a_leader_that_was_overtaken_leaves_the_index(service) -> None:
    old = with_index(service, "")
    service.core.storage.claim(9)
    assert not service.put("sys/policies/acl/new", {"policy": READ_X}).ok
    assert indexes(service) == old


def test_an_access_list_is_kept_until_a_policy_changes(service, step) -> None:
    ctx = step()
    policy_store.write_text(ctx, "a", READ_X)
    service.core.commit(ctx.writes)
    kept = policy_store.acl_for(step(), ("a",))
    assert policy_store.acl_for(step(), ("a",)) is kept
    assert kept.allows(READ, "x")

    ctx = step()
    policy_store.delete(ctx, "a")
    service.core.commit(ctx.writes)
    assert not policy_store.acl_for(step(), ("a",)).allows(READ, "x")


def test_a_step_sees_what_it_writes_itself_and_leaves_no_other_with_it(service, step) -> None:
    assert not policy_store.acl_for(step(), ("a",)).allows(READ, "x")
    ctx = step()
    policy_store.write_text(ctx, "a", READ_X)
    assert policy_store.acl_for(ctx, ("a",)).allows(READ, "x")
    assert not policy_store.acl_for(step(), ("a",)).allows(READ, "x")  # it was never committed

    service.post("sys/mounts/other", {"type": "kv"})
    assert policy_store.acl_for(step(), ("a",)) is policy_store.acl_for(step(), ("a",))


def test_a_step_that_has_writes_sees_a_policy_that_changed_since_another_such_step(service, step) -> None:
    """Such as the step of a token with counted uses, which spends one first."""

    def writing() -> Context:
        ctx = step()
        ctx.write("token/id/x", b"one use less")
        return ctx

    service.post("sys/policies/acl/a", {"policy": READ_X})
    assert policy_store.acl_for(writing(), ("a",)).allows(READ, "x")
    service.post("sys/policies/acl/a", {"policy": 'path "x" { capabilities = ["deny"] }'})

    assert not policy_store.acl_for(writing(), ("a",)).allows(READ, "x")
    assert not policy_store.acl_for(step(), ("a",)).allows(READ, "x")


def test_an_access_list_outlives_what_decides_about_others(service, step) -> None:
    kept = policy_store.acl_for(step(), ("default",))
    service.post("sys/mounts/other", {"type": "kv"})

    assert policy_store.acl_for(step(), ("default",)) is kept


def test_as_many_access_lists_are_kept_as_the_limit_says(service, step, monkeypatch) -> None:
    monkeypatch.setattr(policy_store, "MAX_CACHED_ACLS", 2)
    service.core.caches.access_lists.clear()
    kept = []
    for name in ("a", "b", "b", "c", "d"):
        policy_store.acl_for(step(), (name,))
        kept.append(len(service.core.caches.access_lists))

    assert kept == [1, 2, 2, 1, 2]


def test_a_step_that_is_played_from_a_tape_compiles_its_own(service, step) -> None:
    kept = policy_store.acl_for(step(), ("default",))
    taped = Context(service.core, Request("GET", "x"), 0, Tape(service.core, ()))

    assert policy_store.acl_for(taped, ("default",)) is not kept


def test_root_may_everything_and_unknown_policies_nothing(step) -> None:
    assert policy_store.acl_for(step(), ("root",)).root
    assert not policy_store.acl_for(step(), ("none",)).allows(READ, "x")


def test_the_policy_of_wrapping_tokens_is_not_stored(step) -> None:
    acl = policy_store.acl_for(step(), ("response-wrapping",))
    assert acl.allows(UPDATE, "sys/wrapping/unwrap")
    assert not acl.allows(UPDATE, "sys/wrapping/rewrap")
    assert policy_store.read_text(step(), "response-wrapping") is None
    assert policy_store.not_assignable("response-wrapping")
    assert not policy_store.not_assignable("default")


def test_a_text_that_is_no_policy() -> None:
    policy_store.check(READ_X)
    with pytest.raises(BadRequest, match='failed to parse policy: path "x": invalid capability "fly"'):
        policy_store.check('path "x" { capabilities = ["fly"] }')


def test_a_text_that_takes_long_to_read_is_refused_before_it_is_read(monkeypatch) -> None:
    rule = 'path "secret/data/{}/*" {{ capabilities = ["read"] }}\n'
    policy_store.check("".join(rule.format(number) for number in range(4_000)))
    monkeypatch.setattr(policy_text, "parse_policy", None)

    with pytest.raises(BadRequest, match="at most 262144"):
        policy_store.check("".join(rule.format(number) for number in range(100_000)))


def test_not_every_unknown_key_is_listed() -> None:
    with pytest.raises(BadRequest) as refused:
        policy_store.check("a = 1\n" * 30_000)

    assert refused.value.errors[0].startswith("failed to parse policy: 30000 errors occurred:")
    assert "29900 more" in refused.value.errors[0]
    assert len(refused.value.errors[0]) < 10_000
