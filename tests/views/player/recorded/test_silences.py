"""Silences: what is said of a secondary that hears nothing is when a message of another cluster reached it last."""

from __future__ import annotations

from pathlib import Path

from labkit import Lab
from labkit.lab.measures.state_spans import Span
from labkit.views.player.data import data_of
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.recorded.silences import SilentStretch, silences_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import asked

SECOND = 1_000_000_000


def spans(*parts: tuple[int, int, str, str]) -> list[Span]:
    """What tokyo was, in seconds, among what paris was."""
    found = [Span("tokyo", start * SECOND, stop * SECOND, what, detail) for start, stop, what, detail in parts]
    return [Span("paris", 0, 60 * SECOND, "secondary", ""), *found]


def silences(parts: list[Span], *heard_s: float) -> list[tuple[float, float]]:
    """The silences of tokyo in seconds."""
    found = silences_of("tokyo", parts, [int(at * SECOND) for at in heard_s])
    assert all(isinstance(one, SilentStretch) and one.cluster == "tokyo" for one in found)
    return [
        (one.from_ns / SECOND, one.to_ns / SECOND)
        for one in silences_of("tokyo", parts, [int(at * SECOND) for at in heard_s])
    ]


def test_a_silence_lasts_from_the_last_message_to_the_next_or_to_the_end_of_the_mode() -> None:
    parts = spans(
        (0, 2, "disabled", ""), (2, 4, "secondary", "idle"), (4, 20, "secondary", "x"), (20, 30, "primary", "")
    )

    assert silences(parts, 1, 3, 4, 5, 8, 9.5) == [(5, 8), (9.5, 20)]
    assert silences(parts, 19) == []
    assert silences(parts) == [], "who was heard never was not heard last"
    assert silences(parts, 25, 29) == [], "a primary listens to nobody"


def test_a_secondary_of_a_dead_primary_says_when_it_heard_last(tmp_path: Path) -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    lab.crash("paris")
    lab.run("4s")
    recording = recording_of(lab.queries, lab.invariants)
    nodes = {name: [f"{name}-{number}" for number in (1, 2, 3)] for name in ("paris", "tokyo")}
    last_ns = max(
        one.at_ns
        for one in lab.trace.select("message", fate="delivered")
        if one.source in nodes["paris"] and one.target in nodes["tokyo"]
    )
    last = last_ns // 1_000
    instants = [last - 100_000, last + 1_234_567, lab.now // 1_000 - 1, last + 900_000]
    script = "data.at.map((at) => stateAt(readRun(data.run), at).clusters.map(({ words }) => words))"
    said = asked(tmp_path, {"run": data_of(recording, stage_of(recording)), "at": instants}, script)
    if said is None:
        return
    assert said[0] == ["primary", "secondary, streaming"]
    assert said[1] == ["down: 3 nodes down", "secondary, streaming as of 1.2 s ago"]
    assert said[3][1] == "secondary, streaming", "a heartbeat may still come"
    ago = (instants[2] - last) / 1e6
    assert said[2][1] == f"secondary, streaming as of {ago:.1f} s ago"
