"""Obstacles: a caller without an answer hears which nodes do not serve, or which line is cut, and what to do."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.service.silence import Silence


def silence(lab: Lab, node: str = "") -> str:
    """Return what is said after the wait of a request that gets no answer."""
    with pytest.raises(Silence) as silent:
        lab["paris"].request("GET", "sys/health", node=node, timeout="1s")
    said, _, why = str(silent.value).partition(" of simulated time")
    assert said == "GET sys/health on paris: no answer within 1s"
    return why


def test_silence_says_that_a_cluster_is_down_and_what_it_says_to_do_helps(calm: Lab) -> None:
    calm.crash("paris")

    assert silence(calm) == ': every node of paris is down; lab.restart("paris"), then lab["paris"].unseal()'
    calm.restart("paris")
    assert silence(calm) == ': every node of paris is sealed; lab["paris"].unseal()'
    calm["paris"].unseal()
    assert calm["paris"].get("sys/health").ok


def test_silence_says_of_each_node_what_it_is_where_they_differ(calm: Lab) -> None:
    calm.crash("paris")
    calm.restart("paris-1")
    calm.pause("paris-1")

    assert silence(calm) == (
        ": no node of paris leads: paris-1 is paused, paris-2 is down, paris-3 is down; "
        'lab.restart("paris"), then lab.resume("paris"), then lab["paris"].unseal()'
    )


def test_silence_of_a_node_that_was_named_speaks_of_that_node(calm: Lab) -> None:
    calm.pause("paris-2")

    assert silence(calm, "paris-2") == ': paris-2 is paused; lab.resume("paris-2")'


def test_silence_where_a_node_leads_says_no_more(calm: Lab) -> None:
    """A message that is lost on the way to a node that serves is what silence is."""
    with pytest.raises(Silence) as silent:
        calm["paris"].request("GET", "sys/health", timeout="1us")

    assert str(silent.value) == "GET sys/health on paris: no answer within 1us of simulated time"


def test_a_runbook_that_ends_over_a_cut_line_names_the_line(calm: Lab) -> None:
    calm.partition("paris", "tokyo")
    with pytest.raises(RunbookError, match=r"; the line paris <> tokyo is cut; lab\.heal\(\)$"):
        calm.failover("paris", "tokyo")


def test_a_runbook_that_is_refused_at_once_names_no_line(calm: Lab) -> None:
    calm.partition("paris", "tokyo")
    with pytest.raises(RunbookError) as refused:
        calm.failover("tokyo", "paris")

    assert "cut" not in str(refused.value)
