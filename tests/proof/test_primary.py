"""The primary of the model: what it commits, answers, refuses and pushes."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.proof.parcels import ANNOUNCEMENT, ANSWER, LIFE, NOW, OLD, PUSH, QUESTION, REFUSAL, Parcel, Roles, parcel
from labkit.proof.primary import SHARED, TOKEN, Primary, PrimarySide, contents_at, renamed_primary
from labkit.vault.replication.serving_secondaries import SecondaryStream

STREAMING = Primary(known=True, connected=True, stream=SecondaryStream(NOW, 0))


@pytest.fixture
def side() -> PrimarySide:
    return PrimarySide(backlog=2)


def question(rpc: str, **content: Any) -> Parcel:
    return parcel(QUESTION, "a", rpc == "guard_hash", rpc, {"serial": NOW, **content})


def test_what_is_put_is_another_value_and_what_is_there_can_end(side: PrimarySide) -> None:
    assert side.writes(Primary()) == [(SHARED, None), (SHARED, b"1"), (TOKEN, b"1")]
    assert side.writes(Primary(((TOKEN, b"1"),))) == [(SHARED, None), (TOKEN, None), (SHARED, b"2")]
    assert contents_at(((TOKEN, b"1"), (SHARED, None)), 2) == ((TOKEN, b"1"),)
    assert contents_at(((TOKEN, b"1"), (SHARED, None)), 1) == ((SHARED, b"0"), (TOKEN, b"1"))


def test_a_commit_is_pushed_and_the_backlog_is_bounded(side: PrimarySide) -> None:
    primary = STREAMING
    for number in (1, 2, 3):
        primary, (push,) = side.commit(primary, (SHARED, str(number).encode()))
        assert (push.kind, push.message()["entries"]) == (PUSH, ((number, ((SHARED, str(number).encode()),)),))
    assert (primary.last, primary.oldest, primary.stream) == (3, 1, SecondaryStream(NOW, 3))
    journal = side.journal(primary)
    assert (journal.last, journal.oldest, len(journal)) == (3, 1, 2)


def test_journals_are_the_same_however_they_are_reached(side: PrimarySide) -> None:
    history = ((SHARED, b"1"), (TOKEN, b"2"), (SHARED, None))
    for oldest in (1, 2, 3):
        journal = side.journal(Primary(history, oldest))
        assert (journal.last, journal.oldest) == (3, oldest)
        assert journal.tree is not None
        assert journal.tree.leaf(SHARED) is None
        assert journal.storage.get(TOKEN) == b"2"


def test_a_guard_begins_a_connection_and_ends_the_stream(side: PrimarySide) -> None:
    asked = question("guard_hash", guard=bytes(20), compare=False, addresses=[])
    primary, (answer,) = side.answer(STREAMING, asked)

    assert (primary.connected, primary.stream) == (True, None)
    assert (answer.kind, answer.aside) == (ANSWER, True)
    assert (answer.message()["found"], answer.message()["cluster_addrs"]) == (False, ["a"])


def test_a_stream_is_pushed_entry_by_entry(side: PrimarySide) -> None:
    behind = Primary(((SHARED, b"1"), (TOKEN, b"2")), connected=True)
    primary, sent = side.answer(behind, question("stream_wals", **{"from": 0}))

    assert [found.kind for found in sent] == [ANSWER, PUSH, PUSH]
    assert [number for found in sent[1:] for number, _ in found.message()["entries"]] == [1, 2]
    assert primary.stream == SecondaryStream(NOW, 2)
    gone, (refused,) = side.answer(behind._replace(oldest=2), question("stream_wals", **{"from": 0}))
    assert (gone.stream, refused.message()) == (None, {"serial": NOW, "gone": True})


@pytest.mark.parametrize("rpc", ["conflicting_pages", "stream_wals", "fetch_keys", "sub_page_hashes"])
def test_without_a_connection_it_refuses(side: PrimarySide, rpc: str) -> None:
    primary, (refused,) = side.answer(Primary(), question(rpc))

    assert primary == Primary()
    assert (refused.kind, refused.aside, refused.message()) == (REFUSAL, True, {"serial": NOW, "addresses": ["a"]})


def test_who_takes_over_knows_no_secondary_and_says_so(side: PrimarySide) -> None:
    primary, _ = side.commit(STREAMING._replace(nodes=2), (SHARED, b"1"))
    taken, (said,) = side.take_over(primary)

    assert (taken.active, taken.oldest, taken.connected, taken.stream) == ("b", 1, False, None)
    assert (said.kind, said.aside, said.message()) == (ANNOUNCEMENT, True, {"address": "b", "term": 1})
    assert side.take_over(Primary(nodes=2))[1] == ()
    _, (refused,) = side.answer(taken, question("guard_hash"))
    assert refused.message()["addresses"] == ["b"]
    echo = parcel(QUESTION, "a", True, "echo", {"serial": 1, "asked": OLD})
    assert side.answer(taken, echo)[1][0].message()["serial"] == OLD


def test_the_streams_serial_follows_its_role() -> None:
    assert renamed_primary(STREAMING, Roles(now=OLD)).stream == SecondaryStream(OLD, 0)
    assert renamed_primary(Primary(), Roles(now=OLD)) == Primary()


@pytest.mark.parametrize("aside", [True, False])
def test_a_heartbeat_is_answered_on_the_way_it_came(side: PrimarySide, aside: bool) -> None:
    said = {"serial": LIFE, "asked": NOW, "sent_ns": 7, "aside": aside, "position": 0}
    primary = STREAMING._replace(nodes=2, term=0)
    after, (answer,) = side.answer(primary, parcel(QUESTION, "a", aside, "echo", said))

    assert after == primary
    assert (answer.kind, answer.aside, answer.rpc, answer.node) == (ANSWER, aside, "echo", "a")
    found = answer.message()
    assert (found["serial"], found["asked"], found["stream"]) == (LIFE, NOW, NOW)
    assert (found["cluster_addrs"], found["last_wal"], found["sent_ns"]) == (["a", "b"], 0, 7)


def test_only_the_question_for_a_stream_opens_one(side: PrimarySide) -> None:
    level = Primary(((SHARED, b"1"),), connected=True)
    for rpc, content in (("conflicting_pages", {"pages": []}), ("fetch_keys", {"keys": [SHARED], "limit_bytes": 0})):
        after, (answer,) = side.answer(level, question(rpc, generation=1, **content))
        assert after == level
        assert (answer.kind, answer.aside, answer.rpc) == (ANSWER, False, rpc)


def test_a_guard_that_was_asked_for_is_known_to_who_takes_over(side: PrimarySide) -> None:
    asked = question("guard_hash", guard=bytes(20), compare=False, addresses=[])
    known, (answer,) = side.answer(Primary(nodes=2), asked)

    assert (answer.message()["cluster_addrs"], answer.message()["term"]) == (["a", "b"], 0)
    assert side.take_over(known)[1][0].kind == ANNOUNCEMENT


def test_a_primary_begins_with_nothing_written_and_nobody_connected() -> None:
    begun = Primary()

    assert (begun.active, begun.last, begun.oldest, begun.term, begun.known, begun.connected) == (
        "a",
        0,
        0,
        0,
        False,
        False,
    )
    assert [begun._replace(nodes=2, term=term).active for term in (0, 1, 2)] == ["a", "b", "a"]


def test_a_broken_stream_is_pushed_nothing(side: PrimarySide) -> None:
    primary, sent = side.commit(STREAMING._replace(stream=SecondaryStream(NOW, 0, broken=True)), (SHARED, b"1"))

    assert (primary.last, sent) == (1, ())
    assert primary.stream == SecondaryStream(NOW, 0, broken=True)
