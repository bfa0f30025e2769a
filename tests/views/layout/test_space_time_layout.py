"""Where two runs stand: one axis, the same hosts for both, every event a line, a mark or a row of the table."""

from __future__ import annotations

from labkit.trace import FaultEvent, MessageEvent, NoteEvent, ObservedEvent
from labkit.views.layout.space_time_layout import (
    LEFT,
    LOST,
    MAX_HOSTS,
    MAX_LISTED,
    RADIUS,
    RAISED,
    RIGHT,
    ROW,
    WIDTH,
    RunPart,
    host_of,
    layout,
)


def message(sent_ns: int, at_ns: int, source: str, target: str, fate: str = "delivered") -> MessageEvent:
    return MessageEvent("message", sent_ns, at_ns, source, target, "stream", 9, fate)


def part(name: str, *events: object) -> RunPart:
    return RunPart(name, events, tuple([f"word {number}" for number in range(len(events))]))


def test_both_runs_have_the_same_hosts_and_the_same_axis() -> None:
    here = part("here", message(900, 1_100, "paris-1", "tokyo-1"), message(1_200, 2_000, "tokyo-1", "paris-1", "lost"))
    there = part("there", FaultEvent("fault", 1_000, "crash", "paris-1", ""))
    marks = layout([here, there], 1_000)
    first, second = marks.runs

    assert [name for name, _ in first.hosts] == [name for name, _ in second.hosts] == ["paris-1", "tokyo-1"]
    arrived, lost = first.messages
    assert arrived.ends[0] == second.marks[0][1] > LEFT, "what was sent before begins at the edge"
    assert arrived.ends[0] < arrived.ends[2] < lost.ends[0] < lost.ends[2] <= WIDTH - RIGHT
    assert (arrived.lost, lost.lost) == (False, True)
    heights = dict(first.hosts)
    assert (arrived.ends[1], arrived.ends[3]) == (heights["paris-1"], heights["tokyo-1"])
    assert second.marks[0][0] == "1"
    assert second.marks[0][2] == dict(second.hosts)["paris-1"] - RAISED
    assert [words for words, _ in second.listed] == ["1 word 0"]
    assert first.y < second.y < marks.axis_y < marks.height


def test_what_has_no_room_is_counted() -> None:
    events = [message(0, 5, f"host-{number}", f"host-{number + 1}") for number in range(MAX_HOSTS + 3)]
    notes = [NoteEvent("note", number, "x") for number in range(MAX_LISTED + 4)]
    marks = layout([part("here", *events), part("there", *notes)], 0)

    assert len(marks.runs[0].hosts) == MAX_HOSTS
    assert marks.left_out == MAX_HOSTS + 4 - MAX_HOSTS
    assert marks.runs[1].listed[-1][0] == "and 4 more: to_frame()"
    assert len(marks.runs[1].listed) == MAX_LISTED + 1


def test_marks_of_one_host_that_stand_near_share_a_number() -> None:
    near = [ObservedEvent("observed", at_ns, "tokyo-1", "x", ()) for at_ns in (10, 11, 12, 9_000)]
    marks = layout([part("here", *near), part("there")], 0)
    assert [words for words, _, _ in marks.runs[0].marks] == ["1-3", "4"]


def test_what_happens_at_no_host_has_none() -> None:
    assert host_of(NoteEvent("note", 1, "x")) == ""
    assert host_of(ObservedEvent("observed", 1, "tokyo-1", "x", ())) == "tokyo-1"


def test_a_mark_stands_on_no_sign_of_a_lost_message_at_its_host_or_the_one_above() -> None:
    assert RAISED - RADIUS > LOST
    assert ROW - RAISED - RADIUS > LOST
