"""Exercise rotten: how it begins, and what its hints claim."""

from __future__ import annotations

import pytest

from labkit.lessons.damaged_tree.rotten import look, start, switch_and_reindex, there_and_back


def test_it_begins_with_rot_in_the_primary_only():
    seen = look(start())

    assert (len(seen.unreadable["paris"]), seen.unreadable["tokyo"]) == (1, [])
    assert seen.lost == 0


@pytest.mark.slow
def test_either_cluster_may_lead_in_the_end():
    for way, modes in (
        (switch_and_reindex, {"paris": "secondary", "tokyo": "primary"}),
        (there_and_back, {"paris": "primary", "tokyo": "secondary"}),
    ):
        lab = start()
        way(lab)
        seen = look(lab)
        assert seen.modes == modes
        assert seen.unreadable == {"paris": [], "tokyo": []}


def test_what_a_secondary_is_reindexed_for_it_fetches_from_its_primary():
    lab = start()
    switch_and_reindex(lab)
    (synced,) = lab.trace.select("observed", node="paris-1", what="merkle_sync")[-1:]

    assert dict(synced.fields)["fetch"] == 1
