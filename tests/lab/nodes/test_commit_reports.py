"""Commit reports: kept until the step is over, a wipe at once, and whose write it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from labkit.lab.nodes.commit_reports import CommitReports
from labkit.lab.plan.blueprint import pair
from labkit.lab.wire import reports
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.seen_versions import written_value
from labkit.service.message import Request, Response
from labkit.vault.replication.tree.merkle import leaf_digest
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.unfenced import UnfencedStorage
from tests.counting import files_passed

WHO = Correlation("client", 1)
CHANGES = ((3, (("logical/a", leaf_digest("logical/a", b"x")),)),)


def made(outside, *, mode: str = "primary", store: MemoryStorage | None = None, term: int = 1) -> CommitReports:
    core: Any = SimpleNamespace(leadership=SimpleNamespace(term=term))
    found = CommitReports(pair().nodes_of("paris")[0], outside.services, core, store or MemoryStorage())
    found.link = SimpleNamespace(reported=(mode, ""))
    return found


def test_a_commit_is_reported_with_who_asked_and_what_was_sent(outside):
    commits = made(outside)
    commits.note(3, {"logical/a": b"x", "node/own": b"y"}, False)
    assert outside.reports == []
    commits.report(
        WHO, Request("POST", "/v1/x", {}, {"options": {"cas": 1}}), Response(200, {}, {"data": {"version": 4}})
    )

    assert outside.reports == [reports.Committed("paris", CHANGES, WHO, "POST", 4, ("options", "options.cas"))]
    assert commits.made == []


def test_a_commit_is_reported_with_what_the_request_said_to_write(outside):
    commits, request, answer = made(outside), Request("POST", "/v1/x", {}, {"a": 1}), Response(204, {})
    commits.note(3, {"logical/a": b"x"}, False)
    commits.report(WHO, request, answer)
    commits.report(WHO, request, answer)  # a step that commits nothing

    assert [report.value_digest for report in outside.reports] == [written_value(request, answer, None), b""]


def test_what_a_read_costs_is_not_the_write_of_who_asked(outside):
    commits = made(outside)
    commits.note(3, {"logical/a": b"x"}, False)
    commits.report(WHO, Request("GET", "/v1/x", {}), Response(200, {}))

    assert outside.reports == [reports.Committed("paris", CHANGES)]


def test_a_wipe_is_reported_at_once_and_takes_what_was_kept(outside):
    commits = made(outside)
    commits.note(3, {"logical/a": b"x"}, False)
    commits.note(None, {"logical/a": None}, True)

    assert outside.reports == [reports.Wiped("paris")]
    assert commits.made == []


def test_what_a_secondary_commits_itself_is_reported(outside):
    made(outside, mode="secondary").note(None, {"logical/a": b"x"}, False)

    assert outside.reports == [reports.OwnEntryMade("paris", 0, ("logical/a",))]


def test_what_a_leader_that_was_overtaken_commits_is_reported(outside):
    store = UnfencedStorage()
    store.claim(2)
    for term in (1, 2):
        made(outside, store=store, term=term).note(3, {"logical/a": b"x"}, False)

    assert outside.reports == [reports.OvertakenWrote("paris", "paris-1", 1, "logical/a")]


def test_a_write_takes_a_short_way_and_its_report_goes_straight_to_the_books(quiet):
    """It was 338 changes of file; ``tests/counting.py`` prints this way and two others."""
    body = {"data": {"user": "ada"}}
    for _ in range(2):
        passed = files_passed(lambda: quiet["paris"].post("secret/data/app", body))

    assert ("lab/nodes/commit_reports.py", "lab/bookkeeping.py") in zip(passed.way, passed.way[1:], strict=False)
    assert len(passed.way) <= 340, passed
