"""Initialising: one transaction, a sealed cluster afterwards, and nothing returned twice."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from labkit.front.outside_lab import no_outside
from labkit.front.vault import Vault
from labkit.service.errors import BadRequest
from labkit.vault.context import own_work
from labkit.vault.core import Environment
from labkit.vault.sealing.initialise import CLUSTER, initialise, prepare, read_cluster
from labkit.vault.sealing.seal import seal, unseal
from labkit.vault.sealing.shamir import combine
from labkit.vault.storage.memory import MemoryStorage


@pytest.fixture
def blank(clock) -> Vault:
    """A node whose store is empty."""
    numbers = iter(range(10**9))
    outside = Environment(clock, lambda count: _bytes(next(numbers), count), lambda kind, **_: None, no_outside)
    return Vault(MemoryStorage(), outside)


def _bytes(number: int, count: int) -> bytes:
    from hashlib import shake_128

    return shake_128(str(number).encode()).digest(count)


def test_any_three_of_five_shares_open_it(blank: Vault) -> None:
    made = initialise(blank.core, 5, 3, (("kv/", "kv", (("version", "2"),)),))
    assert len(set(made.keys)) == 5
    for shares in combinations(made.keys, 3):
        assert [unseal(blank.core, share) for share in shares] == [False, False, True]
        assert blank.request("GET", "sys/mounts/kv", headers={"X-Vault-Token": made.root_token}).status == 200
        seal(blank.core)


def test_a_lone_share_is_the_key_itself(blank: Vault) -> None:
    made = initialise(blank.core, 1, 1)
    assert [len(share) for share in made.keys] == [32]
    unseal(blank.core, made.keys[0])
    assert not blank.sealed


def test_it_is_sealed_afterwards_and_one_transaction(blank: Vault) -> None:
    initialise(blank.core, 5, 3)
    assert blank.sealed
    assert blank.core.commits == 1


def test_preparing_writes_nothing(blank: Vault) -> None:
    prepare(blank.core, 5, 3)
    assert blank.core.storage.keys() == []
    assert blank.sealed


def test_twice_is_refused(blank: Vault) -> None:
    initialise(blank.core, 1, 1)
    kept = blank.core.storage.keys()
    with pytest.raises(BadRequest, match="already initialized"):
        initialise(blank.core, 1, 1)
    assert blank.core.storage.keys() == kept


def test_nothing_that_is_returned_is_stored_or_shown(blank: Vault) -> None:
    made = initialise(blank.core, 5, 3)
    root_key = combine(list(made.keys[:3]))
    storage = blank.core.storage
    names = storage.keys()
    stored = b"".join(storage.get(name) or b"" for name in names)
    for secret in (root_key, *made.keys, made.root_token.encode()):
        assert secret not in stored
        assert secret.hex().encode() not in stored
    assert made.root_token not in repr(made)


def test_what_a_new_cluster_has(blank: Vault) -> None:
    made = initialise(blank.core, 1, 1)
    unseal(blank.core, made.keys[0])
    token = {"X-Vault-Token": made.root_token}

    def get(path: str):
        return blank.request("GET", path, headers=token)

    assert list(get("sys/mounts").data) == ["cubbyhole/", "identity/", "sys/"]
    assert list(get("sys/auth").data) == ["token/"]
    assert get("sys/policy").data["keys"] == ["default", "root"]
    own = get("auth/token/lookup-self").data
    assert (own["display_name"], own["path"], own["policies"]) == ("root", "auth/token/root", ["root"])
    assert len(get("sys/health").body["cluster_id"]) == 36


def test_two_clusters_differ_in_everything_random(clock) -> None:
    first, second = (Vault.dev(clock=clock) for _ in range(2))
    bodies: list[Any] = [vault.get("sys/health").body for vault in (first, second)]
    ids = [body["cluster_id"] for body in bodies]
    assert len({*ids, first.root_token, second.root_token, *first.unseal_keys, *second.unseal_keys}) == 14


def test_a_cluster_has_a_name_and_an_id_which_is_empty_where_it_does_not_open() -> None:
    vault = Vault.dev(cluster_name="paris")
    ctx = own_work(vault.core)
    shown = read_cluster(ctx)
    assert (shown["cluster_name"], len(shown["cluster_id"])) == ("paris", 36)
    for stored in (b"not to be opened", None):
        ctx.write(CLUSTER, stored)
        assert read_cluster(ctx) == {"cluster_name": "paris", "cluster_id": ""}
