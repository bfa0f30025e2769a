"""Run page: the run as a page plays it, how it differs from the one before; and going back in time."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.doors.control import ControlRequest
from labkit.doors.pages.run_page import NO_RUN_BEFORE, NOT_PLAYED
from labkit.doors.served_lab import ServedLab
from labkit.doors.server_thread import DoorSettings
from labkit.lab.bench import Bench
from tests.doors.conftest import done


@pytest.fixture
def door() -> ServedLab:
    """The door of a pair of clusters that is nobody else's."""

    def made() -> ServedLab:
        lab = Lab.pair(seed=7)
        lab.replicate("paris", "tokyo")
        return lab.serve(settings=DoorSettings(control=True))

    found = made()
    found.again = made
    found._keep_the_past()
    return found


def asked(door: ServedLab, method: str, path: str, fields: dict[str, Any] | None = None, **query: str) -> Any:
    return done(door.control._acts[method, path](ControlRequest("", fields or {}, query)))


def test_the_run_is_what_the_player_has(door: ServedLab) -> None:
    door.lab.run("2s")
    before = door.lab.trace.digest()
    found = asked(door, "GET", "/page/run")
    assert door.play is not None
    assert found == door.play().parts
    assert found["data"]["end"] == door.lab.now // 1_000
    assert "<svg" in found["timeline"]
    assert 'id="happened"' in found["tables"]
    assert found["data"]["trees"] is not None, "the lab keeps its pictures"
    assert door.lab.trace.digest() == before


def test_a_bench_is_not_played() -> None:
    bench = Bench.pair()
    door = ServedLab(bench, bench._passage, settings=DoorSettings(control=True))
    with pytest.raises(ValueError, match=NOT_PLAYED):
        asked(door, "GET", "/page/run")


def test_it_is_taken_back_goes_on_otherwise_and_is_compared(door: ServedLab) -> None:
    lab, at = door.lab, f"{door.lab.now}ns"
    lab.run("5s")
    with pytest.raises(ValueError, match=NO_RUN_BEFORE):
        asked(door, "GET", "/page/compare")
    assert asked(door, "GET", "/page/acts")["compare"] == NO_RUN_BEFORE

    assert asked(door, "POST", "/control/clock/back", {"to": at})["now_ns"] == door.lab.now < lab.now
    assert door.lab is not lab
    assert door.app.lab is door.lab
    assert door.play is not None
    assert door.play().recording.end_ns == door.lab.now
    door.lab.run("5s")
    assert asked(door, "GET", "/page/compare")["text"].startswith("equal")
    door.lab.crash("paris")
    assert asked(door, "GET", "/page/compare")["at_ns"] == door.lab.now
    asked(door, "POST", "/control/clock/back", {"to": at})
    assert f"{door.lab.now}ns" == at


def test_what_cannot_be_gone_back_to_is_refused_and_changes_nothing(door: ServedLab) -> None:
    lab = door.lab
    for to, said in (
        ("1h", "an instant up to now"),
        ("", "instant"),
        ("soon", "instant"),
        (-1, "instant"),
        ([], "instant"),
    ):
        with pytest.raises(ValueError, match=said):
            asked(door, "POST", "/control/clock/back", {"to": to})
    with pytest.raises(ValueError, match="can be gone back to"):
        asked(door, "POST", "/control/clock/back", {"to": "0.5s"})  # before the door was there
    with pytest.raises(ValueError, match="expected only to here"):
        asked(door, "POST", "/control/clock/back", {"at": "0s"})
    door.again = None
    with pytest.raises(ValueError, match="another program's"):
        asked(door, "POST", "/control/clock/back", {"to": f"{lab.now}ns"})
    assert "another program's" in asked(door, "GET", "/page/acts")["back"]
    assert door.lab is lab


def test_answers_are_asked_for_by_number(door: ServedLab) -> None:
    assert asked(door, "GET", "/page/answers") == {"answers": []}
    for whole in ("x", "-1", "9" * 10):
        with pytest.raises(ValueError, match="whole: expected the number of an answer"):
            asked(door, "GET", "/page/answers", whole=whole)
