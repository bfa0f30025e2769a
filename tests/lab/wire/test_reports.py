"""Reports: named records, consumed in the order in which they are emitted."""

from __future__ import annotations

import inspect
from typing import get_args

from labkit.lab.wire import reports
from labkit.lab.wire.reports import Report


def test_every_report_is_taken_by_the_books_or_by_whom_they_hand_it_to(quiet):
    records = {
        record
        for record in vars(reports).values()
        if inspect.isclass(record) and hasattr(record, "_fields") and record.__module__ == reports.__name__
    }

    assert set(get_args(Report)) == records
    takers = quiet._bookkeeping._takers
    assert set(takers) == records
    assert all(takers.values()), "one that nobody takes need not be made"


def test_a_commit_is_known_before_its_answer_is_sent(calm):
    """Whoever is asked when the answer sets out finds the commit in the ledger."""
    seen = []
    send = calm.parts.network.send
    node = calm.parts.nodes["paris-1"]

    def watched(*message, **how):
        seen.append(calm.ledger.waiting)
        send(*message, **how)

    node.services = node.services._replace(send=watched)
    before = calm.ledger.waiting
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})

    assert seen[0] == before + 1
    assert calm.ledger.waiting == before, "and the answer makes a write of it"


def test_an_upstream_that_is_left_is_reported_before_the_sync_is_dropped(calm):
    seen = []
    node = calm.parts.nodes["tokyo-1"]
    emit = node.services.emit

    def watched(report):
        if isinstance(report, reports.UpstreamLeft):
            seen.append((report.mode, report.position, node.sync is not None))
        emit(report)

    node.link._services = node.services._replace(emit=watched)
    position = node.sync.position
    calm.crash("paris")
    calm["tokyo"].promote()

    assert seen == [("primary", position, True)]
    assert node.sync is None
