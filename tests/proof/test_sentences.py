"""A way in sentences."""

from __future__ import annotations

from labkit.proof.bounds import Bounds
from labkit.proof.network_kinds import NETWORKS
from labkit.proof.parcels import ANNOUNCEMENT, ANSWER, NOW, OLD, PUSH, QUESTION, REFUSAL, parcel
from labkit.proof.replication import Replication
from labkit.proof.search import search
from labkit.proof.sentences import arrival, sentences
from labkit.proof.steps import (
    BEAT,
    BEGAN,
    CAUGHT,
    CUT,
    DELIVERED,
    GAVE_UP,
    RESTARTED,
    TOOK_OVER,
    TRIED,
    WROTE,
    Occurrence,
)


def test_every_event_of_every_network_has_a_sentence() -> None:
    seen = set()
    for name, kind in NETWORKS.items():
        model = Replication(Bounds(1, 1, 1, 1, name))
        _, reached = search(model, 600)
        events = {event for event in reached.events if event is not None}
        for event in sorted(events, key=repr):
            (sentence,) = sentences([event], model.steps.messages.parcels, kind)
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert "None" not in sentence
            seen.add((event.kind, sentence.split(" ", 2)[1]))
        for seen_parcel in model.steps.messages.parcels:
            assert arrival(seen_parcel).endswith(".")
    kinds = [BEGAN, DELIVERED, BEAT, TRIED, WROTE, CUT, CAUGHT, GAVE_UP, RESTARTED, TOOK_OVER]
    assert sorted({kind for kind, _ in seen}) == sorted(kinds)


def test_entries_are_counted_along_the_way() -> None:
    written = [Occurrence(WROTE, ("token/y", b"1")), Occurrence(BEGAN), Occurrence(WROTE, ("token/y", None))]

    assert list(sentences(written, [], NETWORKS["ordered"])) == [
        "The primary commits entry 1: token/y = 1.",
        "The secondary begins to connect.",
        "The primary commits entry 2: token/y deleted.",
    ]


def test_what_an_answer_says_is_written_out() -> None:
    def answered(rpc: str, **message: object) -> str:
        return arrival(parcel(ANSWER, "a", False, rpc, {"serial": NOW, **message}))

    assert answered("stream_wals", gone=True) == "The answer to stream_wals arrives: the entries are gone."
    assert answered("guard_hash", found=True, index=2).endswith(" arrives: found at entry 2.")
    assert answered("guard_hash", found=False, generation=3).endswith(" arrives: not found, compare with entry 3.")
    assert answered("conflicting_pages", pages=[1, 2]).endswith(" arrives: pages that differ: 2.")
    assert answered("sub_page_hashes", leaves=[1]).endswith(" arrives: keys in what differs: 1.")
    assert answered("fetch_keys", values=[["x", b"1"], ["y", b""]]).endswith(" arrives: x = 1, y is gone.")
    assert answered("fetch_keys", serial=OLD, values=[["x", b"1"]]).startswith(
        "The answer to fetch_keys arrives, which is about what is over: "
    )
    push = parcel(PUSH, "a", False, "stream", {"serial": NOW, "gone": True})
    assert arrival(push) == "A push arrives: the entries are gone."


def test_what_else_arrives_is_written_out() -> None:
    said = {"address": "b", "term": 2}
    assert arrival(parcel(ANNOUNCEMENT, "b", True, "announcement", said)) == (
        "Node b of the primary announces itself, with term 2."
    )
    assert arrival(parcel(REFUSAL, "a", True, "fetch_keys", {"serial": NOW, "addresses": ["b"]})) == (
        "Node a refuses fetch_keys, and names node b."
    )
    assert arrival(parcel(QUESTION, "a", False, "fetch_keys", {"serial": OLD})) == (
        "The question fetch_keys, held back until now, which is about what is over, reaches node a of the primary."
    )
    push = {"serial": NOW, "entries": [(1, ()), (2, ())]}
    assert arrival(parcel(PUSH, "a", False, "stream", push)) == "A push arrives: entry 1 and 2."
    stream = parcel(ANSWER, "a", False, "stream_wals", {"serial": NOW, "from": 3})
    assert arrival(stream) == "The answer to stream_wals arrives: entries follow from 3."
    for aside, way in ((True, "aside"), (False, "after all before it")):
        echo = parcel(ANSWER, "a", aside, "echo", {"serial": 1, "asked": OLD, "aside": aside, "sent": 4})
        assert arrival(echo) == (
            f"A heartbeat, {way}, is answered, which is about what is over: entry 4 was pushed last."
        )


def test_a_fault_names_what_it_is_about_and_what_it_catches() -> None:
    parcels = [
        parcel(PUSH, "a", False, "stream", {"serial": NOW, "entries": []}),
        parcel(ANSWER, "a", False, "echo", {"serial": 1, "asked": NOW, "aside": False, "sent": 4}),
        parcel(QUESTION, "a", False, "fetch_keys", {"serial": NOW}),
        parcel(ANNOUNCEMENT, "b", True, "announcement", {"address": "b", "term": 2}),
        parcel(REFUSAL, "a", True, "stream_wals", {"serial": NOW, "addresses": ["b"]}),
    ]

    def said(event: Occurrence, network: str = "losing") -> str:
        (sentence,) = sentences([event], parcels, NETWORKS[network])
        return sentence

    assert said(Occurrence(CUT, 0)) == "A fault loses one message (a push)."
    assert said(Occurrence(CUT, 1)) == "A fault loses one message (the answer to echo)."
    assert said(Occurrence(CUT, 2)) == "A fault loses one message (the question fetch_keys)."
    assert said(Occurrence(CUT, 3)) == "A fault loses one message (an announcement)."
    assert said(Occurrence(CUT, 4)) == "A fault loses one message (the refusal stream_wals)."
    assert said(Occurrence(CUT, -1), "destroying") == "A fault loses everything on its way."
    assert said(Occurrence(CUT, None, (1,)), "duplicating").endswith(" never again (the answer to echo).")
    assert said(Occurrence(CAUGHT, Occurrence(TRIED), (2, 0))) == (
        "The backoff is over: the secondary connects again. "
        "It asks fetch_keys and stream, and a fault loses one message, that question among it."
    )
