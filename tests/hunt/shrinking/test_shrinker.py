"""Shrinker: one candidate is played once, and what is left needs all that it has."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.hunt.findings import Signature, signature_of
from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import shrinker as module
from labkit.hunt.shrinking.failing_run import FailingRun, failing_run
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.hunt.shrinking.steps import without
from labkit.hunt.world import read, world_of
from labkit.hunt.writing import written
from labkit.lab.plan.blueprint import pair, triangle

SPLIT = Signature("one primary", "operator", "request", ("survivor",))
TIMELINE: list[dict[str, Any]] = [
    {"do": "replicate", "primary": "paris", "secondary": "lima", "at": "1s"},
    {"do": "enable-primary", "cluster": "paris", "fails": "maybe"},
    {"do": "pause", "target": "tokyo-1", "after": "500ms"},
    {"do": "promote", "cluster": "lima", "after": "1234ms", "force": True},
    {"do": "crash", "target": "tokyo", "after": "9s"},
]
DATA = {"scenario": "x", "seed": 47, "lab": lab_data(triangle()), "timeline": TIMELINE}


def test_all_that_is_not_needed_goes(monkeypatch: pytest.MonkeyPatch):
    played: list[str] = []

    def counted(data: dict[str, Any], signature: Signature, *, strict: bool = True) -> FailingRun | None:
        found = failing_run(data, signature, strict=strict)
        played.append(f"{strict} {written(data)}")
        return found

    monkeypatch.setattr(module, "failing_run", counted)
    shrinker = Shrinker(DATA, SPLIT)

    assert shrinker.shrink()
    assert written(shrinker.best) == (
        "scenario: x\n"
        "seed: 0\n"
        "lab:\n"
        "  sites: [paris, tokyo]\n"
        "  links:\n"
        "    - {between: [paris, tokyo], latency: 80ms}\n"
        "  clusters:\n"
        "    paris: {site: paris, nodes: 1}\n"
        "    tokyo: {site: tokyo, nodes: 1}\n"
        "timeline:\n"
        "  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
        "  - {do: promote, cluster: tokyo, after: 1s}\n"
    )
    assert len(played) == len(set(played)) == shrinker.runs
    assert DATA["timeline"] is TIMELINE


def test_what_does_not_break_stays_as_it_is():
    shrinker = Shrinker({**DATA, "timeline": TIMELINE[:3]}, SPLIT)

    assert not shrinker.shrink()
    assert shrinker.best["timeline"] == TIMELINE[:3]
    assert shrinker.runs == 1


def test_between_the_steps_that_are_needed_many_go_at_once(monkeypatch: pytest.MonkeyPatch):
    many = [{"do": "pause", "target": "tokyo-1", "at": f"{second}s"} for second in range(5, 37)]

    def played(data: dict[str, Any], signature: Signature, *, strict: bool = True) -> FailingRun | None:
        return FailingRun(40_000_000_000, None) if {5, 20} <= seconds(data) else None

    monkeypatch.setattr(module, "failing_run", played)
    shrinker = Shrinker({**DATA, "timeline": many}, SPLIT)
    shrinker._needed()

    assert seconds(shrinker.best) == {5, 20}
    assert shrinker.runs < len(many)


def seconds(data: dict[str, Any]) -> set[int]:
    return {int(step["at"].removesuffix("s")) for step in data["timeline"]}


def test_what_is_refused_without_a_step_goes_with_it():
    timeline = [
        {"do": "replicate", "primary": "paris", "secondary": "lima", "at": "1s"},
        {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "4s"},
        {"do": "reindex", "cluster": "tokyo", "at": "8s"},
        {"do": "restart", "target": "tokyo", "at": "9s"},
        {"do": "promote", "cluster": "lima", "at": "10s"},
    ]
    shrinker = Shrinker({**DATA, "timeline": timeline}, SPLIT)

    assert not shrinker.leave_out(without((0,)))
    assert shrinker.leave_out(without((1,)))
    assert shrinker.best["timeline"] == [timeline[0], timeline[4]]
    assert shrinker.runs == 3


def test_what_cannot_be_a_file_is_no_run():
    shrinker = Shrinker({**DATA, "timeline": [{"do": "nothing of the kind"}]}, SPLIT)

    assert not shrinker.shrink()
    assert shrinker.runs == 0


def test_around_a_step_that_is_needed_though_it_is_refused_others_go():
    lab = lab_data(pair())
    timeline = [
        {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"},
        {"do": "reindex", "cluster": "tokyo", "at": "8s", "fails": "maybe"},
        {"do": "crash-in-commit", "target": "paris", "at": "10s"},
        {"do": "ask", "cluster": "paris", "method": "POST", "path": "auth/token/create", "at": "11s", "fails": "maybe"},
    ]
    data = {"scenario": "x", "seed": 0, "lab": lab, "timeline": timeline, "end": "60s"}
    data["always"] = [{"name": "none waits", "in doubt": 0, "from": "55s"}]
    world = world_of(read(data)).run("60s")
    shrinker = Shrinker(data, signature_of(world, world.invariants.broken["none waits"]))

    assert shrinker.shrink()
    assert [step["do"] for step in shrinker.best["timeline"]] == ["replicate", "crash-in-commit", "ask"]


def test_a_candidate_that_is_a_file_only_while_its_steps_may_be_refused_does_not_break():
    timeline = [
        {"do": "replicate", "primary": "paris", "secondary": "lima", "at": "1s"},
        {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "4s"},
        {"do": "repoint", "cluster": "tokyo", "to": "paris", "at": "8s"},
        {"do": "promote", "cluster": "lima", "at": "20s"},
    ]
    shrinker = Shrinker({**DATA, "timeline": timeline}, SPLIT)

    assert shrinker.leave_out(without((1,)))
    assert [step["do"] for step in shrinker.best["timeline"]] == ["replicate", "promote"]
