"""State shape: the parts of a state, each there and of its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.front.lab_file import state_shape
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.lab_file import LabFile, packed, unpacked
from labkit.front.lab_file.state_shape import BY_NAME, StateShape, has_same_names, judge_plans, judge_state, judge_uses
from labkit.lab.plan.blueprint import BalancerPlan, Blueprint, ClientPlan, ClusterPlan, NodeSettings
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


ONE = ClusterPlan(name="one", site="here", nodes=1)
GROUP = ClientPlan(name="shop", site="here", use=("one",))
FRONT = BalancerPlan(name="front", site="here", use=("one",))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clusters": (replace(ONE, nodes=10**9),)}, "expected the nodes of its blueprint, 1000000000, got 1"),
        ({"clusters": (replace(ONE, nodes=10**9), replace(ONE, nodes=2 - 10**9))}, "the nodes of its blueprint, 2, go"),
        ({"clusters": (replace(ONE, nodes=10**9), replace(ONE, nodes=1 - 10**9))}, "the nodes of its blueprint, 1, go"),
        ({"clusters": ()}, "expected the nodes of its blueprint, 0, got 1"),
        ({"clients": (replace(GROUP, count=10**9),)}, "expected the clients of its blueprint, 1000000000, got 0"),
        ({"clients": (GROUP, replace(GROUP, count=-1))}, "expected the clients of its blueprint, 0, got 0"),
        ({"balancers": (FRONT,)}, "expected the balancers of its blueprint, 1, got 0"),
        ({"sites": ("here", "there\x1b")}, "expected sites of its network, got 'there·'"),
    ],
)
def test_a_blueprint_plans_the_hosts_that_the_state_has(
    changes: dict[str, Any], says: str, small_snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
):
    judge_plans(small_snapshot.blueprint, small_snapshot.state)
    for plan in (ClusterPlan, ClientPlan):  # no name is made to find out
        monkeypatch.delattr(plan, "node_names" if plan is ClusterPlan else "names")
    with pytest.raises(LabFileError, match=says):
        judge_plans(replace(small_snapshot.blueprint, **changes), small_snapshot.state)


def test_what_clients_and_balancers_use_has_a_bound(small_snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch):
    own = (NodeSettings(name="one-1"),)
    blueprint = replace(small_snapshot.blueprint, clients=(GROUP,), balancers=(replace(FRONT, use=("one", "one")),))
    monkeypatch.setattr(state_shape, "MAX_USED_NODES", 3)
    judge_uses(blueprint)
    for more in ({"clients": (GROUP, GROUP)}, {"clusters": (replace(ONE, each=own),)}):
        changed: Blueprint = replace(blueprint, **more)
        with pytest.raises(LabFileError, match="at most 3 nodes in what clients and load balancers use"):
            judge_uses(changed)
        with pytest.raises(LabFileError, match="at most 3 nodes in what clients and load balancers use"):
            packed(LabFile(snapshot=replace(small_snapshot, blueprint=changed)))


def hostile(snapshot: Snapshot, **plans: Any) -> bytes:
    """The bytes of a file whose blueprint plans something else than its state has."""
    return packed(LabFile(snapshot=replace(snapshot, blueprint=replace(snapshot.blueprint, **plans))))


@pytest.mark.parametrize(
    "plans", [{"clusters": (replace(ONE, nodes=10**9),)}, {"clients": (replace(GROUP, count=10**9),)}]
)
def test_a_file_that_plans_more_than_it_holds_is_refused_before_anything_is_built(
    plans: dict[str, Any], small_snapshot: Snapshot
):
    with pytest.raises(LabFileError, match="of its blueprint, 1000000000, got"):
        unpacked(hostile(small_snapshot, **plans))


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
