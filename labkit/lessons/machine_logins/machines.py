"""Machines: a vault beside a cloud, logins of its machines, and what the audit file says of those that were refused."""

from __future__ import annotations

import json
from typing import Any

from labkit.cloud.development import WEST
from labkit.front.vault import Vault
from labkit.service.message import Response

AUDIT, ROLE = "audit.log", "auth/cloud/role/web"
LOGIN, REFUSED = "auth/cloud/login", "permission denied"


def with_machines(seed: int) -> Vault:
    """Return a vault whose cloud has one more machine, jump-1, of a group of its own, and an audit file."""
    vault = Vault.dev(seed=seed)
    inventory = vault.cloud.inventory
    shop = inventory.subscriptions[vault.cloud.vm("web-1").subscription_id]
    inventory.add_machine("jump-1", inventory.add_resource_group("ops", shop), WEST)
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": AUDIT}})
    return vault


def login(vault: Vault, machine: str, role: str = "web", **sent: Any) -> Response:
    """Let a machine of the cloud beside a vault log in."""
    return vault.cloud.vm(machine).login(vault, role=role, **sent)


def pretending(vault: Vault) -> dict[str, str]:
    """Return what db-1 says when it says that it is web-1."""
    subscription = vault.cloud.vm("web-1").subscription_id
    return {"vm_name": "web-1", "resource_group_name": "web", "subscription_id": subscription}


def forged(vault: Vault, **changes: Any) -> Response:
    """Let web-1 send a token that was changed, such as ``claims={"exp": 1}``."""
    return login(vault, "web-1", jwt=vault.cloud.mint("web-1", **changes))


def five_tries(vault: Vault) -> list[Response]:
    """Try to get in with role web, five times, each time with something else wrong."""
    return [
        login(vault, "db-1"),
        login(vault, "db-1", **pretending(vault)),
        forged(vault, claims={"exp": 1}),
        forged(vault, claims={"aud": "https://mail.example/"}),
        forged(vault, headers={"alg": "none"}),
    ]


def reasons(vault: Vault) -> list[str]:
    """Return why logins were refused, by the audit file, oldest first; each request counts once, as it stands first.

    What was refused before any check, and what is not a login, has no reason.
    """
    return [error.rpartition("; ")[2] for error in _errors(vault) if REFUSED in error and "; " in error]


def unread(vault: Vault) -> int:
    """Return how many logins no check refused: the service could not read what was sent, or has no such role."""
    return sum(error != "" and REFUSED not in error for error in _errors(vault))


def _errors(vault: Vault) -> list[str]:
    """Return the error of each answer to a login in the audit file, empty where it has none."""
    lines = (vault.files.read(AUDIT) or b"").splitlines()
    records = [json.loads(line) for line in lines if line]
    answers: dict[str, str] = {}
    for row in records:
        if row["type"] == "response" and row["request"]["path"] == LOGIN:
            answers.setdefault(row["request"]["id"], row.get("error", ""))
    return list(answers.values())
