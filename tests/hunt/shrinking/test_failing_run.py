"""Failing run: what breaks in the same way, under the strict rule or without it."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.hunt.findings import EXCEPTION, Signature
from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import failing_run as module
from labkit.hunt.shrinking.failing_run import failing_run
from labkit.hunt.world import World
from labkit.lab.plan.blueprint import pair
from labkit.scenario.problems import ScenarioError

REPLICATE = {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"}
PROMOTE = {"do": "promote", "cluster": "tokyo", "after": "1s"}
SPLIT = Signature("one primary", "operator", "request", ("survivor",))


def data(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": [REPLICATE, *steps]}


def test_a_run_stops_where_it_breaks():
    found = failing_run(data(PROMOTE, {"do": "wait", "for": "1h"}), SPLIT)

    assert found is not None
    assert found.world is not None
    assert found.at_ns == found.world.now < 10_000_000_000


def test_another_signature_is_another_failure():
    assert failing_run(data(PROMOTE), SPLIT._replace(roles=("primary",))) is None
    assert failing_run(data(PROMOTE), SPLIT._replace(rule="loss within lag")) is None
    assert failing_run(data(), SPLIT) is None


def test_a_refused_step_counts_only_without_the_strict_rule():
    refused = {"do": "demote", "cluster": "tokyo", "fails": True}
    loose = {"do": "demote", "cluster": "tokyo", "after": "1s"}

    assert failing_run(data(refused, PROMOTE), SPLIT) is not None
    assert failing_run(data({**loose, "fails": "maybe"}, PROMOTE), SPLIT, strict=False) is not None
    assert failing_run(data({"do": "ask", "cluster": "paris", "method": "GET", "path": "no"}, PROMOTE), SPLIT) is None


def test_a_step_that_begins_late_is_not_as_written():
    late = {"do": "promote", "cluster": "tokyo", "at": "2s"}  # replicate takes until 2.5 s

    assert failing_run(data(late), SPLIT) is None
    assert failing_run(data(late), SPLIT, strict=False) is not None


def test_what_cannot_be_a_file_is_not_played():
    with pytest.raises(ScenarioError):
        failing_run({"scenario": "x"}, SPLIT)


def test_a_lab_that_cannot_be_built_is_an_exception_of_labkit(monkeypatch: pytest.MonkeyPatch):
    def build(*_: object) -> World:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(module, "world_of", build)

    assert failing_run(data(), Signature(EXCEPTION, "ZeroDivisionError", "failing_run.failing_run")) == (0, None)
    assert failing_run(data(), SPLIT) is None
