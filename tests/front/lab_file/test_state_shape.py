"""State shape: the parts of a state, each there and of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.state_shape import BY_NAME, StateShape, has_same_names, judge_state
from labkit.lab.snapshot import Snapshot


def test_a_state_has_the_parts_of_the_shape(small_snapshot: Snapshot):
    judge_state(small_snapshot.state)
    assert set(small_snapshot.state) == set(StateShape._fields)


@pytest.mark.parametrize("name", StateShape._fields)
def test_each_part_is_there_and_of_its_kind(name: str, small_snapshot: Snapshot):
    without = {key: value for key, value in small_snapshot.state.items() if key != name}
    for state in (without, {**without, name: b"x"}):
        with pytest.raises(LabFileError, match=f"state: {name} is missing or of another kind"):
            judge_state(state)


def test_another_part_is_named(small_snapshot: Snapshot):
    with pytest.raises(LabFileError, match="expected no 'strange'"):
        judge_state({**small_snapshot.state, "strange": 1})


@pytest.mark.parametrize("event", [(), ("strange", 1), ("note", 1), ("note", 1, "a", 2), (["note"], 1, "a")])
def test_an_event_has_the_fields_of_its_kind(event: tuple[Any, ...], small_snapshot: Snapshot):
    judge_state({**small_snapshot.state, "trace": (True, ((("note", 1, "a"),),))})
    with pytest.raises(LabFileError, match="trace: expected an event"):
        judge_state({**small_snapshot.state, "trace": (True, ((event,),))})


@pytest.mark.parametrize("part", BY_NAME)
def test_states_of_other_names_are_told_apart(part: str, small_snapshot: Snapshot):
    state = small_snapshot.state

    assert has_same_names(state, dict(state))
    assert not has_same_names(state, {**state, part: {**state[part], "strange": {}}})


def test_a_lab_that_keeps_pictures_is_saved_with_them(tmp_path: Path) -> None:
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab.corrupt("tokyo", "page")
    lab.save(tmp_path / "kept.lab")
    opened = Lab.open(tmp_path / "kept.lab")

    assert opened._pictures is not None
    assert lab._pictures is not None
    assert list(opened._pictures.rows) == list(lab._pictures.rows)
    assert {row[0] for row in lab._pictures.rows} >= {"leaves", "mode", "reach", "damage", "commit"}
    assert opened.play().recording.trees == lab.play().recording.trees
    assert list(opened._pictures.requests.rows) == list(lab._pictures.requests.rows) != []
    earlier = {name: part for name, part in lab._pictures.state().items() if name != "requests"}
    judge_state({**lab.snapshot().state, "pictures": earlier})


@pytest.mark.parametrize(
    "record",
    [
        None,
        {"rows": ()},
        {"rows": [], "floors": {}, "reached": {}},
        {"rows": (5,), "floors": {}, "reached": {}},
        {"rows": (((),),), "floors": {}, "reached": {}},
        {"rows": ((("mode", 1, "paris"),),), "floors": {}, "reached": {}},
        {"rows": ((("other", 1, "paris"),),), "floors": {}, "reached": {}},
        {"rows": ((("reindex", "1", "paris"),),), "floors": {}, "reached": {}},
        {"rows": (), "requests": [], "floors": {}, "reached": {}},
        {"rows": (), "requests": ((5,),), "floors": {}, "reached": {}},
        {"rows": (), "requests": (((1, "shop-1", 2, 1),),), "floors": {}, "reached": {}},
        {"rows": (), "requests": (((1, "shop-1", 2, 1, b"path"),),), "floors": {}, "reached": {}},
    ],
)
def test_pictures_of_another_shape_are_refused(record: object) -> None:
    state = dict(Lab.pair(seed=7).snapshot().state)
    judge_state(state)
    with pytest.raises(LabFileError, match="pictures"):
        judge_state({**state, "pictures": record})
