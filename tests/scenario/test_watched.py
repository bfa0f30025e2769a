"""A lab watches conditions of scenario files; they go on in what its snapshots and branches become."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from labkit import Lab

SHORT = {"lag": {"at most": 2}, "connections": {"tokyo": "ready"}}


@pytest.fixture
def lab() -> Lab:
    """A pair that replicates, with a condition that holds."""
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab.watch("short lag", SHORT)
    lab.watch("no old lag", {"lag time": {"at most": "5s"}})
    return lab


def cut(lab: Lab) -> dict[str, str]:
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.run("20s")
    return {name: violation.detail for name, violation in lab.invariants.broken.items()}


def test_a_condition_is_watched_in_what_a_snapshot_or_a_branch_becomes(lab: Lab) -> None:
    labs = [Lab.restore(pickle.loads(pickle.dumps(lab.snapshot()))), lab.branch("what-if"), lab]

    for one in labs:
        assert one.invariants.verdicts()["short lag"] is None
        assert cut(one) == {
            "short lag": "connection of tokyo: transient_failure",
            "no old lag": "lag time: tokyo: 5.1s",
        }
        assert "the line paris <> tokyo is cut" in str(one.why("short lag"))


def test_a_condition_holds_from_when_it_is_watched_on(lab: Lab) -> None:
    lab.watch("wrong by now", {"modes": {"paris": "secondary"}})
    lab.watch("not known", {"rto": "1s"})

    assert lab.invariants.broken["wrong by now"].at_ns == lab.now
    assert lab.invariants.applies("wrong by now")
    assert not lab.invariants.applies("not known")
    assert lab.invariants.applies("short lag")


def test_keys_that_differ_are_judged_when_the_lab_stands_still(lab: Lab) -> None:
    lab.watch("same keys", {"differing": 0})
    assert not lab.invariants.applies("same keys")
    cut(lab)

    assert lab.invariants.broken["same keys"].detail == "keys that differ: 2"


def test_a_rule_of_the_same_name_takes_the_place_of_the_other(lab: Lab) -> None:
    lab.watch("short lag", lambda lab: True)
    assert lab.snapshot().state["conditions"][0][0] == "no old lag"
    lab.watch("no old lag", {"lag": 0})
    lab.watch("short lag", {"lag": {"at most": 1}})

    assert list(cut(lab)) == ["no old lag"]
    assert len(lab.invariants.followers) == 2
    assert lab.invariants.watched == {}


def test_an_instant_that_is_gone_back_to_has_its_conditions() -> None:
    lab = Lab(Lab.pair().blueprint, 7)
    lab.run("1s")
    lab.watch("never secondary", {"modes": {"tokyo": "disabled"}})
    lab.run("5s")
    back = lab.at("3s")

    back.replicate("paris", "tokyo")
    assert "never secondary" in back.invariants.broken
    assert lab.trace.digest() == lab.at("6s").trace.digest()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lagg": 1}, "expected a key, got 'lagg' — did you mean 'lag'?"),
        ({}, r"expected a condition such as \{connections: \{tokyo: ready\}\}"),
        ({"lag": {"at mots": 3}}, "expected a key, got 'at mots' — did you mean 'at most'?"),
        ({"lag time": 5}, "^lag time: expected a duration with its unit such as 5s or 5ms, got 5"),
        ({"modes": {"rome": "primary"}}, "expected a cluster, got 'rome'; there are: paris, tokyo"),
        ({"modes": {"paris": "prim"}}, "modes: paris: expected a mode, got 'prim' — did you mean 'primary'?"),
        ("lag 0", "check: expected a function of the lab, or a condition such as"),
    ],
)
def test_what_is_wrong_with_a_condition_is_said(lab: Lab, given: Any, said: str) -> None:
    before = lab.snapshot().state
    with pytest.raises(ValueError, match=said):
        lab.watch("new", given)

    assert lab.snapshot().state == before


def test_a_condition_has_a_name_of_its_own(lab: Lab) -> None:
    with pytest.raises(ValueError, match="expected another name than that of a rule of each lab"):
        lab.watch("one primary", SHORT)
    with pytest.raises(ValueError, match="expected another name than that of a rule of each lab"):
        lab.watch("one primary", lambda lab: True)
