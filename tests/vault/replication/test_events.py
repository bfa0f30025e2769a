"""Events and effects: plain records that can be copied, compared and written down."""

from __future__ import annotations

import pickle
from typing import Any, get_args

import pytest

from labkit.vault.replication import events
from labkit.vault.replication.events import Moment

AT = Moment(1, 2)

SAMPLES = [
    events.Start(("a",), AT, serial=1 << 32),
    events.Stop("demoted", AT),
    events.ReplyArrived("echo", {"serial": 1}, AT),
    events.Refused("", 0, "cut", AT),
    events.Pushed({"serial": 4, "entries": []}),
    events.Announced("a", 6, AT),
    events.Reindexed(events.LEAVES, AT),
    events.TimerFired("backoff", 5, AT),
    events.AskUpstream("guard_hash", "a", {"serial": 1}, True),
    events.StartTimer("backoff", 1, 2, 200_000),
    events.Apply(((1, (("logical/a", b"1"), ("logical/b", None))),)),
    events.Replace((("logical/a", None),), True, 3),
    events.Remember(("a", "b"), 3),
    events.Observe("guard_found", {"index": 3}),
]


@pytest.mark.parametrize("record", SAMPLES, ids=lambda record: type(record).__name__)
def test_a_record_is_plain_data(record: Any) -> None:
    assert isinstance(record, tuple)
    assert pickle.loads(pickle.dumps(record)) == record
    assert type(record)(*record) == record


def test_every_kind_has_a_sample_and_every_event_its_moment() -> None:
    assert {type(record) for record in SAMPLES} == {*get_args(events.Event), *get_args(events.Effect)}
    for event in get_args(events.Event):
        assert ("at" in event._fields) != (event is events.Pushed), "one for each write: nothing asks when it came"


def test_no_record_shows_what_it_carries() -> None:
    payload = {"values": "ciphertext"}
    assert repr(events.ReplyArrived("echo", payload, AT)) == "ReplyArrived(echo)"
    assert repr(events.Pushed(payload)) == "Pushed()"
    assert repr(events.AskUpstream("echo", "a", payload, True)) == "AskUpstream(echo, a)"


def test_what_is_not_said_of_an_event_is_none() -> None:
    assert events.Start(("a",), AT)[2:] == ("", "", False, None, 0, 0, 0)
    assert events.Stop("demoted", AT).shut is False
    assert events.StartTimer("backoff", 1, 2).spread_ppm == 0
    assert events.Refused("", 0, "cut", AT).addresses == ()
