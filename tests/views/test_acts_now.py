"""Acts now: what makes sense in a lab as it is; each rule is shown both ways."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.scenario.acts import ACTS
from labkit.views.acts_now import RULES, acts_now


@pytest.fixture
def lab() -> Lab:
    """Two clusters that do not replicate yet."""
    return Lab.pair(seed=7)


def why_not(lab: Lab, verb: str) -> str:
    return acts_now(lab.queries)[verb].why_not


def test_every_rule_is_of_a_verb_and_its_parameters() -> None:
    for verb, rules in RULES.items():
        assert {rule[0] for rule in rules} <= {parameter.name for parameter in ACTS[verb].parameters}, verb
    assert {"heal", "restore", "steady"} <= ACTS.keys()


def test_roles_say_who_can_be_promoted_demoted_and_replicated(lab: Lab) -> None:
    assert why_not(lab, "promote") == "no cluster is a secondary"
    assert why_not(lab, "demote") == "no cluster is a primary"
    assert acts_now(lab.queries)["replicate"].choices == {
        "primary": ["paris", "tokyo"],
        "secondary": ["paris", "tokyo"],
    }
    lab.replicate("paris", "tokyo")
    found = acts_now(lab.queries)
    assert found["promote"] == ("", {"cluster": ["tokyo"]})
    assert found["demote"] == ("", {"cluster": ["paris"]})
    assert found["failover"] == ("", {"old": ["paris"], "new": ["tokyo"]})
    assert found["replicate"].why_not == "every cluster replicates already or has no leader"
    lab.crash("paris")
    assert acts_now(lab.queries)["demote"].why_not == "no cluster is a primary"


def test_nodes_say_what_can_be_crashed_restarted_paused_and_unsealed(lab: Lab) -> None:
    idle = ("restart", "resume", "unseal", "correct", "expose", "heal", "restore", "steady")
    assert all(why_not(lab, verb) for verb in idle)
    lab.crash("paris-2")
    lab.pause("tokyo-1")
    lab.skew("tokyo-2", "5s")
    found = acts_now(lab.queries)
    assert found["restart"] == ("", {"target": ["paris", "paris-2"]})
    assert found["resume"] == ("", {"target": ["tokyo", "tokyo-1"]})
    assert found["correct"] == ("", {"target": ["tokyo", "tokyo-2"]})
    assert "paris-2" not in found["crash"].choices["target"]
    lab.restart("paris-2")
    assert acts_now(lab.queries)["unseal"] == ("", {"cluster": ["paris"]})
    lab.impersonate("tokyo-3")
    assert acts_now(lab.queries)["expose"].choices == {"target": ["tokyo", "tokyo-3"]}


def test_lines_say_what_can_be_undone(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    assert (why_not(lab, "heal"), bool(why_not(lab, "restore"))) == ("", True)
    lab.heal()
    lab.slow("paris", "tokyo", factor=3)
    assert (bool(why_not(lab, "heal")), why_not(lab, "restore")) == (True, "")
    lab.flap("paris", "tokyo", "1s", "1s")
    assert why_not(lab, "steady") == ""


def test_looking_changes_nothing(lab: Lab) -> None:
    before = lab.trace.digest()
    acts_now(lab.queries)
    assert lab.trace.digest() == before
