"""Recorded answers of a real server, asked again in process and through a lab: all match but those on a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEFT_OUT: dict[str, str] = {}
"""Cases that ask for parts which do not exist, with the part that is missing."""


OTHERWISE_IN_A_LAB = {"core.seal-status": "a cluster of a lab is highly available, the recorded server was not"}


def test_the_answers_are_those_recorded(case: dict[str, Any], where: str, replay: Callable[[Any], Any]) -> None:
    verdict = replay(case)

    if case["id"] in LEFT_OUT or (where == "lab" and case["id"] in OTHERWISE_IN_A_LAB):
        assert verdict.hard, f"{case['id']} matches by now: take it off the list of those left out"
    else:
        assert verdict.hard == [], "\n".join(verdict.hard)


def test_only_recorded_cases_are_left_out(case_ids: list[str]) -> None:
    assert sorted(set(LEFT_OUT) - set(case_ids)) == []
    assert len(set(case_ids)) == len(case_ids) == 83
