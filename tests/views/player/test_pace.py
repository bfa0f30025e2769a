"""Pace: flights of interest are slow enough, quiet stretches short, and the script goes through the same stretches."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from labkit.views.player.pace import FLIGHT_MS, HELD_MS, HELD_NS, QUIET, QUIET_MS, SLOW, Stretch, pace, shown_ms
from tests.views.player.scripts import NODE, asked

MS, SECOND = 1_000_000, 1_000_000_000


def on_screen(stretches: list[Stretch], start_ns: int, end_ns: int) -> float:
    """How long a part of a run is on screen, in milliseconds."""
    shown, from_ns = 0.0, 0
    for stretch in stretches:
        part = min(end_ns, stretch.to_ns) - max(start_ns, from_ns)
        if part > 0:
            shown += stretch.shown_ms * part / (stretch.to_ns - from_ns)
        from_ns = stretch.to_ns
    return shown


def test_a_run_of_nothing_passes_in_half_a_second() -> None:
    assert pace(60 * SECOND, [], []) == [Stretch(60 * SECOND, QUIET_MS, QUIET)]
    assert pace(300 * MS, [], []) == [Stretch(300 * MS, 300, "true")]


@pytest.mark.parametrize("seed", range(30))
def test_what_is_of_interest_takes_its_time_and_nothing_else_does(seed: int) -> None:
    rng = random.Random(seed)
    end_ns = 40 * SECOND
    starts = [rng.randrange(end_ns - SECOND) for _ in range(60)]
    flights = [(start, start + rng.choice((200_000, 15 * MS, 80 * MS, 900 * MS))) for start in starts]
    instants = [rng.randrange(end_ns - SECOND) for _ in range(10)]
    stretches = pace(end_ns, flights, instants)

    assert stretches[-1].to_ns == end_ns
    assert [one.to_ns for one in stretches] == sorted({one.to_ns for one in stretches})
    for start, end in flights:
        assert on_screen(stretches, start, end) >= max(FLIGHT_MS, (end - start) / MS) * 0.999
    for at_ns in instants:
        assert on_screen(stretches, at_ns, at_ns + HELD_NS) >= HELD_MS * 0.999
    from_ns = 0
    for stretch in stretches:
        touched = any(start < stretch.to_ns and end > from_ns for start, end in flights)
        touched = touched or any(at < stretch.to_ns and at + HELD_NS > from_ns for at in instants)
        assert touched or stretch.shown_ms <= QUIET_MS
        assert (stretch.kind == QUIET) == (stretch.to_ns - from_ns > QUIET_MS * MS and not touched)
        assert (stretch.kind == SLOW) <= touched
        from_ns = stretch.to_ns


def test_what_passes_at_once_is_no_stretch() -> None:
    assert pace(SECOND, [(5, 5)], []) == pace(SECOND, [], [])
    assert pace(SECOND, [(2 * SECOND, 3 * SECOND)], [2 * SECOND]) == pace(SECOND, [], [])


def test_the_script_goes_through_the_same_stretches(tmp_path: Path) -> None:
    stretches = pace(10 * SECOND, [(SECOND, SECOND + 80 * MS), (SECOND, SECOND + 20 * MS)], [3 * SECOND])
    given, from_ns = [], 0
    for stretch in stretches:
        given.append([(stretch.to_ns - from_ns) // 1_000, stretch.shown_ms, stretch.kind])
        from_ns = stretch.to_ns
    instants = list(range(0, 10_000_001, 10_000))
    said = asked(
        tmp_path,
        {"pace": given, "instants": instants, "speeds": [1, 0.05, 0.99, 12.3, 2]},
        "(() => { const pace = readPace(data.pace); return {"
        "shown: data.instants.map((at) => shownAt(pace, at)), "
        "back: data.instants.map((at) => instantAt(pace, shownAt(pace, at))), "
        "breaks: breaksOf(pace), words: data.speeds.map(speedWords), slow: speedAt(pace, 1000000) }; })()",
    )
    if NODE is None:
        return
    for at, shown, back in zip(instants, said["shown"], said["back"], strict=True):
        assert shown == pytest.approx(on_screen(stretches, 0, at * 1_000), abs=0.01)
        assert back == pytest.approx(at, abs=1)
    assert said["shown"][-1] == pytest.approx(shown_ms(stretches))
    assert said["breaks"] == [[0, 1_000_000], [1_080_000, 3_000_000], [3_020_000, 10_000_000]]
    assert said["slow"] == pytest.approx(20 / FLIGHT_MS)
    assert said["words"] == [
        "true pace: 1 s of the lab takes 1 s",
        "1 s of the lab takes 20 s",
        "true pace: 1 s of the lab takes 1 s",
        "12 s of the lab take 1 s",
        "2 s of the lab take 1 s",
    ]
