"""Interest: what a fault, a promotion or a lost write touches is of interest, and nothing inside a site."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.wire.addresses import host_of
from labkit.views.player.recorded.interest import MAX_OF_INTEREST, ONLY
from labkit.views.player.recorded.recording import recording_of


def test_what_a_fault_touches_is_of_interest(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    by_row = {one.row: one for one in recording.messages}
    chosen = [by_row[row] for row in recording.interesting]
    site = {host.name: host.site for host in recording.hosts}
    crash = drilled_lab.trace.select("fault", verb="crash")[0]

    assert 20 < len(chosen) < recording.total / 2
    assert any(one.lost and one.sent_ns < crash.at_ns == one.gone_ns for one in chosen), "the crash took some"
    answers = {(loss.write.at_ns, loss.write.client) for loss in recording.losses[:10]}
    assert answers <= {(one.at_ns, one.target) for one in chosen}, "the answers to lost writes"
    assert {one.what for one in chosen} >= {"stream", "request", "response", "guard_hash"}
    outside = [one for one in chosen if site[one.source] == site[one.target]]
    assert all(one.what in ("request", "response") for one in outside)


@pytest.mark.parametrize("only", ONLY)
def test_one_kind_may_be_asked_for(drilled_lab: Lab, only: str) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants, only)
    cluster = {host.name: host.cluster for host in recording.hosts}
    between = [
        one.row
        for one in recording.messages
        if cluster[one.source] and cluster[one.target] and cluster[one.source] != cluster[one.target]
    ]
    of_clients = [one.row for one in recording.messages if not (cluster[one.source] and cluster[one.target])]

    assert list(recording.interesting) == (between if only == "replication" else of_clients)[:MAX_OF_INTEREST]
    assert host_of("paris-1") in cluster


@pytest.mark.parametrize("only", ["", "everything", 3])
def test_another_word_is_refused(drilled_lab: Lab, only: str) -> None:
    with pytest.raises(ValueError, match="only: expected replication"):
        drilled_lab.play(only=only)
