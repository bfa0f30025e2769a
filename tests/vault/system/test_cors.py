"""Which origins are configured for cross-origin requests."""

from __future__ import annotations

import pytest

from labkit.vault.cors import ALWAYS_ALLOWED

PATH = "sys/config/cors"


def test_origins_are_allowed_read_and_forbidden(service) -> None:
    assert service.get(PATH).data == {"enabled": False}
    body = {"allowed_origins": "https://App.example.org/, http://localhost:3000", "allowed_headers": ["X-Team"]}
    assert service.put(PATH, body).status == 204
    read = service.get(PATH)
    assert read.data == {
        "enabled": True,
        "allowed_origins": ["https://app.example.org", "http://localhost:3000"],
        "allowed_headers": [*ALWAYS_ALLOWED, "X-Team"],
    }
    assert read.body["enabled"] is True
    assert service.post(PATH, {"allowed_origins": ["*"]}).status == 204
    assert service.get(PATH).data["allowed_headers"] == list(ALWAYS_ALLOWED)
    assert service.delete(PATH).status == 204
    assert service.delete(PATH).status == 204
    assert service.get(PATH).data == {"enabled": False}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "at least one origin or the wildcard must be provided"),
        ({"allowed_origins": []}, "at least one origin or the wildcard must be provided"),
        ({"allowed_origins": "*,https://a"}, "to allow all origins the '*' must be the only value for allowed_origins"),
        ({"allowed_origins": "example.org"}, "scheme, host and port"),
        ({"allowed_origins": "https://a.example.org/path"}, "scheme, host and port"),
        ({"allowed_origins": "*", "allowed_headers": "X-A\r\nX-B: 1"}, "the name of a header"),
        ({"allowed_origins": "*", "allowed_headers": "Ü"}, "the name of a header"),
    ],
)
def test_what_is_not_an_origin_or_a_header_changes_nothing(service, body, why) -> None:
    refused = service.put(PATH, body)
    assert refused.status == 400
    assert why in refused.errors[0]
    assert service.get(PATH).data == {"enabled": False}


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_sudo_is_needed(service, method) -> None:
    rule = 'path "sys/config/*" { capabilities = ["create", "read", "update", "delete"] }'
    service.put("sys/policies/acl/m", {"policy": rule})
    token = service.post("auth/token/create", {"policies": ["m"]}).auth["client_token"]
    assert getattr(service, method)(PATH, token=token).status == 403
