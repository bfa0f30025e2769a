"""Silence and a dropped connection: a caller that waits for either catches both as a TimeoutError."""

from __future__ import annotations

import pytest

from labkit import Lab, Vault
from labkit.service.silence import Dropped, Silence


def test_a_lost_answer_is_silence_wherever_it_was_lost() -> None:
    lab, vault = Lab.pair(seed=7), Vault.dev(seed=7)
    lab.crash("paris")
    vault.drop_next()

    with pytest.raises(Silence, match="no answer within") as silent:
        lab["paris"].get("sys/health", timeout="1s")
    with pytest.raises(Silence, match="without an answer") as dropped:
        vault.get("sys/health")
    assert [type(caught.value) for caught in (silent, dropped)] == [Silence, Dropped]
    assert isinstance(dropped.value, TimeoutError)
