"""Scheduled work: tokens end and keys rotate at their time, on the active node of a cluster that is not a secondary."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.core import Leadership
from labkit.vault.due_times import RETRY_NS
from labkit.vault.scheduled_work import may_be_due
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import IDS, decode_token, digest_of, encode_token


def test_the_earliest_of_all_is_next(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    assert service.next_due() == service.now() + 7_200 * 10**9
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    assert service.next_due() == service.now() + 3_600 * 10**9


def test_what_is_known_not_to_be_due_is_not(service, clock):
    core = service.core
    assert may_be_due(core, service.now()), "nobody looked yet"
    assert (service.tick(), may_be_due(core, service.now() + 10**18)) == (0, False)
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    service.tick()
    for late_ns in (-1, 0):
        assert may_be_due(core, service.now() + 3_600 * 10**9 + late_ns) == (late_ns == 0)
    core.replica.journal.rebuild = object()
    assert may_be_due(core, service.now()), "an index that is made again goes on"


def test_nothing_is_due_on_a_standby_or_while_sealed(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    service.set_leadership(Leadership(active=False))
    assert service.next_due() is None
    service.set_leadership(Leadership())
    assert service.next_due() is not None
    service.post("sys/seal")
    assert (service.next_due(), service.tick()) == (None, 0)


def test_what_is_due_while_sealed_is_done_after_unsealing(service, clock):
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    service.post("sys/seal")
    service.advance("2h")
    service.unseal_with(service.unseal_keys[:3])

    assert service.tick() == 1
    assert service.next_due() is None


def test_a_tick_with_nothing_due_writes_nothing(service):
    commits = service.core.commits

    assert service.tick() == 0
    assert service.core.commits == commits


# ---- what cannot be done


def observed(service) -> list[tuple[str, dict[str, Any]]]:
    """Return a list to which the node reports from now on."""
    seen: list[tuple[str, dict[str, Any]]] = []
    service.core.observe = lambda kind, **fields: seen.append((kind, fields))
    return seen


def spoil(service, key: str) -> None:
    """Alter the last byte of a stored value."""
    stored = service.core.storage.get(key)
    service.core.storage.apply({key: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)


def token_keys(service, *ttls: str) -> list[str]:
    """Make tokens, and return where their records are stored."""
    made = [service.post("auth/token/create", {"policies": ["default"], "ttl": ttl}).auth for ttl in ttls]
    return [IDS + digest_of(auth["client_token"]) for auth in made]


@pytest.mark.parametrize("when", ["before it is derived", "after it is derived"])
def test_a_record_that_does_not_open_is_skipped_and_reported_once(service, when):
    first, second = token_keys(service, "1h", "1h")
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    service.post("transit/keys/l", {"auto_rotate_period": "1h"})
    if when == "after it is derived":
        service.next_due()
    else:
        service.set_leadership(Leadership())
    rotating = next(key for key in sorted(service.core.storage.keys()) if key.endswith("/key/k"))
    seen = observed(service)
    spoil(service, first)
    spoil(service, rotating)
    for hours in (1, 2):
        service.advance("1h")
        assert service.get("transit/keys/l").data["latest_version"] == 1 + hours
        assert service.core.storage.get(second) is None

    damaged = [fields["key"] for kind, fields in seen if kind == "stored value damaged"]
    assert sorted(damaged) == sorted([first, rotating])
    assert service.core.storage.get(first) is not None


def test_a_damaged_child_does_not_keep_its_family_alive(service):
    parent = service.post("auth/token/create", {"policies": ["default", "p"], "ttl": "1h"}).auth["client_token"]
    service.put("sys/policies/acl/p", {"policy": 'path "auth/token/create" { capabilities = ["update"] }'})
    child = service.post("auth/token/create", {}, token=parent).auth["client_token"]
    grandchild = service.post("auth/token/create", {}, token=child).auth["client_token"]
    service.core.commit({f"cubbyhole/{digest_of(child)}/response": b"x"})
    spoil(service, IDS + digest_of(child))
    service.advance("1h")

    for text in (parent, child, grandchild):
        assert service.core.storage.get(IDS + digest_of(text)) is None
    assert service.core.storage.list("cubbyhole/") == []


def test_a_node_that_was_overtaken_steps_down_in_its_tick(service):
    (key,) = token_keys(service, "1h")
    service.core.storage.claim(9)
    seen = observed(service)
    service.environment.now.shift_ns += 3_600 * 10**9

    assert (service.tick(), service.next_due()) == (0, None)
    assert not service.core.leadership.active
    assert [kind for kind, _ in seen if kind == "stepped down"] == ["stepped down"]
    assert service.core.storage.get(key) is not None


def test_what_the_store_cannot_write_is_tried_again_later(service, monkeypatch):
    (key,) = token_keys(service, "1h")
    seen = observed(service)

    def full(writes, term):
        raise StoreError("lab.db has no space left to be written")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStorage, "apply", lambda self, writes, term: full(writes, term))
        service.advance("1h")
        assert service.get("sys/health", token="").ok
    assert seen[-1] == ("scheduled work failed", {"reason": "lab.db has no space left to be written"})
    assert service.next_due() == service.now() + RETRY_NS
    service.advance("10s")
    assert service.core.storage.get(key) is None


def test_a_damaged_mount_table_leaves_tokens_to_end(service):
    (key,) = token_keys(service, "1h")
    service.set_leadership(Leadership())
    spoil(service, "core/mounts")
    service.advance("1h")

    assert service.core.storage.get(key) is None


def test_a_spent_token_that_was_left_behind_ends_at_the_next_takeover(service):
    """A crash took the request away that would have revoked it."""
    made = service.post("auth/token/create", {"policies": ["default"], "num_uses": 1}).auth["client_token"]
    key, core = IDS + digest_of(made), service.core
    token = decode_token(core.keys.decrypt(key, core.storage.get(key)))
    core.commit({key: core.keys.encrypt(key, encode_token(token._replace(uses=-1)), core.entropy)})
    core.waiting = {7: digest_of(made)}
    service.set_leadership(Leadership())
    assert service.tick() == 0, "a request waits that took a use"
    core.waiting = {}
    service.set_leadership(Leadership())

    assert service.tick() == 1
    assert core.storage.get(key) is None


def test_a_tick_reads_only_what_is_due(service, monkeypatch):
    """However many tokens are stored: deriving reads them all, a tick the one that ends."""
    token_keys(service, *(f"{minutes}m" for minutes in range(60, 260)))
    service.next_due()
    service.core.caches.clear()
    decoded = []

    def decode(stored):
        decoded.append(stored)
        return decode_token(stored)

    monkeypatch.setattr("labkit.vault.tokens.decode_token", decode)
    service.advance("60m")

    assert len(service.core.storage.list(IDS)) == 200  # the root token's, and those that go on
    assert len(decoded) <= 2


def test_nothing_is_due_on_a_secondary_or_where_the_mode_does_not_open(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    service.post("sys/replication/dr/primary/enable")
    assert service.next_due() is not None
    stored = service.core.storage.get("node/mode")
    spoil(service, "node/mode")
    service.set_leadership(Leadership())
    assert service.next_due() is None
    service.core.storage.apply({"node/mode": stored}, 0)
    service.set_leadership(Leadership())
    assert service.next_due() is not None
    service.post("sys/replication/dr/primary/demote")
    assert (service.next_due(), service.tick()) == (None, 0)


def test_what_was_put_off_is_due_at_its_new_time(service):
    (key,) = token_keys(service, "1h")
    service.next_due()
    core = service.core
    token = decode_token(core.keys.decrypt(key, core.storage.get(key)))
    later_ns = token.expires_ns + 1_800 * 10**9
    core.commit({key: core.keys.encrypt(key, encode_token(token._replace(expires_ns=later_ns)), core.entropy)})
    service.advance("1h")

    assert core.storage.get(key) is not None
    assert service.next_due() == later_ns
    service.advance("30m")
    assert core.storage.get(key) is None
    assert service.next_due() is None


def test_a_key_that_rotates_is_due_again_and_a_tick_counts_what_it_wrote(service):
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    token_keys(service, "1h")
    service.environment.now.shift_ns += 3_600 * 10**9

    assert service.tick() == 2
    assert service.next_due() == service.now() + 3_600 * 10**9
    assert service.tick() == 0
    assert service.get("transit/keys/k").data["latest_version"] == 2


def test_keys_of_every_namespace_rotate_and_tokens_end(service):
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    service.post("sys/mounts/transit", {"type": "transit"}, namespace="team/sub")
    service.post("transit/keys/k", {"auto_rotate_period": "1h"}, namespace="team/sub")
    made = service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}, namespace="team/sub").auth
    service.set_leadership(Leadership())
    service.advance("1h")

    assert service.get("transit/keys/k", namespace="team/sub").data["latest_version"] == 2
    assert service.core.storage.get(IDS + digest_of(made["client_token"])) is None


def test_a_damaged_table_of_a_namespace_leaves_the_others_work(service):
    number = service.post("sys/namespaces/team").data["id"]
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    spoil(service, f"namespace/{number}/core/mounts")
    seen = observed(service)
    service.set_leadership(Leadership())
    service.advance("1h")

    assert service.get("transit/keys/k").data["latest_version"] == 2
    assert ("stored value damaged", {"key": f"namespace/{number}/core/mounts"}) in seen
