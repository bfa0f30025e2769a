"""The trace: what is recorded is what is read, whatever it was cut into, and the digest says so."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.trace import EVENTS, VIEWS, MessageEvent, NoteEvent, Trace
from tests.examples import examples
from tests.traces import recorded

SENT = ("message", 5, 9, "paris-1", "tokyo-1", "ask", 200, "delivered")
LOST = ("message", 6, 6, "paris-1", "tokyo-2", "ask", 200, "lost")
CRASH = ("fault", 7, "crash", "paris-1", "")
SEEN = ("observed", 8, "paris-1", "guard", (("hit", True), ("key", "a")))
NOTE = ("note", 8, "grüße")
ALL = (SENT, LOST, CRASH, SEEN, NOTE)

# One event of every kind, with values that JSON must escape or keep exact.
TEXT = st.text(max_size=6)
WHOLE = st.integers(min_value=0, max_value=2**63)
EVENT = st.one_of(
    st.tuples(st.just("message"), WHOLE, WHOLE, TEXT, TEXT, TEXT, WHOLE, TEXT),
    st.tuples(st.just("outcome"), WHOLE, WHOLE, TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | WHOLE, WHOLE),
    st.tuples(st.just("observed"), WHOLE, TEXT, TEXT, st.tuples(st.tuples(TEXT, WHOLE | TEXT | st.booleans()))),
    st.tuples(st.just("note"), WHOLE, TEXT),
)


def test_the_table_of_events_is_the_promised_one() -> None:
    promised = {
        "message": ("sent_ns", "at_ns", "source", "target", "what", "size_bytes", "fate"),
        "fault": ("at_ns", "verb", "target", "detail"),
        "observed": ("at_ns", "node", "what", "fields"),
        "leader": ("at_ns", "cluster", "node", "term"),
        "mode": ("at_ns", "cluster", "mode", "state"),
        "outcome": (
            *("started_ns", "at_ns", "client", "operation", "path", "cluster", "outcome", "status"),
            "attempts",
        ),
        "step": ("at_ns", "number", "text", "status"),
        "invariant": ("at_ns", "name", "verdict", "detail"),
        "note": ("at_ns", "text"),
    }

    assert promised == EVENTS
    assert list(VIEWS) == list(EVENTS)


def test_events_are_read_as_named_views_of_what_was_recorded() -> None:
    trace = recorded(*ALL)

    assert list(trace) == list(ALL)
    assert len(trace) == 5
    first = next(iter(trace))
    assert isinstance(first, MessageEvent)
    assert (first.source, first.at_ns, first.fate) == ("paris-1", 9, "delivered")


def test_select_takes_a_kind_and_fields() -> None:
    trace = recorded(*ALL)

    assert trace.select("message") == [SENT, LOST]
    assert trace.select("message", fate="lost") == [LOST]
    assert trace.select("message", fate="lost", target="tokyo-1") == []
    assert trace.select("note")[0].text == "grüße"
    assert isinstance(trace.select("note")[0], NoteEvent)


def test_select_without_a_kind_takes_all_kinds_that_have_the_fields() -> None:
    trace = recorded(*ALL)

    assert trace.select() == list(ALL)
    assert trace.select(at_ns=8) == [SEEN, NOTE]
    assert trace.select(target="paris-1") == [CRASH]


def test_select_refuses_names_that_do_not_exist() -> None:
    trace = recorded(*ALL)

    with pytest.raises(ValueError, match=r"no kind of event is called 'mesage'; the kinds are message, fault"):
        trace.select("mesage")
    with pytest.raises(ValueError, match=r"no kind of event has all the fields fait; .* message: sent_ns"):
        trace.select("message", fait="lost")
    with pytest.raises(ValueError, match="all the fields fate, text"):
        trace.select(fate="lost", text="x")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (("gossip", 1), "no kind of event is called 'gossip'"),
        (("note", 1), "a note event has the fields at_ns, text; one was recorded with 1 values"),
    ],
)
def test_an_event_that_is_not_of_the_table_is_found_on_reading(event: tuple[Any, ...], text: str) -> None:
    trace = recorded(event)

    for read in (lambda: list(trace), trace.digest, trace.select, trace.to_frame):
        with pytest.raises(ValueError, match=text):
            read()


def test_the_digest_is_over_canonical_lines() -> None:
    lines = (
        '{"at_ns":9,"fate":"delivered","kind":"message","sent_ns":5,"size_bytes":200,"source":"paris-1",'
        '"target":"tokyo-1","what":"ask"}\n'
        '{"at_ns":8,"fields":[["hit",true],["key","a"]],"kind":"observed","node":"paris-1","what":"guard"}\n'
        '{"at_ns":8,"kind":"note","text":"gr\\u00fc\\u00dfe"}\n'
    )
    trace = recorded(SENT, SEEN, NOTE)

    assert "".join(trace.lines()) == lines
    assert trace.digest() == hashlib.sha256(lines.encode()).hexdigest()
    assert Trace().digest() == hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize("value", [float("nan"), b"bytes", object()])
def test_what_is_no_plain_value_has_no_digest(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        recorded(("note", 1, value)).digest()


@given(events=st.lists(EVENT, max_size=30), cuts=st.lists(st.sampled_from(["seal", "digest", "restore"])))
@settings(max_examples=examples(100), deadline=None)
def test_neither_chunks_nor_readings_nor_restoring_change_the_digest(
    events: list[tuple[Any, ...]], cuts: list[str]
) -> None:
    whole = recorded(*events)
    trace = Trace()
    for number, event in enumerate(events):
        trace.record(event)
        cut = cuts[number % len(cuts)] if cuts else ""
        if cut == "seal":
            trace.state()
        elif cut == "digest":
            trace.digest()
        elif cut == "restore":
            trace = Trace.from_state(trace.state())

    assert trace.digest() == whole.digest()
    assert list(trace) == events
    assert [json.loads(line)["kind"] for line in trace.lines()] == [event[0] for event in events]


def test_any_change_of_an_event_or_their_order_changes_the_digest() -> None:
    digests = {
        recorded(*events).digest()
        for events in (ALL, ALL[::-1], ALL[:-1], (*ALL, NOTE), (*ALL[:-1], ("note", 9, "grüße")))
    }

    assert len(digests) == 5


def test_a_snapshot_shares_chunks_and_is_not_touched_by_what_follows() -> None:
    trace = recorded(*ALL)
    state = trace.state()
    restored = Trace.from_state(state)
    trace.record(NOTE)
    restored.record(CRASH)

    assert restored.state()[1][0] is state[1][0]
    assert list(Trace.from_state(state)) == list(ALL)
    assert list(trace) == [*ALL, NOTE]
    assert list(restored) == [*ALL, CRASH]


def test_reading_between_all_events_leaves_few_chunks() -> None:
    trace = Trace()
    for number in range(1_000):
        trace.record(("note", number, ""))
        trace.state()

    assert len(trace.state()[1]) <= 10
    assert [event.at_ns for event in trace.select("note")] == list(range(1_000))


def test_a_trace_is_the_same_as_another_up_to_an_instant() -> None:
    notes = [("note", at_ns, "x") for at_ns in (1, 2, 2, 5)]
    whole = Trace.from_state((True, (tuple(notes),)))

    def others(*rows: tuple[Any, ...]) -> Trace:
        return Trace.from_state((True, (rows,)))

    assert [whole.is_the_same_until(at_ns, others(*notes[:3])) for at_ns in (1, 2, 4, 5)] == [True, True, True, False]
    assert whole.is_the_same_until(9, others(*notes))
    assert not whole.is_the_same_until(2, others(*notes[:2])), "one event of that instant is missing"
    assert not whole.is_the_same_until(2, others(*notes[:2], ("note", 2, "y")))
    assert not whole.is_the_same_until(9, others(*notes, ("note", 6, "x")))


def test_what_is_recorded_while_somebody_reads_waits_for_the_next_reading() -> None:
    trace = recorded(*ALL)
    for event in trace:
        trace.record(("note", event.at_ns, "seen"))

    assert len(trace) == 10


def test_a_trace_that_is_off_keeps_nothing() -> None:
    trace = Trace(enabled=False)
    trace.record(SENT)

    assert (len(trace), list(trace), trace.state()) == (0, [], (False, ()))
    assert not Trace.from_state(trace.state()).enabled
    assert repr(trace) == "<Trace: 0 events, off>"


def test_the_frame_has_a_row_an_event() -> None:
    late = 2**62 + 1  # a float could not hold it
    frame = recorded(SENT, CRASH, ("outcome", 1, late, "c", "read", "p", "paris", "unknown", None, 3)).to_frame()

    assert list(frame.columns[:4]) == ["kind", "at_s", "at_ns", "sent_ns"]
    assert set(frame.columns) == {
        *("kind", "at_s", "sent_s", "started_s"),
        *(field for fields in EVENTS.values() for field in fields),
    }
    assert list(frame["kind"]) == ["message", "fault", "outcome"]
    assert list(frame["at_ns"]) == [9, 7, late]
    assert frame["at_s"][0] == 9e-9
    assert frame["sent_ns"].isna().tolist() == [False, True, True]
    assert frame["attempts"].dtype == "Int64"
    assert frame["verb"].tolist() == [None, "crash", None]


def test_an_empty_trace_has_an_empty_frame() -> None:
    frame = Trace().to_frame()

    assert len(frame) == 0
    assert "at_s" in frame.columns


def test_pandas_is_loaded_for_a_frame_only(checkout: Path) -> None:
    code = "import sys, labkit.trace as t; t.Trace().digest(); print('pandas' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=checkout)

    assert said.stdout == "False\n"


def test_the_notebook_shows_counts_by_kind() -> None:
    html = recorded(*ALL)._repr_html_()

    assert "Trace: 5 events" in html
    assert "<tr><td>message</td><td style='text-align:right'>2</td></tr>" in html
    assert "leader" not in html
