"""Key sets: which keys are taken, how long a set is used, and how often it is fetched."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import respond
from labkit.vault.auth.cloud.key_sets import HARD_NS, SOFT_NS, KeySet, acceptable_keys
from labkit.vault.auth.cloud.upstream import Kept
from tests.vault.auth.conftest import SECOND_NS

COOLDOWN_NS = 300 * SECOND_NS


def changes(own: dict[str, Any]) -> list[dict[str, Any] | None]:
    """A good key made unfit, once for each rule."""
    return [
        *[{**own, "kty": value} for value in ("EC", "oct", None)],
        *[{**own, "use": value} for value in ("enc", None)],
        *[{**own, "alg": value} for value in ("RS512", "HS256", None)],
        *[{**own, "key_ops": value} for value in (["sign"], "verify", None, [])],
        *[{**own, member: "AQAB"} for member in ("d", "p", "q", "k", "oth")],
        *[{**own, "n": value} for value in ("AQAB", "", 5, own["n"][:340] + "AA", "!" + own["n"][1:], own["n"] * 5)],
        *[{**own, "e": value} for value in ("AQ", "Ag", "AQAA", "", None, "AQAAAAAB")],
        *[{**own, "kid": value} for value in (5, None, ["x"])],
        {name: value for name, value in own.items() if name != "n"},
    ]


def test_a_key_that_is_unfit_is_left_out(stand) -> None:
    own = stand.cloud.jwks()["keys"][0]
    row = (own["kid"], own["n"], own["e"])
    assert acceptable_keys({"keys": [own]}) == [row]
    assert acceptable_keys({"keys": [{**own, "key_ops": ["sign", "verify"], "alg": "RS256", "x": 1}, 5, None]}) == [row]
    for unfit in changes(own):
        assert acceptable_keys({"keys": [unfit]}) == [], unfit
    assert acceptable_keys({"keys": [own, {**own, "use": "enc"}]}) == []  # two of one name


def test_what_is_no_set_has_no_keys() -> None:
    sets: list[Any] = [
        None,
        [],
        {},
        {"keys": {}},
        {"keys": None},
        {"keys": [{}] * 65},
        {"keys": [{"x": "y" * 300_000}]},
    ]
    assert [acceptable_keys(document) for document in sets] == [[]] * 7


def test_a_set_shows_how_many_keys_it_has() -> None:
    assert repr(KeySet(Kept("", "", 0, 0, 0), "x", {"a": object()})) == "KeySet(1 keys)"


def test_a_set_is_fetched_again_after_an_hour_and_its_failure_keeps_it_for_a_day(stand) -> None:
    assert stand.login().ok
    stand.clock.now_ns += SOFT_NS - 1
    assert stand.login(claims={}).ok
    assert stand.asked == ["openid-configuration", "keys"]
    stand.clock.now_ns += 1
    assert stand.login(claims={}).ok
    assert stand.asked == ["openid-configuration", "keys"] * 2

    stand.vault.post("auth/cloud/config", {"max_retries": 0})
    assert stand.login(claims={}).ok
    begin_ns, stand.fetched[:] = stand.vault.now(), []
    stand.instead[:] = [lambda fetch: respond(503)]
    stand.clock.now_ns += SOFT_NS
    assert [stand.login(claims={}).ok for _ in range(3)] == [True] * 3
    assert stand.asked == ["openid-configuration"]
    stand.clock.now_ns += COOLDOWN_NS
    assert [stand.login(claims={}).ok for _ in range(3)] == [True] * 3
    assert stand.asked == ["openid-configuration"] * 2
    stand.clock.now_ns += HARD_NS - (stand.vault.now() - begin_ns)
    assert stand.login(claims={}).status == 503


def test_an_unknown_name_makes_one_fetch_each_time_that_has_passed(stand) -> None:
    assert stand.login().ok
    stand.fetched.clear()
    for _ in range(20):
        assert stand.login(headers={"kid": "made-up"}).status == 403
    assert stand.asked == []
    stand.clock.now_ns += COOLDOWN_NS
    for name in "abcdefghij":
        assert stand.login(headers={"kid": name}).status == 403
        assert stand.login(claims={}).ok
    assert stand.asked == ["keys"]


def test_a_wrong_signature_makes_no_fetch(stand) -> None:
    assert stand.login().ok
    stand.clock.now_ns += COOLDOWN_NS
    stand.fetched.clear()
    token = stand.cloud.mint("web-1")
    assert stand.login(jwt=token[:-6]).status == 403
    assert stand.asked == []


def test_a_set_without_usable_keys_leaves_the_kept_one(stand) -> None:
    assert stand.login().ok
    stand.clock.now_ns += COOLDOWN_NS
    stand.instead[:] = [lambda fetch: respond(200, {"keys": []}) if "keys" in fetch.request.path else None]
    refused = stand.login(headers={"kid": "made-up"})

    assert (refused.status, "no usable keys" in refused.errors[0]) == (503, True)
    assert stand.login(claims={}).ok


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://sts.cloud.test/{tenantid}/", "jwks_uri": "https://login.cloud.test/x"},
        {"issuer": "", "jwks_uri": "https://login.cloud.test/x"},
        {"issuer": "x", "jwks_uri": "https://evil.example/keys"},
        {"issuer": "x", "jwks_uri": "https://login.cloud.test.evil.example/keys"},
        {"issuer": "x", "jwks_uri": "http://login.cloud.test/keys"},
        {"issuer": "x", "jwks_uri": ["https://login.cloud.test/keys"]},
        {"issuer": "x" * 300_000, "jwks_uri": "https://login.cloud.test/keys"},
        {},
    ],
)
def test_a_discovery_document_that_leads_elsewhere_is_not_followed(stand, document) -> None:
    stand.instead[:] = [lambda fetch: respond(200, document) if "openid" in fetch.request.path else None]

    assert stand.login().status == 503
    assert stand.asked == ["openid-configuration"]


def test_what_was_fetched_is_the_clusters_own_and_gone_with_the_mount(stand) -> None:
    stand.login(role="web")
    storage, uuid = stand.vault.core.storage, stand.vault.get("sys/auth").data["cloud/"]["uuid"]
    assert storage.list(f"node/mount/{uuid}/") == ["attempt/", "discovery", "keys", "token/"]
    stand.vault.delete("sys/auth/cloud")

    assert storage.list("node/mount/") == []
    assert storage.list("identity/") == []
