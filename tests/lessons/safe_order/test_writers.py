"""Writers: at which rate a client writes, how far apart the clusters are, and what a move is measured by."""

from __future__ import annotations

from labkit.lessons.safe_order.writers import GAP_MS, moved, pair_with_writer


def test_a_client_writes_by_itself_to_whoever_takes_it():
    lab = pair_with_writer(seed=5)
    before = len(lab.ledger.writes)
    lab.run("1s")
    assert len(lab.ledger.writes) - before == 1000 / GAP_MS
    assert {write.client for write in lab.ledger.writes} == {"writer-1"}

    before_ns = lab.now
    lab.failover("paris", "tokyo")
    seen = moved(lab, before_ns, "")
    assert (seen.mode, seen.broken_s, seen.lost, seen.error) == ("primary", 0, 0, "")
    assert seen.later > 10
    assert 0.1 < seen.pause_s < 1
    assert (seen.by_verb, seen.ended) == (True, False)
    assert seen.pause_s < seen.took_s < 2


def test_what_was_not_moved_is_seen():
    lab = pair_with_writer(seed=5)
    seen = moved(lab, lab.now, "ValueError: no")

    assert (seen.mode, seen.later, seen.error, seen.by_verb) == ("secondary", 0, "ValueError: no", False)


def test_a_cluster_that_was_sealed_only_is_waited_for_until_it_leads_again():
    lab = pair_with_writer(seed=5)
    lab["paris"].seal()
    lab.run("200ms")
    lab["tokyo"].promote()
    began_s = lab.now / 1e9
    seen = moved(lab, lab.now, "")

    assert began_s + 0.9 < seen.broken_s < began_s + 9
    assert lab["paris"].active == "paris-2"


def test_a_client_that_still_waits_is_given_time():
    lab = pair_with_writer(seed=5)
    lab.partition("lisbon", "paris")
    lab["tokyo"].promote()
    seen = moved(lab, lab.now, "")

    assert seen.later
    assert 1 < seen.pause_s == lab.ledger.rto().seconds
