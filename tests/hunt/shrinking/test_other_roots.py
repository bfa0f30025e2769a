"""Other roots: what had no effect is left out, and the signature is that of what is left."""

from __future__ import annotations

import pytest

from labkit.hunt.shrinking.other_roots import without_idle_faults
from labkit.hunt.world import World
from labkit.lab.invariants import ONE_PRIMARY
from tests.hunt.shrinking.edits import Data, data

PROMOTE = {"do": "promote", "cluster": "tokyo", "force": True, "at": "5s"}
IDLE = {"do": "restart", "target": "paris-2", "at": "4s"}
SPLIT = {**data(IDLE, PROMOTE), "end": "8s"}


def test_a_fault_without_effect_is_left_out_and_the_root_is_seen_without_it():
    found = without_idle_faults(SPLIT, ONE_PRIMARY)

    assert found is not None
    left, signature = found
    assert [step["do"] for step in left["timeline"]] == ["replicate", "promote"]
    assert (signature.rule, signature.roles) == (ONE_PRIMARY, ("survivor",))


@pytest.mark.parametrize(
    ("start", "rule"),
    [
        ({**SPLIT, "timeline": [*data(PROMOTE)["timeline"]]}, ONE_PRIMARY),  # all had an effect
        (SPLIT, "roots equal at rest"),  # it holds
        ({**SPLIT, "timeline": [*SPLIT["timeline"], {"do": "note", "text": "x", "after": {"step": 3}}]}, ONE_PRIMARY),
    ],
)
def test_where_that_does_not_help_nothing_is_returned(start: Data, rule: str):
    assert without_idle_faults(start, rule) is None


def test_where_labkit_raises_nothing_is_returned(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(World, "run", lambda self, **_: 1 // 0)

    assert without_idle_faults(SPLIT, ONE_PRIMARY) is None
