"""Space and time: each message is a line from where and when it was sent to where and when it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.views.player.data import data_of
from labkit.views.player.recorded.recording import Recording, recording_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import asked

READ = """(() => {
  const run = readRun(data.data);
  const heights = new Map(run.data.hosts.map(([name], place) => [name, 30 * place]));
  return data.stretches.map(([from, to]) => {
    const xOf = (at) => 1000 * (at - from) / (to - from);
    const found = placeMessages(run, [from, to]);
    return { ...found, places: placesOf(run, found.messages, { xOf, heights, left: 0, right: 1000 }) };
  });
})()"""


def check(recording: Recording, folder: Path) -> int:
    """Recompute the lines of a few stretches from the messages of the run; return how many were looked at."""
    data = data_of(recording, stage_of(recording))
    end = data["end"]
    stretches = [[0, end], [end * 0.4, end * 0.6], [end * 0.5, end * 0.5 + 50_000]]
    heights = {host[0]: 30 * place for place, host in enumerate(data["hosts"])}
    looked_at = 0
    for (since, until), found in zip(
        stretches, asked(folder, {"data": data, "stretches": stretches}, READ) or (), strict=False
    ):
        there = [
            number
            for number, one in enumerate(recording.messages)
            if one.sent_ns // 1_000 <= until and one.gone_ns // 1_000 >= since
        ]
        chosen = [number for number in there if recording.messages[number].row in set(recording.interesting)]
        assert sorted(found["messages"]) in (there, chosen, [])
        assert (sorted(found["messages"]) == there) == (len(there) <= 260 or chosen == there)
        for place in found["places"]:
            one: Any = recording.messages[place["message"]]
            x1, y1, x2, y2 = place["ends"]

            def x_of(at_ns: int, since: float = since, until: float = until) -> float:
                return 1_000 * (at_ns // 1_000 - since) / (until - since)

            sent, gone, ended = x_of(one.sent_ns), x_of(one.gone_ns), x_of(one.at_ns)
            from_y, to_y = heights[one.source], heights[one.target]
            stays_y = from_y if one.lost else to_y  # what is lost at once, is so at its sender

            def y_at(x: float, line: tuple[float, ...] = (sent, ended, from_y, to_y, stays_y)) -> float:
                start, stop, top, bottom, stays = line
                return top + (bottom - top) * (x - start) / (stop - start) if stop > start else stays

            assert (x1, x2) == pytest.approx((max(sent, 0), min(gone, 1_000)), abs=1e-6)
            assert y1 == pytest.approx(y_at(x1) if sent < 0 else from_y, abs=1e-6)
            others = [y for y in heights.values() if y not in (from_y, to_y) and abs(y - y_at(x2)) < 7]
            if one.lost and gone <= 1_000 and others:  # its cross stands beside the line, where it came from
                assert y2 == others[0] - (10 if to_y > from_y else -10)
            else:
                assert y2 == pytest.approx(y_at(x2), abs=1e-6)
            looked_at += 1
    return looked_at


def test_a_line_goes_from_its_sending_to_its_end(drilled_lab: Lab, tmp_path: Path) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)

    assert check(recording, tmp_path) in (0, *range(20, 2_000))


def test_the_note_names_the_marks_that_are_drawn(drilled_lab: Lab, tmp_path: Path) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    data = data_of(recording, stage_of(recording))
    ended = [one.at_ns // 1_000 for one in recording.operations if one.outcome != "under way"]
    first, last = min(ended), max(ended)
    notes = asked(
        tmp_path,
        {"run": data, "stretches": [[first, last], [first - 10, first], [0, 10]]},
        "((run) => data.stretches.map((one) => placeMessages(run, one).note))(readRun(data.run))",
    )
    if notes is None:
        return
    assert len(ended) > 260
    assert notes[0].endswith(f"; {len(ended)} operations are too many")
    assert notes[1].endswith("; dots: answered, hollow: in doubt, red: refused")
    assert "dots" not in notes[2], "none is drawn"
    assert "operations" not in notes[2]


def test_a_cross_stands_beside_the_line_of_a_host_that_had_no_part(tmp_path: Path) -> None:
    heights = {"a": 0, "b": 21, "c": 42}
    cases = [[21.0, 0, 42], [27.9, 0, 42], [14.2, 42, 0], [35.0, 0, 42], [21.0, 0, 21], [28.5, 0, 42]]
    script = "data.cases.map((one) => beside(...one, new Map(Object.entries(data.heights))))"
    found = asked(tmp_path, {"heights": heights, "cases": cases}, script)

    assert found in (None, [11, 11, 31, 35.0, 21.0, 28.5])


def test_the_nearest_line_is_found(tmp_path: Path) -> None:
    places = [{"message": 3, "ends": [0, 0, 100, 100]}, {"message": 8, "ends": [0, 20, 100, 20]}]
    points = [[50, 52], [90, 22], [50, 40], [200, 200]]
    found = asked(tmp_path, [places, points], "data[1].map(([x, y]) => messageNear(data[0], x, y))")

    assert found in (None, [3, 8, -1, -1])
