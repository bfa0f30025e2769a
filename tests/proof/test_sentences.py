"""A way in sentences."""

from __future__ import annotations

from labkit.proof.bounds import Bounds
from labkit.proof.networks import NETWORKS
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
        for parcel in model.steps.messages.parcels:
            assert arrival(parcel).endswith(".")
    kinds = [BEGAN, DELIVERED, BEAT, TRIED, WROTE, CUT, CAUGHT, GAVE_UP, RESTARTED, TOOK_OVER]
    assert sorted({kind for kind, _ in seen}) == sorted(kinds)


def test_entries_are_counted_along_the_way() -> None:
    written = [Occurrence(WROTE, ("token/y", b"1")), Occurrence(BEGAN), Occurrence(WROTE, ("token/y", None))]

    assert list(sentences(written, [], NETWORKS["ordered"])) == [
        "The primary commits entry 1: token/y = 1.",
        "The secondary begins to connect.",
        "The primary commits entry 2: token/y deleted.",
    ]
