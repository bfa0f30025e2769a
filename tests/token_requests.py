"""Requests about tokens that the tests of their life begin with: one is created, one is asked about."""

from __future__ import annotations

from typing import Any

CREATE = "auth/token/create"


def create(service: Any, body: dict[str, Any] | None = None, path: str = CREATE, token: str | None = None) -> Any:
    """Create a token, which must succeed; return the answer's block of it."""
    response = service.post(path, body or {}, token=token)
    assert response.status == 200, response.errors
    assert response.data is None
    return response.auth


def create_plain(service: Any, body: dict[str, Any] | None = None, token: str | None = None) -> Any:
    """Create a token with the policy `default` only, unless the body names others."""
    return create(service, {"policies": ["default"], **(body or {})}, token=token)


def is_alive(service: Any, token: str) -> bool:
    """Whether a token is one that the service knows."""
    found: bool = service.post("auth/token/lookup", {"token": token}).status == 200
    return found
