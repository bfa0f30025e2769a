"""What a lab keeps grows with its acknowledged writes and its promotions, and without a trace with nothing else.

Of a write it keeps for good what a later promotion may have lost of it: packed, in so many bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab import bookkeeping, build
from labkit.lab.invariants import whole_commits
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.records.chunks import NEWEST_ROWS
from tests.lab.state_entries import entries

BYTES_PER_WRITE = 150  # of the write, of what its commit left under each key, and of what cut writes left
NEWEST, SLACK = 20, 5_000  # what changed since the index was stored, after 1,024 entries each time, comes and goes


def busy(trace: bool) -> Lab:
    """A pair with writers, readers, and a backlog that a minute fills."""
    work = tuple(WorkloadPlan(operation=name, every_ns=50_000_000, keys=5) for name in ("put-secret", "get-secret"))
    plan = pair().with_clients(ClientPlan(name="app", site="lisbon", use=("paris", "tokyo"), workload=work))
    short = replace(plan, clusters=tuple(replace(cluster, backlog_entries=256) for cluster in plan.clusters))
    lab = Lab(short, trace=trace)
    lab.replicate("paris", "tokyo")
    return lab


def go_on(lab: Lab) -> None:
    """Let a minute pass in which a connection ends, a node restarts, and operators ask for what there is not."""
    lab.run("10s").partition("paris", "tokyo")
    lab.run("5s").heal()
    lab.crash("tokyo-3")
    for _ in range(60):
        assert lab["paris"].get("secret/data/nothing").status == 404
    lab.restart("tokyo-3")
    lab.unseal("tokyo")
    lab.run("40s")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Limits that a short run reaches."""
    monkeypatch.setattr(build, "NEWEST_ROWS", NEWEST)
    monkeypatch.setattr(bookkeeping, "NEWEST_ROWS", NEWEST)
    monkeypatch.setattr(whole_commits, "MAX_KEPT", 64)
    monkeypatch.setattr(whole_commits, "DROPPED_EVERY", 16)


def kept_for_good(value: Any) -> int:
    """The bytes of packed chunks; anything beside them counts as eight."""
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict | tuple):
        return sum(map(kept_for_good, value.values() if isinstance(value, dict) else value))
    return 8


@pytest.mark.slow
def test_without_a_trace_only_acknowledged_writes_and_their_commits_grow():
    lab = busy(trace=False)
    go_on(lab)
    before, writes, ledger = entries(lab, 2), len(lab.ledger.writes), lab.snapshot().state["ledger"]
    go_on(lab)
    after, more = entries(lab, 2), len(lab.ledger.writes) - writes
    grown = [
        kept_for_good(rows(lab.snapshot().state["ledger"])) - kept_for_good(rows(ledger))
        for rows in (lambda state: state["writes"], lambda state: state["histories"]["commits"])
    ]

    assert more > 1_000
    assert {name for name in after if after[name] > before[name] + SLACK} == set()
    assert all(bytes_kept > 0 for bytes_kept in grown)
    assert sum(grown) / more <= BYTES_PER_WRITE
    assert NEWEST <= len(lab.ledger.operations) < 2 * NEWEST < lab.ledger.answered
    assert NEWEST <= len(lab.ledger.failed_asks) < 2 * NEWEST < lab.ledger.refused
    assert NEWEST <= len(lab.ledger.read_log.reads) < 2 * NEWEST
    assert NEWEST <= len(lab.ledger.read_log.versions) < 2 * NEWEST


@pytest.mark.slow
def test_a_restored_one_goes_on_forgetting():
    lab = busy(trace=False)
    lab.run("20s")
    again = Lab.restore(lab.snapshot())
    for each in (lab, again):
        each.run("20s")

    assert again.ledger.operations == lab.ledger.operations
    assert len(again.ledger.operations) < 2 * NEWEST
    assert again.queries.progress.state() == lab.queries.progress.state()
    assert again.lag("paris", "tokyo") == lab.lag("paris", "tokyo")


@pytest.mark.slow
def test_what_a_promotion_lost_is_the_same_with_a_trace_and_without():
    losses = []
    for trace in (True, False):
        lab = busy(trace)
        lab.run("20s").partition("paris", "tokyo")
        lab.run("10s").crash("paris")
        lab["tokyo"].promote()
        lab.run("5s")
        losses.append((lab.ledger.rpo(), lab.ledger.rto(), len(lab.ledger.writes), lab.lag("paris", "tokyo")))

    assert losses[0] == losses[1]
    assert losses[0][0].writes > 100


def test_with_a_trace_everything_is_kept():
    lab = busy(trace=True)
    lab.run("20s")

    assert len(lab.ledger.operations) == lab.ledger.answered + lab.ledger.refused + lab.ledger.unknown > 2 * NEWEST
    assert NEWEST_ROWS > 1_000
