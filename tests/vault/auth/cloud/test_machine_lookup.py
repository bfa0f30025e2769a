"""The service's own token for the cloud: kept until shortly before its end, fetched again when it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Fetch, Response, respond
from tests.vault.auth.conftest import SECOND_NS

MINUTE_NS = 60 * SECOND_NS


def test_it_is_fetched_again_five_minutes_before_its_end(stand) -> None:
    assert stand.login(role="web").ok
    for minutes, tokens in ((54, 1), (2, 2)):
        stand.clock.now_ns += minutes * MINUTE_NS
        assert stand.login(role="web", claims={}).ok
        assert stand.asked.count("token") == tokens


def test_it_is_fetched_again_once_when_the_cloud_refuses_it(stand) -> None:
    assert stand.login(role="web").ok
    stand.fetched.clear()
    stand.instead[:] = [lambda fetch: respond(401, {}) if len(stand.fetched) == 1 else None]

    assert stand.login(role="web").ok
    assert stand.asked == ["web-1", "token", "web-1"]


def test_a_login_of_before_keeps_no_token_of_another_client_than_the_mounts(stand) -> None:
    """It was asked for as the configuration was changed, and its own token had been refused."""
    other = {"client_id": "99999999-0000-4000-8000-000000000001"}

    def change(fetch: Fetch) -> Response | None:
        if "/subscriptions/" not in fetch.request.path or len(stand.instead) > 1:
            return None
        stand.instead.append(lambda fetch: None)
        stand.vault.post("auth/cloud/config", other)
        return respond(401, {})

    stand.instead[:] = [change]
    assert stand.login(role="web").status == 400
    assert stand.asked.count("token") == 1
    assert stand.login(role="web").status == 503  # the cloud does not know the other client
    assert stand.fetched[-1].request.body["client_id"] == other["client_id"]


BODIES: list[Any] = [
    None,
    {},
    {"access_token": "x"},
    {"access_token": 5, "expires_in": 3_600},
    {"access_token": "x", "expires_in": 300},
]


@pytest.mark.parametrize("body", BODIES)
def test_an_answer_without_a_token_that_lasts_is_a_failure(stand, body) -> None:
    stand.instead[:] = [lambda fetch: respond(200, body) if fetch.request.method == "POST" else None]
    refused = stand.login(role="web")

    assert (refused.status, "without a token" in refused.errors[0]) == (503, True)


def test_a_wrong_secret_is_not_the_callers_fault(stand) -> None:
    stand.vault.post("auth/cloud/config", {"client_secret": "canary-91c2"})
    refused = stand.login(role="web")

    assert (refused.status, "login.cloud.test answered 401" in refused.errors[0]) == (503, True)
    assert "canary-91c2" not in repr((refused.body, stand.seen, stand.fetched))
    assert stand.asked == ["openid-configuration", "keys", "token"]
