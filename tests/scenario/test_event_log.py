"""An event log says what happened, one line per event, and leaves out what a step says already."""

from __future__ import annotations

from labkit.scenario.event_log import LogLine, event_log
from tests.traces import recorded

SECOND_NS = 1_000_000_000


def lines_of(*events: tuple[object, ...]) -> list[str]:
    return [str(line).strip() for line in event_log(recorded(*events))]


def test_each_kind_of_event_has_its_line() -> None:
    assert lines_of(
        ("leader", 0, "paris", "paris-1", 1),
        ("mode", SECOND_NS, "tokyo", "secondary", "stream-wals"),
        ("mode", SECOND_NS, "paris", "disabled", ""),
        ("fault", 2 * SECOND_NS, "slow", "paris <> tokyo", "factor 4"),
        ("fault", 2 * SECOND_NS, "crash", "paris-1", ""),
        ("invariant", 3 * SECOND_NS, "one primary", "broken", "two accept writes"),
        ("note", 61 * SECOND_NS, "and so on"),
    ) == [
        "0.000 s  leader     paris-1 leads paris (term 1)",
        "1.000 s  mode       tokyo is secondary, stream-wals",
        "1.000 s  mode       paris is disabled",
        "2.000 s  fault      slow paris <> tokyo (factor 4)",
        "2.000 s  fault      crash paris-1",
        "3.000 s  invariant  one primary: broken: two accept writes",
        "61.000 s  note       and so on",
    ]


def test_a_step_says_what_it_did_and_how_long_it_took() -> None:
    assert lines_of(
        ("step", SECOND_NS, 1, "replicate paris to tokyo", "begins"),
        ("step", 2 * SECOND_NS, 1, "tokyo streams from paris", "done"),
        ("step", 3 * SECOND_NS, 2, "crash paris", "begins"),
        ("fault", 3 * SECOND_NS, "crash", "paris-1", ""),
        ("step", 3 * SECOND_NS, 2, "crash paris", "done"),
        ("step", 4 * SECOND_NS, 3, "demote paris", "begins"),
        ("step", 4 * SECOND_NS, 3, "no answer", "failed"),
    ) == [
        "1.000 s  step 1     replicate paris to tokyo",
        "2.000 s  step 1     done after 1s: tokyo streams from paris",
        "3.000 s  step 2     crash paris",
        "4.000 s  step 3     demote paris",
        "4.000 s  step 3     failed after 0s: no answer",
    ]


def test_a_fault_by_hand_is_listed_while_a_step_goes_on() -> None:
    lines = lines_of(
        ("step", SECOND_NS, 1, "promote tokyo", "begins"),
        ("fault", 2 * SECOND_NS, "crash", "paris-1", ""),
    )

    assert lines[1] == "2.000 s  fault      crash paris-1"


def test_of_clients_only_the_first_answer_of_a_cluster_is_listed() -> None:
    def outcome(at_ns: int, client: str, cluster: str, kind: str) -> tuple[object, ...]:
        return ("outcome", 0, at_ns, client, "encrypt", "transit/encrypt/a", cluster, kind, 200, 1)

    assert lines_of(
        outcome(SECOND_NS, "a-1", "paris", "unknown"),
        outcome(2 * SECOND_NS, "a-2", "paris", "answered"),
        outcome(3 * SECOND_NS, "a-1", "paris", "answered"),
        outcome(4 * SECOND_NS, "a-1", "tokyo", "answered"),
        ("message", 0, 1, "a", "b", "request", 10, "delivered"),
        ("observed", 5, "paris-1", "token", ()),
    ) == [
        "2.000 s  clients    a-2 is the first to be answered by paris",
        "4.000 s  clients    a-1 is the first to be answered by tokyo",
    ]


def test_times_are_rounded_to_the_millisecond_and_aligned() -> None:
    assert str(LogLine(1_999_600_000, "note", "x")) == "     2.000 s  note       x"
    assert str(LogLine(123_456_000_000_000, "note", "x")) == "123456.000 s  note       x"
