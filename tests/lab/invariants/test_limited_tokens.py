"""Limited tokens: one that opens something after its time or its uses is found; what is renewed or lost is not."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.invariants.limited_tokens import MAX_KEPT
from labkit.lab.invariants.rules import TOKEN_OVER
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

LOOK = "auth/token/lookup-self"


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[TOKEN_OVER]
    return "" if violation is None else violation.detail


def issued(lab: Lab, cluster: str = "paris", **limits: Any) -> dict[str, Any]:
    """A token with limits, as it was answered."""
    auth: dict[str, Any] = lab[cluster].post("auth/token/create", {"policies": ["default"], **limits}).auth
    return auth


def used(lab: Lab, token: str, times: int = 1, cluster: str = "paris", **headers: str) -> list[int]:
    """The answers to so many uses."""
    return [lab[cluster].get(LOOK, token=token).status for _ in range(times)]


def test_it_holds_where_tokens_end(calm: Lab):
    assert not Lab.pair().run("1s").invariants.applies(TOKEN_OVER)
    short, few = issued(calm, ttl="2s")["client_token"], issued(calm, num_uses=2)["client_token"]

    assert used(calm, few, 3) == [200, 200, 403]
    calm.run("3s")
    assert used(calm, short) == [403]
    assert calm.invariants.applies(TOKEN_OVER)
    assert not found(calm)


@pytest.mark.parametrize("how", ["header", "bearer"])
def test_a_token_that_lasts_longer_than_was_said_is_found(calm: Lab, how: str):
    with planted(ZOO["expiry-ignored"]):
        token = issued(calm, ttl="2s")["client_token"]
        headers = {"x-vault-token": token} if how == "header" else {"Authorization": f"Bearer {token}"}
        calm.run("1s")
        calm["paris"].request("GET", LOOK, headers=headers)
        assert not found(calm)
        calm.run("2s")
        calm["paris"].request("GET", LOOK, headers=headers)

    assert found(calm).startswith("paris-1 of paris carried a request out with a token that was over for ")
    assert token not in str(calm.invariants.state())


@pytest.mark.parametrize("by", ["token", "accessor"])
def test_who_is_renewed_lasts_longer(calm: Lab, by: str):
    auth = issued(calm, ttl="4s", explicit_max_ttl="1h")
    calm.run("2s")
    if by == "token":
        calm["paris"].post("auth/token/renew", {"token": auth["client_token"], "increment": "100s"}).raise_for_status()
    else:
        body = {"accessor": auth["accessor"], "increment": "100s"}
        calm["paris"].post("auth/token/renew-accessor", body).raise_for_status()
    calm.run("5s")

    assert used(calm, auth["client_token"]) == [200]
    assert not found(calm)


@pytest.mark.parametrize("by", ["renew", "renew-self", "renew-accessor"])
def test_a_renewal_whose_answer_is_wrapped_leaves_the_end_unknown(calm: Lab, by: str):
    auth = issued(calm, ttl="4s", explicit_max_ttl="1h")
    token, body = calm["paris"].root_token, {"increment": "10s"}
    if by == "renew-self":
        token = auth["client_token"]
    else:
        body |= {"accessor": auth["accessor"]} if by == "renew-accessor" else {"token": auth["client_token"]}
    headers = {"X-Vault-Wrap-TTL": "1m"}
    calm["paris"].post(f"auth/token/{by}", body, token=token, headers=headers).raise_for_status()
    calm.run("5s")
    assert used(calm, auth["client_token"]) == [200]
    assert not found(calm)

    with planted(ZOO["expiry-ignored"]):
        body = {"token": auth["client_token"], "increment": "10s"}
        calm["paris"].post("auth/token/renew", body).raise_for_status()
        calm.run("11s")
        assert used(calm, auth["client_token"]) == [200]
    assert found(calm)


def test_uses_that_a_replicating_cluster_does_not_count_are_found(calm: Lab):
    with planted(ZOO["uses-not-counted"]):
        token = issued(calm, num_uses=2)["client_token"]
        assert used(calm, token, 2) == [200, 200]
        assert not found(calm)
        used(calm, token)

    assert found(calm) == "paris-1 of paris carried a request out with a token of 2 uses, 3 times"


def test_what_is_unwrapped_twice_is_found(calm: Lab):
    with planted(ZOO["unwrapped-again"]):
        calm["paris"].post("secret/data/a", {"data": {"n": 1}})
        headers = {"X-Vault-Wrap-TTL": "60s", "X-Vault-Token": calm["paris"].root_token}
        body = calm["paris"].request("GET", "secret/data/a", headers=headers).body or {}
        token = body["wrap_info"]["token"]
        calm["paris"].post("sys/wrapping/unwrap", {"token": token}).raise_for_status()
        assert not found(calm)
        calm["paris"].post("sys/wrapping/unwrap", {}, token=token)

    assert found(calm).endswith("with a token of 1 uses, 2 times")


def test_uses_that_a_promotion_lost_are_there_again(calm: Lab):
    token = issued(calm, num_uses=2, ttl="1h")["client_token"]
    calm.run("1s").partition("paris", "tokyo")
    assert used(calm, token, 2) == [200, 200]
    calm.crash("paris")
    calm["tokyo"].promote(force=True)

    assert used(calm, token, 3, "tokyo") == [200, 200, 403]
    assert not found(calm)


def test_what_a_secondary_answers_costs_nothing(calm: Lab):
    token = issued(calm, num_uses=1, ttl="1h", policies=["root"])["client_token"]
    calm.run("1s")
    paths = "sys/replication/dr/secondary/generate-public-key"
    assert [calm["tokyo"].post(paths, {}, token=token).ok for _ in range(2)] == [True, True]
    assert not found(calm)


def test_so_many_tokens_are_kept_and_saved(calm: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("labkit.lab.invariants.limited_tokens.MAX_KEPT", 2)
    for _ in range(3):
        issued(calm, ttl="1h")
    kept = calm.invariants.state()["rules"][TOKEN_OVER]["limits"]

    assert len(kept) == 2 < MAX_KEPT
    assert Lab.restore(calm.snapshot()).invariants.state() == calm.invariants.state()


def test_uses_are_forgotten_with_the_token_that_they_were_of(calm: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("labkit.lab.invariants.limited_tokens.MAX_KEPT", 2)
    for _ in range(5):
        used(calm, issued(calm, num_uses=3)["client_token"])
    rule = calm.invariants.state()["rules"][TOKEN_OVER]
    counted = {digest for _, rows in rule["used"] for digest, _ in rows}

    assert counted == {digest for digest, _ in rule["limits"]}


def as_(lab: Lab, token: str, method: str, path: str, body: Any = None, cluster: str = "paris") -> int:
    """The status that a call with a token is answered with."""
    return lab[cluster].request(method, path, body, {"X-Vault-Token": token}).status


@pytest.mark.parametrize("path", ["sys/health", "sys/seal-status", "sys/leader", "sys/init"])
def test_what_is_open_to_all_is_opened_by_no_token(calm: Lab, path: str):
    token = issued(calm, ttl="2s")["client_token"]
    calm.run("3s")

    assert as_(calm, token, "GET", path) == 200
    assert not found(calm)


def test_a_standby_asks_for_no_token(calm: Lab):
    token = issued(calm, ttl="2s")["client_token"]
    calm.run("3s")
    answer = calm["paris"].request("POST", "sys/step-down", None, {"X-Vault-Token": token}, node="paris-2")

    assert answer.status == 204
    assert not found(calm)


def test_looking_a_wrapped_answer_up_spends_no_use(calm: Lab):
    headers = {"X-Vault-Wrap-TTL": "60s", "X-Vault-Token": calm["paris"].root_token}
    token = (calm["paris"].request("GET", LOOK, headers=headers).body or {})["wrap_info"]["token"]
    looked = [as_(calm, token, "POST", "sys/wrapping/lookup", {"token": token}) for _ in range(2)]

    assert [*looked, as_(calm, token, "POST", "sys/wrapping/unwrap", {})] == [200, 200, 200]
    assert not found(calm)


def test_a_secret_whose_path_ends_like_the_unwrapping_of_one_spends_no_token(calm: Lab):
    token, root = issued(calm, num_uses=1)["client_token"], calm["paris"].root_token
    path, body = "secret/data/sys/wrapping/unwrap", {"data": {}, "token": token}

    assert [as_(calm, root, "POST", path, body) for _ in range(2)] == [200, 200]
    assert used(calm, token) == [200]
    assert not found(calm)


@pytest.mark.parametrize("limits", [{"num_uses": 2}, {"ttl": "2s"}])
def test_an_id_that_is_issued_again_has_the_limits_of_then(calm: Lab, limits: dict[str, Any]):
    issued(calm, id="chosen", **limits)
    assert used(calm, "chosen", 2) == [200, 200]
    calm["paris"].post("auth/token/revoke", {"token": "chosen"}).raise_for_status()
    issued(calm, id="chosen", num_uses=6, ttl="1h")
    calm.run("3s")

    assert used(calm, "chosen", 6) == [200] * 6
    assert not found(calm)


def test_an_earlier_end_that_a_promotion_lost_does_not_bind_the_survivor(calm: Lab):
    token = issued(calm, ttl="1h")["client_token"]
    calm.run("1s").partition("paris", "tokyo")
    calm["paris"].post("auth/token/renew", {"token": token, "increment": "5s"}).raise_for_status()
    calm.crash("paris")
    calm["tokyo"].promote(force=True)
    calm.run("10s")

    assert used(calm, token, cluster="tokyo") == [200]
    assert not found(calm)


def test_an_earlier_end_binds_the_cluster_that_gave_it(calm: Lab):
    with planted(ZOO["expiry-ignored"]):
        token = issued(calm, ttl="1h")["client_token"]
        calm["paris"].post("auth/token/renew", {"token": token, "increment": "2s"}).raise_for_status()
        restored = Lab.restore(calm.snapshot())
        assert restored.invariants.state() == calm.invariants.state()
        restored.run("3s")
        used(restored, token)

    assert found(restored).startswith("paris-1 of paris carried a request out with a token that was over for ")


def test_an_id_that_two_clusters_issued_by_themselves_is_two_tokens():
    lab = Lab.pair(seed=7)
    issued(lab, id="chosen", num_uses=3, ttl="1h")
    issued(lab, "tokyo", id="chosen", num_uses=1, ttl="1s")
    lab.run("2s")

    assert used(lab, "chosen", 3) == [200] * 3
    assert not found(lab)


def test_a_token_is_judged_at_whoever_took_its_history_over(calm: Lab):
    with planted(ZOO["expiry-ignored"]):
        token = issued(calm, ttl="20s")["client_token"]
        calm.run("1s")
        calm.failover("paris", "tokyo")
        calm.failover("tokyo", "paris")
        calm.run("20s")
        used(calm, token)

    assert found(calm)
