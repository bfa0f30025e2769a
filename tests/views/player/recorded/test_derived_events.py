"""Derived events: each is what trace, ledger and indexes show, in a failover and in random labs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.state_spans import Span
from labkit.lab.measures.tree_record import leaves_of
from labkit.views.player.recorded.client_moves import ClientMove
from labkit.views.player.recorded.derived_events import _of_moves
from labkit.views.player.recorded.happenings import MAX_OBSERVED, OUTAGE, TREES, RunEvent
from labkit.views.player.recorded.recording import Recording, recording_of


@pytest.fixture(scope="module")
def failed_over() -> Lab:
    """A primary that goes down, a promotion, writes by hand, and the old primary that comes back, cut off at first."""
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 0}})
    lab.run("1s")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    lab["tokyo"].post("secret/data/app", {"data": {"n": 2}})
    lab.isolate("paris")
    lab.restart("paris")
    lab.unseal("paris")
    lab["paris"].demote()
    lab.heal("paris")
    lab["paris"].repoint("tokyo")
    return lab.run("5s")


def recorded(lab: Any) -> Recording:
    return recording_of(lab.queries, lab.invariants, None, lab._pictures)


def of_kind(recording: Recording, kind: str) -> list[RunEvent]:
    return [one for one in recording.happenings if one.kind == kind]


def test_the_writes_around_a_gap_are_events(failed_over: Lab) -> None:
    recording = recorded(failed_over)
    last, first = of_kind(recording, OUTAGE)
    writes = failed_over.ledger.writes
    (gap,) = recording.gaps

    assert [last.at_ns, first.at_ns] == [writes[-2].at_ns, writes[-1].at_ns] == [gap.from_ns, gap.to_ns]
    assert last.words == f"the last write before tokyo takes over: {writes[-2].path} of {writes[-2].client}"
    assert first.words == f"the first write that tokyo takes: secret/data/app of {writes[-1].client}; {gap.words}"


def test_the_first_write_is_explained_as_the_recovery(drilled_lab: Lab) -> None:
    recording = recorded(drilled_lab)
    last, first = of_kind(recording, OUTAGE)
    rows = [row for chunk in drilled_lab.trace.state()[1] for row in chunk]

    assert [rows[one.row][0] for one in (last, first)] == ["outcome", "outcome"]
    assert recording.explanations[first.row] == drilled_lab.why("recovery")
    assert recording.explanations[last.row] == drilled_lab.why(last.row)


def test_silence_is_explained_by_what_became_of_the_request(drilled_lab: Lab) -> None:
    recording = recorded(drilled_lab)
    moves = [one for one in recording.happenings if " answers nothing within " in one.words]
    crash = drilled_lab.trace.select("fault", verb="crash")[0].at_ns

    assert len(moves) >= 2
    for move in moves:
        assert recording.explanations[move.row].root.at_ns == crash
        assert "goes down" in recording.explanations[move.row].said


def test_who_leads_nothing_and_who_are_primary_together(failed_over: Lab) -> None:
    recording = recorded(failed_over)
    crash = failed_over.trace.select("fault", verb="crash")[0].at_ns
    (without,) = [one for one in recording.happenings if one.words == "nobody leads paris"]
    (both,) = [one for one in recording.happenings if "both primary" in one.words]
    (back,) = failed_over.trace.select("leader", cluster="paris", term=2)
    demoted = failed_over.trace.select("mode", cluster="paris", mode="secondary")[0]

    assert (without.at_ns, without.row) == (crash, -1)
    assert both.at_ns == back.at_ns
    until = f"{demoted.at_ns / 1e9:.3f} s"
    assert both.words == f"tokyo and paris are both primary until {until}, paris cut off from every other site"


def test_what_became_of_a_secondary_s_tree(failed_over: Lab) -> None:
    recording = recorded(failed_over)
    replaced, level = sorted(of_kind(recording, TREES), key=lambda one: "stays so" in one.words)
    streams = failed_over.trace.select("mode", cluster="paris", state="stream-wals")[0].at_ns
    trees = recording.trees

    assert replaced.at_ns == streams
    assert replaced.words.startswith("paris follows tokyo without the entry that only it had; keys changed there: ")
    assert trees is not None
    assert level.words == "paris's tree has every page as tokyo's, and stays so to the end"
    assert level.at_ns == max(one.to_ns for one in trees.apart if one.cluster == "paris")
    assert failed_over.queries.root("paris") == failed_over.queries.root("tokyo")


def test_many_moves_are_only_counted() -> None:
    move = ClientMove(1, 1, "a", "b", ("c-1",), 1, -1)

    assert len(_of_moves([move] * MAX_OBSERVED)[0]) == MAX_OBSERVED
    events, (counted,) = _of_moves([move] * (MAX_OBSERVED + 1))
    assert events == []
    assert counted.times == MAX_OBSERVED + 1


def primaries_at(spans: tuple[Span, ...], at_ns: int) -> set[str]:
    return {span.row for span in spans if span.what == "primary" and span.from_ns <= at_ns < span.to_ns}


def check(lab: Lab, where: str) -> int:
    """Two primaries are said exactly while there are two, and a tree that stays equal has its upstream's leaves."""
    recording = recorded(lab)
    said = []
    for one in recording.happenings:
        found = re.match(r"(\S+) and (\S+) are both primary (?:until (\S+) s|to the end)", one.words)
        if found:
            assert {found[1], found[2]} <= primaries_at(recording.spans, one.at_ns), where
            until_ns = lab.now if found[3] is None else float(found[3]) * 1e9
            assert found[3] or {found[1], found[2]} <= primaries_at(recording.spans, lab.now - 1), where
            said.append((one.at_ns, until_ns, {found[1], found[2]}))
        if one.words.endswith("and stays so to the end"):
            leaves = [leaves_of(lab.queries, name) for name in one.hosts if lab.queries.active_node(name)]
            assert len(leaves) < 2 or leaves[0] == leaves[1], where
    for span in recording.spans:
        names = primaries_at(recording.spans, span.from_ns)
        if len(names) == 2:
            near = [names for start, end, names in said if start <= span.from_ns <= end + 1e6]
            assert names in near, where
    return len(said)
