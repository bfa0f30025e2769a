"""Context: a step's writes, what a refusal keeps, and nonces."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.service.errors import NODE_SEALED, NotFound, Unavailable
from labkit.service.message import Request
from labkit.vault.context import NONCES_PER_DRAW, Context, as_engines_see, own_work
from labkit.vault.core import Core
from labkit.vault.mounts import Mount, ResolvedRoute
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode, advance
from labkit.vault.seal_keys import SealKeys
from labkit.vault.storage.barrier import NONCE_BYTES
from labkit.vault.walk.suspension import Tape

REQUEST = Request("GET", "")


def test_a_step_reads_its_own_writes_and_leaves_the_store_alone(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")

    assert ctx.read("node/x") == b"1"
    assert "x" in ctx.list("node/")
    assert service.core.storage.get("node/x") is None


def test_a_step_sees_the_mode_that_it_writes(service):
    ctx = Context(service.core, REQUEST, 0)
    assert ctx.mode == Mode()
    primary = advance(Mode(), "enable_primary", cluster_id="set")
    ctx.full_storage.put(MODE_KEY, primary.to_bytes())

    assert ctx.mode == primary
    assert service.core.replica.mode == Mode()


def test_a_step_neither_encrypts_nor_decrypts_once_the_node_is_sealed(service):
    ctx = Context(service.core, REQUEST, 0)
    stored = ctx.encrypt("node/x", b"1")
    assert ctx.decrypt("node/x", stored) == b"1"
    service.core.keys.drop()

    for work in (lambda: ctx.encrypt("node/x", b"1"), lambda: ctx.decrypt("node/x", stored)):
        with pytest.raises(Unavailable) as refused:
            work()
        assert (refused.value.errors, refused.value.code) == (("Vault is sealed",), NODE_SEALED)


def test_a_step_knows_whether_it_joins_a_set_or_is_played_from_a_tape(service):
    ctx = Context(service.core, REQUEST, 0)
    assert (ctx.joined, ctx.is_taped) == (None, False)
    ctx.keys = SealKeys()
    assert ctx.joined is ctx.keys
    assert Context(service.core, REQUEST, 0, Tape(service.core, ())).is_taped


def test_a_listing_shows_the_names_that_a_step_writes_and_not_those_it_deletes(service):
    stored = Context(service.core, REQUEST, 0)
    for key in ("node/x/a", "node/x/f/1", "node/x/f/2", "node/x/g/1"):
        stored.write(key, b"1")
    service.core.commit(stored.writes)
    ctx = Context(service.core, REQUEST, 0)
    assert ctx.list("node/x/") == ["a", "f/", "g/"]
    for key in ("node/x/a", "node/x/f/1", "node/x/g/1", "node/x/none", "node/x/h/none"):
        ctx.write(key, None)
    ctx.write("node/x/b", b"1")
    ctx.write("node/x/i/1", b"1")
    ctx.write("node/y", b"1")

    assert ctx.list("node/x/") == ["b", "f/", "i/"]
    assert ctx.list("node/x/g/") == []


def test_a_step_is_one_transaction(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write("node/y", None)
    commits = service.core.commits
    service.core.commit(ctx.writes)

    assert service.core.storage.get("node/x") == b"1"
    assert service.core.commits == commits + 1
    assert service.core.commit({}) is None


def test_a_step_begins_with_no_writes(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write_even_if_refused("node/y", b"1")
    ctx.begin(2)

    assert (ctx.writes, ctx.refused_writes) == ({}, {})


def test_no_two_writes_have_the_same_nonce(service):
    ctx = Context(service.core, REQUEST, 0)
    for key in ("node/a", "node/b"):
        ctx.put(key, b"value")
    nonces = [stored[5 : 5 + NONCE_BYTES] for stored in ctx.writes.values() if stored is not None]
    nonces += [ctx.nonce() for _ in range(3 * NONCES_PER_DRAW)]

    assert len(set(nonces)) == len(nonces)
    assert {len(nonce) for nonce in nonces} == {12}
    assert ctx.nonce() != Context(service.core, REQUEST, 0).nonce()


def test_a_step_shows_the_mount_that_answers_and_its_part_of_the_store_only(service):
    ctx = Context(service.core, REQUEST, 0)
    mount = Mount("a/", "kv", "u", "x")
    ctx.resolved = ResolvedRoute("read", "a/b", {}, mount, NotFound())
    ctx.storage.put("b", b"1")

    assert ctx.mount is mount
    assert ctx.storage is ctx.storage
    assert list(ctx.writes) == ["logical/u/b"]
    assert ctx.service_version == service.core.settings.version
    assert as_engines_see(ctx) is ctx


def test_what_a_step_warns_of_draws_and_reports_is_the_nodes(service, observed):
    ctx = own_work(service.core)
    ctx.warn("a")
    ctx.warn("b")
    ctx.observe("seen", x=1)

    assert (ctx.now, ctx.warnings, observed) == (service.now(), ["a", "b"], [("seen", {"x": 1})])
    assert [len(ctx.entropy(count)) for count in (1, 40)] == [1, 40]
    assert (ctx.is_create, ctx.use_spent, ctx.wrap_ttl_ns, ctx.body, ctx.headers) == (False, False, 0, {}, {})


def test_a_write_notes_when_it_falls_due(service, monkeypatch):
    noted = []
    monkeypatch.setattr(Core, "note_due", lambda core, key, when_ns: noted.append((key, when_ns)))
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1", due_ns=7)
    ctx.write("node/y", b"1")

    assert noted == [("node/x", 7)]


def test_a_nonce_is_drawn_again_after_a_fetch(service):
    draws = iter(range(9))
    service.core.entropy = lambda count: bytes([next(draws)]) * count
    ctx = Context(service.core, REQUEST, 0)
    drawn = [ctx.nonce() for _ in range(NONCES_PER_DRAW + 1)]
    ctx.begin(5)

    assert drawn == [bytes(NONCE_BYTES)] * NONCES_PER_DRAW + [b"\1" * NONCE_BYTES]
    assert (ctx.nonce(), ctx.now) == (b"\2" * NONCE_BYTES, 5)


def test_what_a_step_draws_once_is_on_its_tape_and_nothing_with_real_entropy(service):
    core = Vault.dev(seed=1).core
    tape = Tape(core)
    drawn = [Context(core, REQUEST, 0, tape).draw_once("card", 52) for _ in range(3)]
    replayed = Tape(core, tuple(tape.entries))

    assert len(set(drawn)) == 3
    assert [Context(core, REQUEST, 0, replayed).draw_once("card", 52) for _ in range(3)] == drawn
    assert Context(core, REQUEST, 0).draw_once("card", 52) not in drawn
    assert Context(service.core, REQUEST, 0).draw_once("card", 52) is None
    assert (core.is_seeded, service.core.is_seeded) == (True, False)
