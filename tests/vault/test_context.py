"""Context: a step's writes, what a refusal keeps, and nonces."""

from __future__ import annotations

from labkit.service.message import Request
from labkit.vault.context import NONCES_PER_DRAW, Context

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


def test_a_step_begins_with_no_writes(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write_even_if_refused("node/y", b"1")
    ctx.begin(2)

    assert (ctx.writes, ctx.refused_writes) == ({}, {})


def test_no_two_writes_have_the_same_nonce(service):
    ctx = Context(service.core, REQUEST, 0)
    nonces = [ctx.nonce(12) for _ in range(3 * NONCES_PER_DRAW)]

    assert len(set(nonces)) == len(nonces)
    assert {len(nonce) for nonce in nonces} == {12}
    assert ctx.nonce(12) != Context(service.core, REQUEST, 0).nonce(12)
