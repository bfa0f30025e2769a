"""Recorded answers of a real server, asked again in process and through a lab: all match but those named here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DOORS = ("requests", "httpx", "hvac")
NAMED = "a host of a lab has a name for an address: it is in no block"
OTHERWISE_IN_A_LAB = {
    "core.seal-status": "a cluster of a lab is highly available, the recorded server was not",
    "logins.approle.secret-id.cidrs": NAMED,
    "logins.userpass.user.every-field": NAMED,
    "logins.userpass.user.old-names": NAMED,
}
NO_SLASH = "hvac leaves a slash at the end of a path out: what is asked there is not sent"
OTHERWISE_BY_HVAC = {
    "logins.approle.secret-id.destroy": NO_SLASH,
    "logins.userpass.user.crud": NO_SLASH,
    "logins.userpass.login.wrong": NO_SLASH,
    "logins.userpass.lockout.refused": NO_SLASH,
}


def test_the_answers_are_those_recorded(case: dict[str, Any], where: str, replay: Callable[[Any], Any]) -> None:
    verdict = replay(case)

    if case["id"] in {"lab": OTHERWISE_IN_A_LAB, "hvac": OTHERWISE_BY_HVAC}.get(where, ()):
        assert verdict.hard, f"{case['id']} matches by now: take it off the list of those that differ"
    else:
        assert verdict.hard == [], "\n".join(verdict.hard)


@pytest.mark.parametrize("door", ["served", *(pytest.param(name, marks=pytest.mark.slow) for name in DOORS)])
@pytest.mark.slow
def test_a_cluster_of_a_lab_answers_the_same_behind_each_door(
    door: str, cases: list[dict[str, Any]], replay_in_labs: Callable[[Any], Any]
) -> None:
    otherwise = OTHERWISE_IN_A_LAB | (OTHERWISE_BY_HVAC if door == "hvac" else {})
    for case in cases:
        verdict = replay_in_labs(case)
        assert bool(verdict.hard) == (case["id"] in otherwise), f"{case['id']}: {verdict.hard}"


def test_every_recorded_case_is_asked_once(case_ids: list[str]) -> None:
    assert sorted({*OTHERWISE_IN_A_LAB, *OTHERWISE_BY_HVAC} - set(case_ids)) == []
    assert len(set(case_ids)) == len(case_ids) == 127
