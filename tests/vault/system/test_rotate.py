"""``sys/rotate``, ``sys/rotate/config`` and ``sys/key-status`` over the API."""

from __future__ import annotations

import pytest

LIMITS = "max_operations must be in the range [1000000,3865470566]"


def test_key_status_says_term_age_and_use(service):
    status = service.get("sys/key-status")
    assert status.data == {"term": 1, "install_time": "2030-01-01T00:00:00Z", "encryptions": 0}
    assert status.body["term"] == 1

    service.advance("1h")
    assert (service.put("sys/rotate").status, service.post("sys/rotate").status) == (204, 204)
    service.put("secret/data/a", {"data": {"a": 1}})
    status = service.get("sys/key-status").data
    assert (status["term"], status["install_time"]) == (3, "2030-01-01T01:00:00Z")
    assert status["encryptions"] > 0


def test_rotating_wants_sudo_and_key_status_a_token(service):
    service.put("sys/policies/acl/r", {"policy": 'path "sys/rotate" { capabilities = ["update"] }'})
    token = service.post("auth/token/create", {"policies": ["r"]}).auth["client_token"]
    for sent in (token, ""):
        assert service.put("sys/rotate", token=sent).status == 403
    assert service.get("sys/key-status", token="").status == 403
    assert service.get("sys/rotate/config", token=token).status == 403
    assert service.get("sys/key-status").data["term"] == 1


def test_settings_are_read_back(service):
    assert service.get("sys/rotate/config").data == {
        "max_operations": 3_865_470_566,
        "interval": 0,
        "enabled": True,
    }
    sent = {"max_operations": "2000000", "interval": "4320h", "enabled": "false"}
    assert service.post("sys/rotate/config", sent).status == 204
    assert service.get("sys/rotate/config").data == {
        "max_operations": 2_000_000,
        "interval": "4320h0m0s",
        "enabled": False,
    }
    assert service.post("sys/rotate/config", {"interval": 0}).status == 204
    assert service.get("sys/rotate/config").data == {"max_operations": 2_000_000, "interval": 0, "enabled": False}


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"max_operations": 999_999}, LIMITS),
        ({"max_operations": 3_865_470_567}, LIMITS),
        ({"max_operations": None}, LIMITS),
        ({"max_operations": -1, "interval": "48h"}, LIMITS),
        ({"interval": "23h59m59s"}, "interval must be greater or equal to 24h0m0s"),
        ({"interval": 1, "enabled": False}, "interval must be greater or equal to 24h0m0s"),
        ({"interval": "-24h"}, "cannot provide negative value"),
        ({"interval": "soon"}, "interval"),
        ({"max_operations": "many"}, "max_operations"),
        ({"enabled": "maybe"}, "enabled"),
    ],
)
def test_odd_settings_are_refused_and_change_nothing(service, sent, text):
    before = service.get("sys/rotate/config").data
    refused = service.post("sys/rotate/config", sent)

    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get("sys/rotate/config").data == before


@pytest.mark.parametrize(("method", "path"), [("GET", "sys/rotate"), ("DELETE", "sys/rotate/config")])
def test_other_methods_are_refused(service, method, path):
    headers = {"X-Vault-Token": service.root_token}
    assert service.request(method, f"/v1/{path}", headers=headers).status == 405


def test_all_are_refused_while_sealed(service):
    service.put("sys/seal")
    for answer in (service.put("sys/rotate"), service.get("sys/rotate/config"), service.get("sys/key-status")):
        assert answer.status == 503


def test_newer_clients_rotate_by_another_path(service):
    assert service.post("sys/rotate/keyring").status == 204
    assert service.get("sys/key-status").data["term"] == 2
    assert service.post("sys/rotate/keyring", token="").status == 403
