"""Surviving tokens: a promotion that loses, refuses or cannot read what the secondary held is found."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import SURVIVING_TOKENS
from labkit.vault import token_record, tokens
from labkit.vault.replication import index_state


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[SURVIVING_TOKENS]
    return "" if violation is None else violation.detail


@pytest.fixture(scope="module")
def issued_snapshot():
    """The pair, replicating, with tokens that expire, count, hang from one another."""
    lab = Lab.pair(seed=7)
    paris, texts = lab["paris"], {}
    bodies: dict[str, dict[str, Any]] = {
        "long": {"ttl": "1h"},
        "short": {"ttl": "20s"},
        "counted": {"ttl": "1h", "num_uses": 3},
        "last": {"ttl": "1h", "num_uses": 1},
        "parent": {"ttl": "30s", "policies": ["root"]},
    }
    for name, body in bodies.items():
        texts[name] = paris.post("auth/token/create", body).auth["client_token"]
    texts["child"] = paris.post("auth/token/create", {"ttl": "1h"}, token=texts["parent"]).auth["client_token"]
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    return lab.snapshot(), texts


@pytest.fixture
def issued(issued_snapshot):
    """That lab, and its tokens."""
    snapshot, texts = issued_snapshot
    return Lab.restore(snapshot), texts


def test_it_applies_after_a_promotion_and_holds_while_tokens_expire_and_are_revoked(issued):
    lab, texts = issued
    assert not lab.invariants.applies(SURVIVING_TOKENS)
    lab.failover("paris", "tokyo")
    assert lab.invariants.applies(SURVIVING_TOKENS)
    for name in ("last", *["counted"] * 3):
        lab["tokyo"].get("auth/token/lookup-self", token=texts[name])
    lab["tokyo"].post("auth/token/revoke", {"token": texts["long"]}).raise_for_status()
    lab.run("1m")
    answers = {name: lab["tokyo"].get("auth/token/lookup-self", token=text).status for name, text in texts.items()}

    assert set(answers.values()) == {403}, "all are over by now"
    assert not found(lab)


def test_the_last_use_of_a_token_that_a_promoted_cluster_held_ends_it(issued):
    lab, texts = issued
    lab.failover("paris", "tokyo")
    lab["tokyo"].get("auth/token/lookup-self", token=texts["last"])
    lab.run("1s")

    assert lab["tokyo"].get("auth/token/lookup-self", token=texts["last"]).status == 403
    assert not found(lab)


def test_every_token_that_lives_on_is_accepted(issued):
    lab, texts = issued
    lab.crash("paris")
    lab["tokyo"].promote()
    answers = {name: lab["tokyo"].get("auth/token/lookup-self", token=text).status for name, text in texts.items()}

    assert answers == dict.fromkeys(texts, 200)


def test_a_promotion_that_deletes_tokens_is_found(issued, monkeypatch):
    lab, texts = issued
    inherit, key = index_state.inherit, token_record.IDS + token_record.digest_of(texts["long"])

    def forgetful(ctx):
        inherit(ctx)
        ctx.write(key, None)

    monkeypatch.setattr(index_state, "inherit", forgetful)
    lab["tokyo"].promote(force=True)

    assert found(lab) == f"tokyo is a secondary and deleted {key}"


def test_a_token_that_is_deleted_too_early_afterwards_is_found(issued):
    lab, texts = issued
    lab.failover("paris", "tokyo")
    key = token_record.IDS + token_record.digest_of(texts["long"])
    node = lab.parts.nodes[lab["tokyo"].active]
    node.core.commit({key: None})
    node.after_step()

    assert found(lab) == f"tokyo deleted {key}, which it held when it was promoted, before it expired"


def test_a_token_that_is_refused_afterwards_is_found(issued, monkeypatch):
    lab, texts = issued
    lab.failover("paris", "tokyo")
    find = tokens.find
    monkeypatch.setattr(tokens, "find", lambda ctx, text: None if text == texts["long"] else find(ctx, text))
    assert lab["tokyo"].get("auth/token/lookup-self", token=texts["long"]).status == 403

    assert found(lab) == f"{lab['tokyo'].active} of tokyo refused a token that tokyo held when it was promoted"
    assert texts["long"] not in found(lab)


@pytest.mark.parametrize("on_purpose", [True, False])
def test_a_record_that_does_not_open_is_found_unless_it_was_damaged_on_purpose(issued, on_purpose):
    lab, texts = issued
    key = token_record.IDS + token_record.digest_of(texts["long"])
    if on_purpose:
        lab.corrupt("tokyo", layer="storage", key=key)
    else:
        lab.parts.stores["tokyo"].apply({key: b"altered"}, 1 << 40)
    lab.crash("paris")
    lab["tokyo"].promote()

    assert found(lab) == ("" if on_purpose else f"a token that tokyo held when it was promoted does not open: {key}")


def test_what_is_noted_is_saved(issued):
    lab, _ = issued
    lab.failover("paris", "tokyo")

    assert Lab.restore(lab.snapshot()).invariants.state() == lab.invariants.state()


@pytest.mark.parametrize("header", ["X-Vault-Token", "Authorization"])
@pytest.mark.parametrize("text", ["\ud800", "", "Bearer", "Bearer \ud800", "x" * 5_000, "hvs.\x00"])
def test_what_is_not_a_token_is_refused_and_ends_no_lab(issued, header, text):
    lab, _ = issued
    lab.failover("paris", "tokyo")
    answer = lab["tokyo"].request("GET", "/v1/auth/token/lookup-self", headers={header: text})

    assert answer.status in (400, 403)
    assert not found(lab)


def test_a_token_of_a_namespace_that_is_refused_elsewhere_is_not_held_against_the_survivor(calm):
    calm["paris"].post("sys/namespaces/team", {}).raise_for_status()
    made = calm["paris"].request(
        "POST", "/v1/team/auth/token/create", headers={"X-Vault-Token": calm["paris"].root_token}, json={"ttl": "1h"}
    )
    calm.run("1s")
    calm.failover("paris", "tokyo")
    calm["tokyo"].request("DELETE", "/v1/sys/namespaces/team", headers={"X-Vault-Token": calm["tokyo"].root_token})
    refused = calm["tokyo"].get("team/auth/token/lookup-self", token=made.body["auth"]["client_token"])

    assert refused.status in (403, 404)
    assert not found(calm)
