"""Stored policies: names, texts, and access lists that are compiled again when a policy changes."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.policies import READ, UPDATE, policy_text
from labkit.vault.policies import store as policy_store
from labkit.vault.walk.suspension import Tape

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
