"""Policies: texts that define what a token may do on which paths.

``reader`` reads a text into ``rules``, ``access_list`` decides by the rules of several policies, ``store`` stores the
texts; this module has the capabilities, the built-in policies, the reserved names, and what root may do, which takes no
rules (R24).  Language and messages: the product's documentation, Policies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CREATE, READ, UPDATE, PATCH, DELETE, LIST, SUDO, DENY = (1 << bit for bit in range(8))

CAPABILITIES = {
    "create": CREATE,
    "read": READ,
    "update": UPDATE,
    "patch": PATCH,
    "delete": DELETE,
    "list": LIST,
    "sudo": SUDO,
    "deny": DENY,
}

DEFAULT_POLICY = """\
# What every token may do that was not made without this policy: mostly, look after itself.

path "auth/token/lookup-self" { capabilities = ["read"] }
path "auth/token/renew-self"  { capabilities = ["update"] }
path "auth/token/revoke-self" { capabilities = ["update"] }

# What am I allowed?
path "sys/capabilities-self"        { capabilities = ["update"] }
path "sys/internal/ui/resultant-acl" { capabilities = ["read"] }

# Leases, for those who know their ids; sys/renew is the old name.
path "sys/leases/lookup" { capabilities = ["update"] }
path "sys/leases/renew"  { capabilities = ["update"] }
path "sys/renew"         { capabilities = ["update"] }

# A place of one's own.
path "cubbyhole/*" { capabilities = ["create", "read", "update", "delete", "list"] }

# Response wrapping.
path "sys/wrapping/wrap"   { capabilities = ["update"] }
path "sys/wrapping/lookup" { capabilities = ["update"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }

# Tools that touch nothing.
path "sys/tools/hash"   { capabilities = ["update"] }
path "sys/tools/hash/*" { capabilities = ["update"] }

path "sys/control-group/request" { capabilities = ["update"] }

# One's own entity.
path "identity/entity/id/{{identity.entity.id}}"     { capabilities = ["read"] }
path "identity/entity/name/{{identity.entity.name}}" { capabilities = ["read"] }
path "identity/oidc/provider/+/authorize"            { capabilities = ["read", "update"] }
"""

WRAPPING_POLICY = """\
path "cubbyhole/response"  { capabilities = ["create", "read"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }
"""

ROOT, DEFAULT, RESPONSE_WRAPPING = "root", "default", "response-wrapping"
ROOT_ONLY = (ROOT,)
"""The policies of a token that may do everything."""


def why_not_written(name: str) -> str | None:
    """Return the API's text where a policy of this name cannot be written, else None."""
    return f'cannot update "{name}" policy' if name in (ROOT, RESPONSE_WRAPPING) else None


def why_not_deleted(name: str) -> str | None:
    """Return the API's text where a policy of this name cannot be deleted, else None."""
    if name == DEFAULT:
        return "cannot delete default policy"
    return f'cannot delete "{name}" policy' if name in (ROOT, RESPONSE_WRAPPING) else None


class RootAccess:
    """What the policy root allows: everything, without rules.  Any other is an ``Acl``."""

    __slots__ = ()

    root = True

    def allows(
        self,
        capability: int,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        listing: bool = False,
        wrap_ttl_ns: int = 0,
    ) -> bool:
        """Say that anything is granted."""
        return True

    def answer(self, capability: int, path: str, listing: bool = False) -> bool:
        """Say that anything is granted."""
        return True

    def capabilities(self, path: str) -> list[str]:
        """Return what stands for all."""
        return [ROOT]

    def rules(self) -> list[Any]:
        """Return the rules that it takes: none."""
        return []


ROOT_ACCESS = RootAccess()
