"""Surviving tokens: counted at the promotion from both stores, and those that had been ended are named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.records.surviving_tokens import TokenSurvival, survival, valid_tokens
from labkit.vault.token_record import Token, encode_token


def test_counts():
    before, after = {"a": True, "b": True, "c": False}, dict.fromkeys("bcde", True)
    assert survival(before, after) == (3, 2, 1, 2, 2, 1)
    assert survival({}, {}) == (0, 0, 0, 0, 0, 0)


def token(lab: Lab, ttl: str = "1h", **more) -> str:
    return lab["paris"].post("auth/token/create", {"ttl": ttl, **more}).auth["client_token"]


def test_valid_is_what_has_not_expired_and_has_uses_left(calm):
    core = calm.parts.nodes[calm["paris"].active].core
    store = calm.parts.stores["paris"]
    begun = len(valid_tokens(store, core))
    token(calm, "2s")
    token(calm)
    calm["paris"].post("auth/token/create", {"type": "batch", "ttl": "1h"})
    assert len(valid_tokens(store, core)) == begun + 2
    calm.pause("paris")  # nobody ends what expires
    calm.run("3s")
    assert len(valid_tokens(store, core)) == begun + 1


def drill(lab: Lab, promote: str) -> TokenSurvival:
    """Two tokens known to both, one issued and one revoked while nothing passes, one that expires meanwhile."""
    kept, ended = token(lab), token(lab)
    token(lab, "3s")
    lab.run("1s")
    if promote == "forced":
        lab.partition("paris", "tokyo")
        lab.run("100ms")
        token(lab)
        lab["paris"].post("auth/token/revoke", {"token": ended})
        lab.run("3s")
        lab.crash("paris")
        lab["tokyo"].promote(force=True)
    else:
        lab["paris"].post("auth/token/revoke", {"token": ended})
        lab.run("3s")
        lab.failover("paris", "tokyo")
    found = lab.ledger.tokens[-1]
    looked_up = [lab["tokyo"].get("auth/token/lookup-self", token=each).status for each in (kept, ended)]
    assert looked_up == [200, 200 if promote == "forced" else 403]
    return found


def test_a_forced_promotion_loses_what_had_not_arrived_and_revives_what_was_ended(calm):
    found = drill(calm, "forced")
    assert found[1:] == ("tokyo", "paris", False, 3, 2, 1, 1, 2, 1), "root, kept, the new one; of these root and kept"
    assert found.at_ns == calm.ledger.promotions[-1].at_ns


def test_a_planned_failover_loses_none(calm):
    found = drill(calm, "planned")
    assert (found.planned, found.lost, found.valid_again) == (True, 0, 0)
    assert found.survived == found.valid_before == 2
    assert found.leases_survived == found.leases_before == 1


def test_it_is_kept_when_a_lab_is_saved(calm):
    calm.crash("paris")
    calm["tokyo"].promote()
    assert Lab.restore(calm.snapshot()).ledger.tokens == calm.ledger.tokens != []


@pytest.mark.parametrize(("uses", "expires_ns", "valid"), [(0, 0, 1), (2, 0, 1), (-1, 0, 0), (0, 10, 0), (0, 11, 1)])
def test_a_token_with_no_uses_left_or_expired_is_not_valid(uses, expires_ns, valid):
    stored = encode_token(Token("a", (), "p", "d", uses=uses, expires_ns=expires_ns))
    store: Any = SimpleNamespace(list=lambda prefix: ["a"], get=lambda key: stored)
    core: Any = SimpleNamespace(now=lambda: 10, keys=SimpleNamespace(decrypt=lambda key, value: value))
    assert len(valid_tokens(store, core)) == valid


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, None])
def test_a_record_that_does_not_open_is_not_valid(calm, damage):
    core = calm.parts.nodes[calm["paris"].active].core

    store: Any = SimpleNamespace(list=lambda prefix: ["a"], get=lambda key: damage)
    assert valid_tokens(store, core) == {}
