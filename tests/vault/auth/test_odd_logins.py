"""Odd input for every endpoint and field of AppRole, userpass and lock-out: an answer, and nothing half done."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.routing import Route
from labkit.vault.auth import locked_users
from labkit.vault.auth.approle.table import TABLE as APPROLE
from labkit.vault.auth.userpass.table import TABLE as USERPASS

METHODS = {"read": "GET", "write": "POST", "delete": "DELETE", "list": "LIST"}
NAMES = {"role_name": "app", "username": "ada", "mount_accessor": "x", "alias_identifier": "y"}
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 5, 2**63, 1.5, "", "x", " ", "-1", "1h", "é" * 40, "a\0b", "x" * 5_000),
    *([], ["x"], [None], [[]], [{"a": 1}], {}, {"a": "b"}, {"a": {"b": []}}, "10.0.0.0/8", "$2a$05$", "{", "a=b"),
)
PLACES = (("auth/approle/", APPROLE.routes), ("auth/userpass/", USERPASS.routes), ("sys/", locked_users.ROUTES))
CASES = [(prefix, route) for prefix, routes in PLACES for route in routes]


@pytest.fixture(scope="module")
def vault() -> Vault:
    made = Vault.dev(seed=8)
    for kind in ("approle", "userpass"):
        made.post(f"sys/auth/{kind}", {"type": kind})
    made.post("auth/approle/role/app", {"role_id": "app"})
    made.post("auth/approle/role/app/custom-secret-id", {"secret_id": "s"})
    made.post("auth/userpass/users/ada", {"password": "p"})
    made.keep_for_reset()
    return made


def stored(vault: Vault) -> dict[str, bytes]:
    storage: Any = vault.core.storage
    return dict(storage.state()["items"])


@pytest.mark.parametrize(
    ("prefix", "route"), CASES, ids=[f"{route.operation} {prefix}{route.pattern}" for prefix, route in CASES]
)
def test_every_field_takes_or_refuses_whatever_comes(vault: Vault, prefix: str, route: Route) -> None:
    path = route.pattern
    for name, text in NAMES.items():
        path = path.replace(f"<{name}>", text)
    headers = {"X-Vault-Token": vault.root_token}
    sent = [field.name for field in route.fields if f"<{field.name}>" not in route.pattern]
    for name in sent or ["nonsense"]:
        for odd in ODD:
            vault.reset()
            before = stored(vault)
            if route.operation == "write":
                answer = vault.request("POST", f"/v1/{prefix}{path}", {name: odd}, headers)
            else:
                text = str(odd).replace("\0", "%00").replace(" ", "%20")
                method = METHODS[route.operation]
                answer = vault.request(method, f"/v1/{prefix}{path}?{name}={text}", None, headers)
            assert answer.status in (200, 202, 204, 400, 403, 404), (name, odd, answer)
            assert answer.status < 300 or all(answer.errors) or answer.data, (name, odd, answer)
            if answer.status >= 300:
                assert stored(vault) == before, (name, odd)
