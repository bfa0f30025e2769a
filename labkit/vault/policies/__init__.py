"""Policies: texts that define what a token may do on which paths.

``reader`` reads a text into ``rules``, ``access_list`` decides by the rules of several policies, ``store`` stores the
texts; this module has the built-in policies and the reserved names.  Language and messages: the product's
documentation, Policies.
"""

from __future__ import annotations

from labkit.vault.policies.access_list import Acl
from labkit.vault.policies.rules import (
    CAPABILITIES,
    CREATE,
    DELETE,
    DENY,
    LIST,
    PATCH,
    READ,
    SUDO,
    UPDATE,
    Rule,
)

__all__ = [
    "CAPABILITIES",
    "CREATE",
    "DELETE",
    "DENY",
    "LIST",
    "PATCH",
    "READ",
    "SUDO",
    "UPDATE",
    "Acl",
    "Rule",
]

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


def why_not_written(name: str) -> str | None:
    """Return the API's text where a policy of this name cannot be written, else None."""
    return f'cannot update "{name}" policy' if name in (ROOT, RESPONSE_WRAPPING) else None


def why_not_deleted(name: str) -> str | None:
    """Return the API's text where a policy of this name cannot be deleted, else None."""
    if name == DEFAULT:
        return "cannot delete default policy"
    return f'cannot delete "{name}" policy' if name in (ROOT, RESPONSE_WRAPPING) else None
