"""Recorded answers of a real server, asked again in process and through a lab: all match but those on a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SIGNING_KEYS = "asymmetric key types are not there yet"
EXPORT = "export is not there yet"

LEFT_OUT = {
    "transit.export.ecdsa-p256": EXPORT,
    "transit.export.rsa-2048": EXPORT,
    "transit.key.ecdsa-p256": SIGNING_KEYS,
    "transit.key.ecdsa-p384": SIGNING_KEYS,
    "transit.key.rsa-4096": SIGNING_KEYS,
    "transit.roundtrip.rsa-2048": SIGNING_KEYS,
    "transit.sign-batch.ecdsa-p256": SIGNING_KEYS,
    "transit.sign-batch.ecdsa-p521": SIGNING_KEYS,
    "transit.sign-batch.rsa-2048": SIGNING_KEYS,
    "transit.sign.ecdsa-p384": SIGNING_KEYS,
    "transit.sign.ecdsa-p521": SIGNING_KEYS,
    "transit.sign.prehashed": SIGNING_KEYS,
    "transit.sign.rsa-2048": SIGNING_KEYS,
    "transit.sign.rsa-schemes": SIGNING_KEYS,
}
"""Cases that ask for parts of the transit engine which do not exist, with the part that is missing."""


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
