"""Context: a step's writes, what a refusal keeps, and the tape from which an asking handler is played again."""

from __future__ import annotations

from labkit.service.message import Request
from labkit.vault.context import KEPT_RECORDS, NONCES_A_DRAW, Context, TapedContext

REQUEST = Request("GET", "")


def test_a_step_reads_its_own_writes_and_leaves_the_store_alone(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")

    assert ctx.read("node/x") == b"1"
    assert "x" in ctx.list("node/")
    assert service.core.storage.get("node/x") is None


def test_a_step_is_one_transaction(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write("node/y", None)
    commits = service.core.commits
    service.core.commit(ctx.writes)

    assert service.core.storage.get("node/x") == b"1"
    assert service.core.commits == commits + 1
    assert service.core.commit({}) is None


def test_the_tape_gives_the_same_again_whatever_became_of_the_store(service):
    core = service.core
    core.commit({"node/x": b"old"})
    first = TapedContext(core, REQUEST, 5)
    first.begin(5)
    seen = (first.now, first.read("node/x"), first.list("node/"), first.entropy(8))
    core.commit({"node/x": b"new", "node/z": b"1"})

    again = TapedContext(core, REQUEST, 99, tuple(first.tape))
    again.begin(99)
    assert (again.now, again.read("node/x"), again.list("node/"), again.entropy(8)) == seen
    again.begin(99)
    assert (again.now, again.read("node/x")) == (99, b"new")


def test_a_replay_tells_nobody(service):
    told = []
    service.core.observe = lambda kind, **fields: told.append(kind)
    ctx = TapedContext(service.core, REQUEST, 0, (5,))
    ctx.observe("earlier")
    ctx.replaying = False
    ctx.observe("now")

    assert told == ["now"]


def test_a_step_begins_with_no_writes(service):
    ctx = TapedContext(service.core, REQUEST, 0)
    ctx.begin(1)
    ctx.write("node/x", b"1")
    ctx.keep("node/y", b"1")
    ctx.begin(2)

    assert (ctx.writes, ctx.kept) == ({}, {})


def test_no_two_writes_have_the_same_nonce(service):
    ctx = Context(service.core, REQUEST, 0)
    nonces = [ctx.nonce(12) for _ in range(3 * NONCES_A_DRAW)]

    assert len(set(nonces)) == len(nonces)
    assert {len(nonce) for nonce in nonces} == {12}
    assert ctx.nonce(12) != Context(service.core, REQUEST, 0).nonce(12)


def test_nonces_are_on_the_tape(service):
    first = TapedContext(service.core, REQUEST, 0)
    first.begin(5)
    drawn = [first.nonce(12) for _ in range(NONCES_A_DRAW + 1)]

    again = TapedContext(service.core, REQUEST, 0, tuple(first.tape))
    again.begin(5)
    assert [again.nonce(12) for _ in drawn] == drawn


def test_kept_records_are_bounded(service):
    core = service.core
    core.drop_caches()
    for number in range(KEPT_RECORDS + 1):
        core.keep_record(str(number), b"", number)

    assert len(core.records) == 1
