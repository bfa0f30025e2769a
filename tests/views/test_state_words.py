"""State words: every state of replication has its words, and details are in the units of people."""

from __future__ import annotations

import pytest

from labkit.vault.replication.state import TRANSITIONS
from labkit.views.state_words import NO_ACTIVE_NODE, STATES, detail_in_words, in_words, out_of_service


def test_every_state_has_words() -> None:
    assert set(TRANSITIONS) <= set(STATES)


@pytest.mark.parametrize(
    ("mode", "state", "words"),
    [
        ("secondary", "stream-wals", "secondary, streaming"),
        ("secondary", "merkle-sync", "secondary, fetching keys"),
        ("primary", "running", "primary"),
        ("disabled", "", "not replicating"),
        ("secondary", "unheard-of", "secondary, unheard-of"),
    ],
)
def test_modes_and_states(mode: str, state: str, words: str) -> None:
    assert in_words(mode, state) == words


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ("200000 ppm", "20 %"),
        ("100 ppm", "0.01 %"),
        ("constant(50000000 ns)", "50 ms"),
        ("uniform(1000000 ns, 2500000 ns)", "uniform(1 ms, 2.5 ms)"),
        ("factor 4", "factor 4"),
        ("", ""),
    ],
)
def test_details(detail: str, words: str) -> None:
    assert detail_in_words(detail) == words


def test_a_cluster_whose_nodes_stand_by_is_not_down() -> None:
    assert out_of_service("down", NO_ACTIVE_NODE) == (NO_ACTIVE_NODE, "its nodes stand by")
    assert out_of_service("down", "1 node down") == ("down", "1 node down")
    assert out_of_service("sealed", "3 nodes sealed") == ("sealed", "3 nodes sealed")
