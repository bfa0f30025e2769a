"""Roles: what is written is read back, field by field, and what cannot be is refused unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import refused, refused_bare

PLAIN: dict[str, Any] = {
    "bind_secret_id": True,
    "local_secret_ids": False,
    "secret_id_bound_cidrs": None,
    "secret_id_num_uses": 0,
    "secret_id_ttl": 0,
    "token_bound_cidrs": [],
    "token_explicit_max_ttl": 0,
    "token_max_ttl": 0,
    "token_no_default_policy": False,
    "token_num_uses": 0,
    "token_period": 0,
    "token_policies": [],
    "token_ttl": 0,
    "token_type": "default",
}


def read(logins, name: str = "app") -> Any:
    return logins.vault.get(f"auth/approle/role/{name}").data


def test_what_is_sent_is_shown_and_what_is_not_stays(logins) -> None:
    assert read(logins) == PLAIN
    sent = {
        "bind_secret_id": False,
        "secret_id_bound_cidrs": "127.0.0.0/8,10.0.0.0/8",
        "secret_id_num_uses": "7",
        "secret_id_ttl": "1h",
        "token_bound_cidrs": ["127.0.0.1/32", "::1"],
        "token_explicit_max_ttl": "3h",
        "token_max_ttl": "2h",
        "token_no_default_policy": "true",
        "token_num_uses": 3,
        "token_period": "5m",
        "token_policies": ["B", "a", "B"],
        "token_ttl": 60,
        "token_type": "service",
    }
    assert logins.role(**sent).status == 204
    shown = PLAIN | {
        "bind_secret_id": False,
        "secret_id_bound_cidrs": ["127.0.0.0/8", "10.0.0.0/8"],
        "secret_id_num_uses": 7,
        "secret_id_ttl": 3_600,
        "token_bound_cidrs": ["127.0.0.1", "::1"],
        "token_explicit_max_ttl": 10_800,
        "token_max_ttl": 7_200,
        "token_no_default_policy": True,
        "token_num_uses": 3,
        "token_period": 300,
        "token_policies": ["B", "a", "B"],
        "token_ttl": 60,
        "token_type": "service",
    }
    assert read(logins) == shown
    logins.role(token_ttl="2m")
    assert read(logins) == shown | {"token_ttl": 120}


def test_where_secret_ids_are_kept_is_chosen_once(logins) -> None:
    logins.role("local", local_secret_ids=True)
    assert read(logins, "local")["local_secret_ids"] is True
    for value in (True, False, None):
        logged = logins.role("local", local_secret_ids=value)
        assert refused_bare(logged, "local_secret_ids can only be modified during role creation")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"token_type": "x"}, "invalid 'token_type' value \"x\"; expected one of default, service, batch"),
        ({"token_num_uses": -1}, "'token_num_uses' cannot be negative"),
        ({"secret_id_num_uses": -1}, "secret_id_num_uses cannot be negative"),
        ({"token_ttl": 2, "token_max_ttl": 1}, "'token_ttl' cannot be greater than 'token_max_ttl'"),
        (
            {"token_type": "batch", "token_period": 1},
            "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
        ),
        (
            {"token_type": "default-batch", "token_num_uses": 1},
            "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
        ),
        (
            {"token_bound_cidrs": "x"},
            'error parsing address "x": Unable to convert "x" to an IPv4 or IPv6 address, or a UNIX Socket',
        ),
        (
            {"period": "5000h"},
            'period of "5000h0m0s" is greater than the backend\'s maximum lease TTL of "768h0m0s"',
        ),
        ({"role_id": ""}, "invalid role_id supplied, or failed to generate a role_id"),
        ({"role_id": None}, "invalid role_id supplied, or failed to generate a role_id"),
        (
            {"secret_id_ttl": -1},
            "error converting input for field \"secret_id_ttl\": cannot provide negative value '-1'",
        ),
        (
            {"bind_secret_id": "maybe"},
            "error converting input for field \"bind_secret_id\": '' cannot parse value as 'bool': strconv.ParseBool: "
            "invalid syntax",
        ),
        (
            {"token_policies": {"a": 1}},
            "error converting input for field \"token_policies\": '' expected type 'string', got unconvertible type "
            "'map[string]interface {}'",
        ),
    ],
)
def test_what_cannot_be_changes_nothing(logins, fields: dict[str, Any], text: str) -> None:
    assert refused_bare(logins.role(**fields), text)
    assert read(logins) == PLAIN
    assert logins.role("new", **fields).status == 400
    assert logins.vault.get("auth/approle/role/new").status == 404


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"secret_id_bound_cidrs": "10.0.0.1"}, "failed to validate CIDR blocks: invalid CIDR address: 10.0.0.1"),
        ({"bound_cidr_list": "x"}, "failed to validate CIDR blocks: invalid CIDR address: x"),
        ({"bind_secret_id": False}, "at least one constraint should be enabled on the role"),
        ({"bind_secret_id": None}, "at least one constraint should be enabled on the role"),
    ],
)
def test_mistakes_that_servers_list(logins, fields: dict[str, Any], text: str) -> None:
    assert refused(logins.role(**fields), text)
    assert read(logins) == PLAIN


def test_a_period_by_its_new_name_may_be_longer_than_the_mounts_maximum(logins) -> None:
    assert logins.role(token_period="5000h").status == 204


def test_what_has_no_meaning_or_is_cut_is_warned_of(logins) -> None:
    assert logins.role(token_type="default-service").warnings == [
        "default-service has no useful meaning; adjusting to service"
    ]
    assert read(logins)["token_type"] == "service"
    (warning,) = logins.role(token_max_ttl="5000h").warnings
    assert "will be truncated" in warning
    assert read(logins)["token_max_ttl"] == 18_000_000
    assert logins.role(token_type="").warnings == [warning]
    assert read(logins)["token_type"] == "default"


def test_old_names_are_shown_until_only_the_new_one_is_written(logins) -> None:
    logins.role(policies="z, X,z", period=60, bound_cidr_list="10.0.0.0/8")
    assert read(logins) == PLAIN | {
        "policies": ["x", "z"],
        "token_policies": ["x", "z"],
        "period": 60,
        "token_period": 60,
        "secret_id_bound_cidrs": ["10.0.0.0/8"],
    }
    logins.role(token_policies="y", secret_id_bound_cidrs="127.0.0.0/8", bound_cidr_list="10.0.0.0/8")
    found = read(logins)
    assert "policies" not in found
    assert (found["period"], found["secret_id_bound_cidrs"]) == (60, ["127.0.0.0/8"])


def test_a_deleted_role_takes_its_secret_ids_with_it_and_tokens_stay(logins) -> None:
    logins.role("local", local_secret_ids=True)
    token = logins.login().auth["client_token"]
    logins.make()
    logins.make("local")
    for name in ("APP", "local", "app"):
        assert logins.vault.delete(f"auth/approle/role/{name}").status == 204
    assert logins.stored() == []
    assert logins.vault.get("auth/token/lookup-self", token=token).ok
    assert logins.vault.list("auth/approle/role").status == 404


def test_a_disabled_method_leaves_nothing_and_ends_its_tokens(logins) -> None:
    logins.role("local", local_secret_ids=True)
    logins.make("local")
    token = logins.login().auth["client_token"]
    logins.vault.delete("sys/auth/approle")

    assert logins.vault.get("auth/token/lookup-self", token=token).status == 403
    assert logins.vault.core.storage.list("local/") == []


def test_roles_are_listed_by_pages(logins) -> None:
    for name in ("B", "c.d"):
        logins.role(name)
    assert logins.vault.list("auth/approle/role").data == {"keys": ["app", "b", "c.d"]}
    assert logins.vault.list("auth/approle/role?after=app&limit=1").data == {"keys": ["b"]}
    assert logins.vault.list("auth/approle/role?limit=x").status == 400


@pytest.mark.parametrize("name", ["a b", "tail-", "-a", "a@b", "ü"])
def test_other_names_are_no_path(logins, name: str) -> None:
    assert refused(logins.role(name), "unsupported path", 404)
