"""Observed words: what replication observes is said as people say it, anything else as the trace has it."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.trace import ObservedEvent
from labkit.views.player.recorded.observed_words import WORDS, observed_in_words
from labkit.views.trace_lines import TEXTS


@pytest.mark.parametrize(
    ("what", "fields", "words"),
    [
        ("merkle_diff", {"generation": 3, "pages": 1}, "a-1 compared trees: 1 page differs"),
        ("merkle_sync", {"delete": 0, "fetch": 4}, "a-1 fetches 4 keys, deletes 0"),
        ("replication_connected", {"address": "https://b-1:8201"}, "a-1 is connected to b-1"),
        (
            "sync_state",
            {"after": "merkle-diff", "because": "guard missing", "before": "idle"},
            "a-1 goes from idle to comparing trees: guard missing",
        ),
        ("reindex_stage", {"after": "scanning", "before": "building"}, "a-1 reindexes: from building to scanning"),
        ("unsealed", {}, "a-1: unsealed"),
        ("corrupted", {"layer": "page", "page": 5}, "a-1: corrupted (layer page, page 5)"),
    ],
)
def test_a_node_s_observation_in_words(what: str, fields: dict[str, object], words: str) -> None:
    assert observed_in_words(ObservedEvent("observed", 0, "a-1", what, tuple(fields.items()))) == words


def test_what_labs_observe_has_the_fields_that_are_said(drilled_lab: Lab) -> None:
    seen = drilled_lab.trace.select("observed")

    assert {one.what for one in seen} >= {"sync_state", "stream_wals", "replication_connected", "merkle_diff"}
    for one in seen:
        assert (observed_in_words(one) == TEXTS["observed"](one)) == (one.what not in WORDS)


def test_a_secondary_that_gets_another_primary_is_not_said_to_follow_nobody() -> None:
    lab = Lab.triangle()
    lab.replicate("paris", "tokyo")
    lab.replicate("paris", "lima")
    lab.failover("paris", "tokyo")
    stopped = lab.trace.select("observed", what="replication_stopped")
    said = {observed_in_words(one).partition(" ")[::2] for one in stopped}

    again = "ends its replication and begins again: what it is to follow was changed"
    assert ("lima-1", again) in said
    assert ("tokyo-1", "ends its replication as a secondary: the cluster is primary now") in said
    assert {words for node, words in said if not node.startswith("tokyo")} == {again}
