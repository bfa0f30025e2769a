"""What tests of AppRole share: a seeded vault with the method at auth/approle/ and a role."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.message import Response


class RoleLogins:
    """A vault's role ``app``: short forms of what tests ask of it."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.enable("approle")
        self.role()

    def enable(self, mount: str) -> None:
        """Enable the method at a mount."""
        assert self.vault.post(f"sys/auth/{mount}", {"type": "approle"}).status == 204

    def role(self, name: str = "app", **fields: Any) -> Response:
        """Write a role."""
        return self.vault.post(f"auth/approle/role/{name}", fields)

    def role_id(self, name: str = "app") -> str:
        """Read a role's id."""
        return str(self.vault.get(f"auth/approle/role/{name}/role-id").data["role_id"])

    def make(self, name: str = "app", **fields: Any) -> Any:
        """Make a secret id; return its answer's data."""
        answer = self.vault.post(f"auth/approle/role/{name}/secret-id", fields)
        assert answer.ok, answer.errors
        return answer.data

    def ask(self, path: str, name: str = "app", **fields: Any) -> Response:
        """Post to a path below a role."""
        return self.vault.post(f"auth/approle/role/{name}/{path}", fields)

    def login(self, secret_id: str | None = None, role_id: str | None = None, **where: Any) -> Response:
        """Log in; without a secret id a new one is made."""
        role_id = self.role_id() if role_id is None else role_id
        secret_id = self.make()["secret_id"] if secret_id is None else secret_id
        body = {"role_id": role_id, "secret_id": secret_id}
        return self.vault.request("POST", "/v1/auth/approle/login", json=body, **where)

    def stored(self) -> list[str]:
        """Return the keys under which the mount's secret ids and accessors are stored."""
        mount = next(mount for mount in _mounts(self.vault) if mount["path"] == "approle/")
        keys = [*_keys(self.vault.core.storage, f"logical/{mount['uuid']}/")]
        keys += _keys(self.vault.core.storage, f"local/{mount['uuid']}/")
        return [key.split("/", 2)[2] for key in keys if "/secret-id/" in key or "/accessor/" in key]


def _mounts(vault: Vault) -> list[dict[str, Any]]:
    return [{"path": path, **mount} for path, mount in vault.get("sys/auth").data.items()]


def _keys(storage: Any, folder: str) -> list[str]:
    found: list[str] = []
    for name in storage.list(folder):
        found += _keys(storage, folder + name) if name.endswith("/") else [folder + name]
    return found


@pytest.fixture
def logins(clock: Any) -> RoleLogins:
    """A seeded vault on a manual clock, with the role ``app``."""
    return RoleLogins(Vault.dev(seed=5, clock=clock))
