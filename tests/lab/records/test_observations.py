"""What nodes observe is counted by kind, and what comparisons fetch; the counts are plain values."""

from __future__ import annotations

from labkit.lab.records.observations import Observations
from labkit.lab.wire.reports import Observed


def test_each_kind_is_counted_and_the_keys_that_comparisons_fetch() -> None:
    counts = Observations()
    counts.take(Observed(1, "tokyo-1", "merkle_sync", (("delete", 0), ("fetch", 6))))
    counts.take(Observed(2, "tokyo-1", "merkle_sync", (("delete", 1), ("fetch", 2))))
    counts.take(Observed(3, "tokyo-1", "stream_wals", ()))

    assert counts.kinds == {"merkle_sync": 2, "stream_wals": 1}
    assert counts.fetched == 8
    assert Observations(counts.state()).state() == counts.state()
    assert "3 of 2 kinds" in repr(counts)
