"""Key sets: which keys are taken, how long a set is used, and how often it is fetched."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Request, Suspended, respond, silence
from labkit.vault.auth.cloud.key_sets import HARD_NS, SOFT_NS, KeySet, acceptable_keys
from labkit.vault.auth.cloud.upstream import Kept
from labkit.vault.storage.records import encode_record
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


def body_of(stand, jwt: str = "") -> dict[str, str]:
    """What web-1 logs in with."""
    machine = stand.cloud.vm("web-1")
    place = {"subscription_id": machine.subscription_id, "resource_group_name": machine.resource_group}
    return {"role": "sp", "jwt": jwt or stand.cloud.mint("web-1"), **place}


def test_an_old_set_is_refreshed_by_one_login_in_two_seconds_while_others_use_it(stand) -> None:
    asked = Request("POST", "/v1/auth/cloud/login", {}, body_of(stand))
    assert stand.login().ok
    stand.clock.now_ns += SOFT_NS
    first = stand.vault.handle(asked)
    assert isinstance(first, Suspended)
    assert (first.fetch.timeout_ns, first.fetch.shared) == (2 * SECOND_NS, False)
    assert [stand.vault.handle(asked).ok for _ in range(3)] == [True] * 3

    stand.clock.now_ns += SECOND_NS // 2
    second = stand.vault.resume(first, stand.cloud.answer(first.fetch))
    assert isinstance(second, Suspended)
    assert second.fetch.timeout_ns == 3 * SECOND_NS // 2
    stand.clock.now_ns += 3 * SECOND_NS // 2
    assert stand.vault.resume(second, silence("x")).ok
    stand.fetched.clear()
    assert stand.vault.post("auth/cloud/login", asked.body).ok
    assert stand.asked == [], "it failed a moment ago"
    stand.clock.now_ns += COOLDOWN_NS
    assert stand.vault.post("auth/cloud/login", asked.body).ok
    assert stand.asked == ["keys"]


def test_a_refresh_whose_answer_is_overdue_is_no_refresh_and_keeps_nothing(stand) -> None:
    """Its node stalled: the answer that it took away is as old as the question."""
    asked = Request("POST", "/v1/auth/cloud/login", {}, body_of(stand))
    assert stand.login().ok
    stand.clock.now_ns += SOFT_NS
    outcome = stand.vault.handle(asked)
    for _ in range(2):
        assert isinstance(outcome, Suspended)
        answer = stand.cloud.answer(outcome.fetch)
        stand.clock.now_ns += SOFT_NS
        outcome = stand.vault.resume(outcome, answer)
    assert isinstance(outcome, Suspended), "it asks again"
    for _ in range(2):
        outcome = stand.vault.resume(outcome, stand.cloud.answer(outcome.fetch))

    assert outcome.ok


def test_a_login_whose_answers_are_overdue_again_and_again_ends(stand) -> None:
    outcome = stand.vault.handle(Request("POST", "/v1/auth/cloud/login", {}, body_of(stand)))
    questions = 0
    while isinstance(outcome, Suspended):
        answer = stand.cloud.answer(outcome.fetch)
        stand.clock.now_ns += 60 * SECOND_NS
        outcome, questions = stand.vault.resume(outcome, answer), questions + 1

    assert (outcome.status, questions) == (503, 4)


def test_while_the_cloud_cannot_be_asked_an_unknown_name_is_503_and_says_when_to_come(stand) -> None:
    stand.vault.post("auth/cloud/config", {"max_retries": 0})
    assert stand.login().ok
    stand.clock.now_ns += COOLDOWN_NS
    stand.instead[:] = [lambda fetch: respond(503)]
    stand.fetched.clear()
    answers = [stand.login(headers={"kid": "made-up"}) for _ in range(2)]
    stand.clock.now_ns += 100 * SECOND_NS
    answers.append(stand.login(headers={"kid": "made-up"}))

    assert [(answer.status, answer.headers.get("Retry-After")) for answer in answers] == [
        *[(503, None), (503, "300"), (503, "200")]
    ]
    assert stand.asked == ["keys"]
    assert stand.login(claims={}).ok, "the kept set is as good as before"
    stand.clock.now_ns += 200 * SECOND_NS
    stand.instead.clear()
    assert stand.login(headers={"kid": "made-up"}).status == 403


def test_logins_in_an_outage_wait_for_retries_once(stand) -> None:
    stand.instead[:] = [lambda fetch: silence("x")]
    assert stand.login().status == 503
    began_ns, stand.fetched[:] = stand.vault.now(), []
    assert [stand.login(headers={"kid": "made-up"}).status for _ in range(5)] == [503] * 5
    assert (stand.vault.now(), len(stand.fetched)) == (began_ns, 5)
    stand.instead.clear()
    assert stand.login().ok


@pytest.mark.parametrize("count", [65, 200])
def test_a_set_may_have_many_keys(stand, count) -> None:
    own = stand.cloud.jwks()["keys"][0]
    many = {"keys": [{**own, "kid": f"k{number}"} for number in range(count)]}

    assert len(acceptable_keys(many)) == count


def test_what_was_kept_by_an_earlier_version_is_fetched_again(stand) -> None:
    """Its rows do not say for what they were fetched."""
    assert stand.login(role="web").ok
    core = stand.vault.core
    prefix = f"node/mount/{stand.vault.get('sys/auth').data['cloud/']['uuid']}/"
    now_ns, keys = stand.vault.now(), stand.cloud.jwks()["keys"]
    rows: dict[str, list[Any]] = {
        "discovery": ["https://sts.cloud.test/x/", "/x/discovery/keys", now_ns],
        "keys": [now_ns, "https://sts.cloud.test/x/", [(key["kid"], key["n"], key["e"]) for key in keys]],
        "token/https://management.cloud.test": ["x", now_ns + HARD_NS],
        "attempt/keys": ["00", now_ns, 0, 0, "fetched", 0],
        "attempt/discovery": ["00", now_ns, 0, 0, "", 0],
    }
    core.commit(
        {
            prefix + name: core.keys.encrypt(prefix + name, encode_record(row), core.entropy)
            for name, row in rows.items()
        }
    )
    stand.fetched.clear()

    assert stand.login(role="web").ok
    assert stand.asked == ["openid-configuration", "keys", "token", "web-1"]


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
