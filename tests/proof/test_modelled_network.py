"""The network between the two sides: lanes, faults, and what is over."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.proof.modelled_network import Messages, without
from labkit.proof.network_kinds import NETWORKS
from labkit.proof.parcels import (
    ANSWER,
    BEGUN_AGAIN,
    LIFE,
    NOW,
    OLD,
    OLD_LIFE,
    PUSH,
    QUESTION,
    UNCHANGED,
    Parcel,
    parcel,
)

PAGES = parcel(ANSWER, "a", False, "conflicting_pages", {"serial": NOW, "pages": []})
PUSHED = parcel(PUSH, "a", False, "stream", {"serial": NOW, "entries": []})
FOUND = parcel(ANSWER, "a", True, "guard_hash", {"serial": NOW, "found": True})
ASKED = parcel(QUESTION, "a", False, "stream_wals", {"serial": NOW, "from": 1})


def test_a_lane_keeps_its_order_and_waits_for_no_other() -> None:
    messages = Messages(("a", "b"))
    one, two, three, four = (messages.number(sent) for sent in (PAGES, PUSHED, FOUND, ASKED))
    wire = messages.sent(messages.empty(), [one, two, three, four])

    assert wire.lanes == ((one, two), (three,), (four,), (), (), (), (), ())
    assert without(wire.lanes, 0)[0] == (two,)
    assert messages.lanes[messages.number(PAGES._replace(node="b"))] == 4


@pytest.mark.parametrize(
    ("network", "outcomes"),
    [
        ("ordered", [(-1, ((0, 1), (2,)), ((), ()))]),
        ("destroying", [(-1, ((), ()), ((), ()))]),
        ("late", [(-1, ((), ()), ((0, 1), (2,)))]),
        ("losing", [(0, ((1,), (2,)), ((), ())), (2, ((0, 1), ()), ((), ()))]),
        ("duplicating", [(0, ((0, 1), (2,)), ((0,), ())), (2, ((0, 1), (2,)), ((), (2,)))]),
    ],
)
def test_a_fault_does_what_its_network_says(network: str, outcomes: list[Any]) -> None:
    messages = Messages(("a",))
    wire = messages.sent(messages.empty(), [messages.number(sent) for sent in (PAGES, PUSHED, FOUND)])

    found = [(number, left.lanes[:2], left.held[:2]) for number, left in messages.faulty(wire, NETWORKS[network])]

    assert found == outcomes


def test_what_is_over_is_dropped_unless_it_is_to_be_kept() -> None:
    old = PAGES._replace(content=(("pages", ()), ("serial", OLD)))
    assert Messages(("a",)).sent(Messages(("a",)).empty(), []) == Messages(("a",)).empty()
    for keeps in (False, True):
        messages = Messages(("a",), keeps)
        number = messages.number(PAGES)
        wire = messages.after(messages.sent(messages.empty(), [number]), BEGUN_AGAIN)
        assert [messages.parcels[left] for left in wire.lanes[0]] == ([old] if keeps else [])
        assert messages.after(wire, UNCHANGED) == wire


def test_what_changes_the_primary_is_never_dropped() -> None:
    messages = Messages(("a",))
    wire = messages.after(messages.sent(messages.empty(), [messages.number(ASKED)]), BEGUN_AGAIN)

    assert len(wire.lanes[2]) == 1


def test_a_heartbeats_answer_is_kept_where_it_names_a_term() -> None:
    echo = parcel(ANSWER, "a", True, "echo", {"serial": LIFE, "asked": OLD})

    assert [Messages(nodes).number(echo) for nodes in (("a",), ("a", "b"))] == [0, 0]
    assert _dropped(("a",), echo)
    assert not _dropped(("a", "b"), echo)


def _dropped(nodes: tuple[str, ...], echo: Parcel) -> bool:
    messages = Messages(nodes)
    return messages.dropped[messages.number(echo)]


@pytest.mark.parametrize(
    ("kind", "rpc", "content", "dropped"),
    [
        (ANSWER, "fetch_keys", {"serial": OLD}, True),
        (ANSWER, "guard_hash", {"serial": OLD}, True),
        (ANSWER, "stream_wals", {"serial": OLD}, True),
        (ANSWER, "fetch_keys", {"serial": NOW}, False),
        (QUESTION, "fetch_keys", {"serial": OLD}, True),
        (QUESTION, "guard_hash", {"serial": OLD}, False),
        (QUESTION, "stream_wals", {"serial": OLD}, False),
        (ANSWER, "echo", {"serial": LIFE, "asked": NOW}, False),
        (ANSWER, "echo", {"serial": LIFE, "asked": OLD}, True),
        (ANSWER, "echo", {"serial": OLD_LIFE, "asked": NOW}, True),
        (ANSWER, "announcement", {"term": 1}, False),
    ],
)
def test_what_is_over_is_about_an_old_question_or_an_old_start(
    kind: str, rpc: str, content: dict[str, Any], dropped: bool
) -> None:
    sent = parcel(kind, "a", False, rpc, content)

    assert _dropped(("a",), sent) == dropped
    assert _dropped(("a", "b"), sent) == (dropped and rpc != "echo"), "a heartbeat names addresses and term too"
    kept = Messages(("a",), keeps_old=True)
    assert not kept.dropped[kept.number(sent)]


def test_a_message_and_what_becomes_of_it_have_one_number() -> None:
    messages = Messages(("a",))
    first, second = messages.number(PAGES), messages.number(FOUND)

    assert (first, second, messages.number(PAGES)) == (0, 1, 0)
    assert messages.goes_up == [False, False]
    old = messages.renamed(first, BEGUN_AGAIN)
    assert (old, messages.renamed(first, BEGUN_AGAIN)) == (2, 2)
    assert dict(messages.parcels[old].content)["serial"] == OLD
    assert messages.renamed(second, UNCHANGED) == second
