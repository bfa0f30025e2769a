"""The policies that the service brings, and the names that are its own."""

from __future__ import annotations

import pytest

from labkit.vault.policies import (
    CAPABILITIES,
    CREATE,
    DEFAULT_POLICY,
    DELETE,
    DENY,
    LIST,
    PATCH,
    READ,
    ROOT_ACCESS,
    SUDO,
    UPDATE,
    WRAPPING_POLICY,
    why_not_deleted,
    why_not_written,
)
from labkit.vault.policies.access_list import Acl
from labkit.vault.policies.policy_text import parse_policy

EVERYTHING = {
    "create": CREATE,
    "read": READ,
    "update": UPDATE,
    "patch": PATCH,
    "delete": DELETE,
    "list": LIST,
    "sudo": SUDO,
}


def granted(acl: Acl, path: str) -> list[str]:
    return [name for name, bit in EVERYTHING.items() if acl.allows(bit, path)]


def test_each_capability_is_a_bit_of_its_own() -> None:
    assert sorted(CAPABILITIES.values()) == [1 << bit for bit in range(len(CAPABILITIES))]
    assert CAPABILITIES["deny"] == DENY == max(CAPABILITIES.values())
    assert list(CAPABILITIES) == ["create", "read", "update", "patch", "delete", "list", "sudo", "deny"]


def test_root_may_everything() -> None:
    assert ROOT_ACCESS.root
    assert all(ROOT_ACCESS.allows(bit, "any/path", wrap_ttl_ns=1) for bit in CAPABILITIES.values())
    assert ROOT_ACCESS.answer(SUDO, "any/path") is True
    assert (ROOT_ACCESS.capabilities("any/path"), ROOT_ACCESS.rules()) == (["root"], [])


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("auth/token/lookup-self", ["read"]),
        ("auth/token/renew-self", ["update"]),
        ("auth/token/revoke-self", ["update"]),
        ("auth/token/create", []),
        ("auth/token/lookup", []),
        ("sys/capabilities-self", ["update"]),
        ("sys/capabilities", []),
        ("sys/leases/renew", ["update"]),
        ("sys/leases/lookup", ["update"]),
        ("sys/leases/revoke", []),
        ("sys/renew", ["update"]),
        ("sys/wrapping/wrap", ["update"]),
        ("sys/wrapping/lookup", ["update"]),
        ("sys/wrapping/unwrap", ["update"]),
        ("sys/wrapping/rewrap", []),
        ("sys/tools/hash", ["update"]),
        ("sys/tools/hash/sha2-256", ["update"]),
        ("sys/tools/random", []),
        ("sys/control-group/request", ["update"]),
        ("sys/internal/ui/resultant-acl", ["read"]),
        ("sys/mounts", []),
        ("cubbyhole/mine", ["create", "read", "update", "delete", "list"]),
        ("identity/oidc/provider/x/authorize", ["read", "update"]),
        ("identity/oidc/provider/x/y/authorize", []),
        ("identity/entity/id/x", []),
        ("identity/entity/id/{{identity.entity.id}}", []),
        ("secret/data/a", []),
    ],
)
def test_what_the_default_policy_grants(path, names) -> None:
    assert granted(Acl([parse_policy(DEFAULT_POLICY)]), path) == names


def test_the_default_policy_names_the_callers_own_entity() -> None:
    patterns = [rule.pattern for rule in parse_policy(DEFAULT_POLICY)]

    assert "identity/entity/id/{{identity.entity.id}}" in patterns
    assert "identity/entity/name/{{identity.entity.name}}" in patterns
    assert len(set(patterns)) == len(patterns) == 18


@pytest.mark.parametrize(
    ("path", "names"),
    [("cubbyhole/response", ["create", "read"]), ("sys/wrapping/unwrap", ["update"]), ("sys/wrapping/lookup", [])],
)
def test_what_a_wrapping_token_may_do(path, names) -> None:
    assert granted(Acl([parse_policy(WRAPPING_POLICY)]), path) == names


@pytest.mark.parametrize(
    ("name", "written", "deleted"),
    [
        ("mine", None, None),
        # recorded
        ("root", 'cannot update "root" policy', 'cannot delete "root" policy'),
        ("default", None, "cannot delete default policy"),
        ("response-wrapping", 'cannot update "response-wrapping" policy', 'cannot delete "response-wrapping" policy'),
    ],
)
def test_names_that_are_the_services_own(name, written, deleted) -> None:
    assert why_not_written(name) == written
    assert why_not_deleted(name) == deleted
