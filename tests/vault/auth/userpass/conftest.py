"""What tests of userpass share: a seeded vault with the method at auth/userpass/ and the user ada."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.message import Response


class UserLogins:
    """A vault with the user ``ada``: short forms of what tests ask of it."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        vault.post("sys/auth/userpass", {"type": "userpass"})
        assert self.user(password="right").status == 204

    def user(self, name: str = "ada", **fields: Any) -> Response:
        """Write a user."""
        return self.vault.post(f"auth/userpass/users/{name}", fields)

    def login(self, password: Any = "right", name: str = "ada", **where: Any) -> Response:
        """Log in."""
        body = {"password": password}
        return self.vault.request("POST", f"/v1/auth/userpass/login/{name}", json=body, **where)


@pytest.fixture
def logins(clock: Any) -> UserLogins:
    """A seeded vault on a manual clock, with the user ``ada`` whose password is ``right``."""
    return UserLogins(Vault.dev(seed=6, clock=clock))
