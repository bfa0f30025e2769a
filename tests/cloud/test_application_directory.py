"""Application directory: applications by client id, their secrets added, spread and removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.cloud.application_directory import MAX_SECRETS
from labkit.front.cloud import Cloud
from labkit.service.durations import SECOND_NS
from tests.cloud.conftest import Ask, MovedClock, credentials

APPLICATIONS = "/v1.0/applications"


@pytest.fixture
def call(ask: Ask, token_for: Callable[[str], str]):
    token = token_for("graph")
    return lambda method, path="", body=None: ask("graph", method, APPLICATIONS + path, body, token=token)


@pytest.fixture
def own(cloud: Cloud) -> str:
    (application,) = cloud.inventory.applications.values()
    return f"/{application.object_id}"


def may_get_a_token(cloud: Cloud, ask: Ask, secret: str) -> bool:
    sent = credentials(cloud) | {"client_secret": secret, "resource": "api://x"}
    return ask("login", "POST", f"/{cloud.config['tenant_id']}/oauth2/token", sent).ok


def test_an_application_is_found_by_its_client_id_without_its_secrets(cloud: Cloud, call, own: str) -> None:
    client_id = cloud.config["client_id"]
    (found,) = call("GET", f"?$filter=appId eq '{client_id}'").body["value"]

    assert f"/{found['id']}" == own
    assert found == call("GET", own).body == call("GET").body["value"][0]
    (secret,) = found["passwordCredentials"]
    assert secret["secretText"] is None
    assert secret["hint"] == cloud.config["client_secret"][:3]
    assert cloud.config["client_secret"] not in str(found)
    assert call("GET", "?$filter=appId eq 'other'").body == {"value": []}


def test_a_secret_is_added_used_and_removed(cloud: Cloud, ask: Ask, call, own: str) -> None:
    first = cloud.config["client_secret"]
    asked: dict[str, Any] = {"passwordCredential": {"displayName": "two", "endDateTime": "2031-01-31T12:00:00Z"}}
    made = call("POST", own + "/addPassword", asked).body

    assert (made["displayName"], made["endDateTime"], len(made["secretText"])) == ("two", "2031-01-31T12:00:00Z", 40)
    assert may_get_a_token(cloud, ask, made["secretText"])
    assert cloud.config["client_secret"] == made["secretText"]
    (old, new) = call("GET", own).body["passwordCredentials"]
    assert (new["keyId"], new["secretText"]) == (made["keyId"], None)
    assert call("POST", own + "/removePassword", {"keyId": old["keyId"].upper()}).status == 204
    assert not may_get_a_token(cloud, ask, first)


def test_a_new_secret_is_known_once_it_has_spread(cloud: Cloud, ask: Ask, call, own: str, clock: MovedClock) -> None:
    cloud.parts.settings["spread_ns"] = 60 * SECOND_NS
    made = call("POST", own + "/addPassword").body["secretText"]

    assert not may_get_a_token(cloud, ask, made)
    clock.move(60)
    assert may_get_a_token(cloud, ask, made)


def test_what_cannot_be_done_is_refused(cloud: Cloud, call, own: str) -> None:
    ended = {"passwordCredential": {"endDateTime": "2029-01-31T12:00:00Z"}}
    cases: list[tuple[str, str, Any, int]] = [
        ("POST", "", None, 405),
        ("DELETE", own, None, 405),
        ("GET", own + "/addPassword", None, 405),
        ("GET", "/unknown", None, 404),
        ("POST", own + "/other", None, 404),
        ("GET", own + "/a/b", None, 404),
        ("GET", "?$filter=displayName eq 'vault'", None, 400),
        ("GET", "?$filter=appId eq 'a' or 'b'", None, 400),
        ("GET", "?$filter=appId eq", None, 400),
        ("POST", own + "/addPassword", {"passwordCredential": "x"}, 400),
        ("POST", own + "/addPassword", {"passwordCredential": {"endDateTime": "soon"}}, 400),
        ("POST", own + "/addPassword", {"passwordCredential": {"endDateTime": 7}}, 400),
        ("POST", own + "/addPassword", ended, 400),
        ("POST", own + "/removePassword", {"keyId": "other"}, 404),
        ("POST", own + "/removePassword", {"keyId": 7}, 404),
    ]
    before = cloud.state()
    for method, path, body, status in cases:
        answer = call(method, path, body)
        assert answer.status == status, (method, path, answer.body)
        assert "error" in answer.body
    assert cloud.state() == before


def test_only_the_application_itself_changes_its_secrets(cloud: Cloud, ask: Ask, call, own: str) -> None:
    (application,) = cloud.inventory.applications.values()
    machine = cloud.vm("web-1").token("https://graph.cloud.test/")

    assert ask("graph", "POST", APPLICATIONS + own + "/addPassword", token=machine).status == 403
    assert ask("graph", "GET", APPLICATIONS).status == 401
    cloud.inventory.applications[application.client_id] = application._replace(owns_itself=False)
    assert call("POST", own + "/addPassword").status == 403


def test_secrets_are_bounded(call, own: str) -> None:
    answers = [call("POST", own + "/addPassword").status for _ in range(MAX_SECRETS)]

    assert answers == [200] * (MAX_SECRETS - 1) + [400]
