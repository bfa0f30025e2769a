"""Writers: at which rate a client writes, how far apart the clusters are, and what a move is measured by."""

from __future__ import annotations

from labkit.lessons.safe_order.writers import GAP_MS, moved, pair_with_writer


def test_a_client_writes_by_itself_to_whoever_takes_it():
    lab = pair_with_writer(seed=5)
    before = len(lab.ledger.writes)
    lab.run("1s")
    assert len(lab.ledger.writes) - before == 1000 / GAP_MS
    assert {write.client for write in lab.ledger.writes} == {"writer-1"}

    lab.failover("paris", "tokyo")
    seen = moved(lab, "")
    assert (seen.mode, seen.broken_s, seen.lost, seen.error) == ("primary", 0, 0, "")
    assert seen.later > 10
    assert 0.1 < seen.pause_s < 1


def test_what_was_not_moved_is_seen():
    seen = moved(pair_with_writer(seed=5), "ValueError: no")

    assert (seen.mode, seen.later, seen.pause_s, seen.error) == ("secondary", 0, 0, "ValueError: no")
