"""A way in sentences."""

from __future__ import annotations

from labkit.proof.bounds import Bounds
from labkit.proof.network_kinds import NETWORKS
from labkit.proof.parcels import ANSWER, NOW, OLD, PUSH, parcel
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
