"""Recorded answers of a real server, asked again in process and through a lab: all match but one in a lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DOORS = ("requests", "httpx", "hvac")
OTHERWISE_IN_A_LAB = {"core.seal-status": "a cluster of a lab is highly available, the recorded server was not"}


def test_the_answers_are_those_recorded(case: dict[str, Any], where: str, replay: Callable[[Any], Any]) -> None:
    verdict = replay(case)

    if where == "lab" and case["id"] in OTHERWISE_IN_A_LAB:
        assert verdict.hard, f"{case['id']} matches by now: take it off the list of those that differ"
    else:
        assert verdict.hard == [], "\n".join(verdict.hard)


@pytest.mark.parametrize("door", ["served", *(pytest.param(name, marks=pytest.mark.slow) for name in DOORS)])
def test_a_cluster_of_a_lab_answers_the_same_behind_each_door(
    cases: list[dict[str, Any]], replay_in_labs: Callable[[Any], Any]
) -> None:
    for case in cases:
        differs = case["id"] in OTHERWISE_IN_A_LAB
        verdict = replay_in_labs(case)
        assert bool(verdict.hard) == differs, f"{case['id']}: {verdict.hard}"


def test_every_recorded_case_is_asked_once(case_ids: list[str]) -> None:
    assert sorted(set(OTHERWISE_IN_A_LAB) - set(case_ids)) == []
    assert len(set(case_ids)) == len(case_ids) == 83
