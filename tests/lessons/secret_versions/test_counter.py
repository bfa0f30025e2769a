"""Exercise counter: other writers come in where it hurts, and a function that goes on and on is stopped."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.secret_versions.counter import (
    COUNT,
    MAX_REQUESTS,
    BusyVault,
    TooManyRequests,
    look,
    play,
    until_it_passes,
    untouched,
)


def test_others_come_in_after_reads_as_often_as_wanted():
    vault = Vault.dev(seed=1)
    vault.post(COUNT, {"data": {"n": 40}})
    busy = BusyVault(vault, 2)

    assert [busy.get(COUNT).data["data"]["n"] for _ in range(4)] == [40, 41, 42, 42]


def test_a_careful_function_counts_everybody():
    assert [(one.count, one.wanted, one.error) for one in look(until_it_passes)] == [
        (41, 41, ""),
        (42, 42, ""),
        (43, 43, ""),
    ]


def test_a_function_without_an_end_is_stopped():
    busy = BusyVault(Vault.dev(seed=1), 0)
    for _ in range(MAX_REQUESTS):
        busy.get("sys/health")
    with pytest.raises(TooManyRequests):
        busy.get("sys/health")
    assert "100 requests were not enough" in play(lambda vault: [vault.get(COUNT) for _ in range(101)], 0).error


def test_what_a_function_raises_is_its_own_answer():
    assert play(lambda vault: [].pop(), 0).error == "IndexError: pop from empty list"
    assert not untouched(until_it_passes)
    assert untouched(lambda vault: None)


def test_a_secret_that_is_gone_has_no_count():
    assert play(lambda vault: vault.delete(COUNT), 0).count is None
