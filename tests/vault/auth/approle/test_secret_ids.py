"""Secret ids: made within their role's limits, shown once, listed, looked up, destroyed, wrapped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import refused, refused_bare

NEVER = "0001-01-01T00:00:00Z"
SUBSET = "failed to verify subset relationship between CIDR blocks on the role {} and CIDR blocks on the secret ID {}"


def test_one_is_made_as_its_role_says_and_described(logins) -> None:
    logins.role(secret_id_ttl="1h", secret_id_num_uses=5)
    made = logins.make(metadata='{"team": "blue"}', ttl="10m", num_uses="2")

    assert (made["secret_id_ttl"], made["secret_id_num_uses"], len(made["secret_id"])) == (600, 2, 36)
    shown = {
        "secret_id_accessor": made["secret_id_accessor"],
        "secret_id_num_uses": 2,
        "secret_id_ttl": 600,
        "creation_time": "2030-01-01T00:00:00Z",
        "expiration_time": "2030-01-01T00:10:00Z",
        "last_updated_time": "2030-01-01T00:00:00Z",
        "metadata": {"team": "blue"},
        "cidr_list": [],
        "token_bound_cidrs": [],
    }
    assert logins.ask("secret-id/lookup", secret_id=made["secret_id"]).data == shown
    assert logins.make()["secret_id_ttl"] == 3_600
    assert logins.make()["secret_id"] != made["secret_id"]


def test_without_limits(logins) -> None:
    made = logins.make()
    found = logins.ask("secret-id/lookup", secret_id=made["secret_id"]).data
    assert (made["secret_id_ttl"], made["secret_id_num_uses"], found["expiration_time"]) == (0, 0, NEVER)


def test_a_ttl_above_the_mounts_is_cut_but_shown_as_given(logins) -> None:
    made = logins.make(ttl="5000h")
    found = logins.ask("secret-id/lookup", secret_id=made["secret_id"]).data
    assert (made["secret_id_ttl"], found["secret_id_ttl"]) == (2_764_800, 18_000_000)
    assert found["expiration_time"] == "2030-02-02T00:00:00Z"


@pytest.mark.parametrize(
    ("role", "asked", "text"),
    [
        ({"secret_id_ttl": 60}, {"ttl": 61}, "ttl cannot be longer than the role's secret_id_ttl"),
        ({"secret_id_ttl": 60}, {"ttl": 0}, "ttl cannot be longer than the role's secret_id_ttl"),
        ({"secret_id_num_uses": 2}, {"num_uses": 3}, "num_uses cannot be higher than the role's secret_id_num_uses"),
        ({"secret_id_num_uses": 2}, {"num_uses": 0}, "num_uses cannot be higher than the role's secret_id_num_uses"),
        ({}, {"num_uses": -1}, "num_uses cannot be negative"),
        ({}, {"metadata": "x"}, "failed to parse metadata: failed to parse the input: invalid <key,value> format"),
        (
            {"bind_secret_id": False, "token_bound_cidrs": "10.0.0.0/8"},
            {},
            "bind_secret_id is not set on the role",
        ),
        (
            {},
            {"metadata": {"a": "b"}},
            'Field validation failed: error converting input for field "metadata": '
            "'' expected type 'string', got unconvertible type 'map[string]interface {}'",
        ),
    ],
)
def test_what_a_role_does_not_give(logins, role: dict[str, Any], asked: dict[str, Any], text: str) -> None:
    logins.role(**role)
    for path, chosen in (("secret-id", {}), ("custom-secret-id", {"secret_id": "mine"})):
        assert refused_bare(logins.ask(path, **chosen, **asked), text)
    assert logins.stored() == []


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"cidr_list": "192.168.0.0/16"}, SUBSET.format('["127.0.0.0/8" "10.0.0.0/8"]', '["192.168.0.0/16"]')),
        ({"token_bound_cidrs": "10.0.0.0/8"}, SUBSET.format('["127.0.0.1"]', '["10.0.0.0/8"]')),
        ({"cidr_list": "10.0.0.1"}, "failed to validate CIDR blocks: invalid CIDR address: 10.0.0.1"),
        ({"token_bound_cidrs": "x"}, "failed to validate token CIDR blocks: invalid CIDR address: x"),
    ],
)
def test_addresses_are_blocks_within_the_roles(logins, asked: dict[str, Any], text: str) -> None:
    logins.role(secret_id_bound_cidrs="127.0.0.0/8,10.0.0.0/8", token_bound_cidrs="127.0.0.1")
    assert refused(logins.ask("secret-id", **asked), text)
    assert logins.stored() == []
    assert logins.ask("secret-id", token_bound_cidrs="127.0.0.1/32", cidr_list="10.1.0.0/16").ok


def test_one_of_the_callers_choice(logins) -> None:
    made = logins.ask("custom-secret-id", secret_id="mine", num_uses=1)
    assert made.data["secret_id"] == "mine"
    again = logins.ask("custom-secret-id", secret_id="mine")
    assert refused(again, "failed to store secret_id: SecretID is already registered")
    logins.role("other")
    assert logins.ask("custom-secret-id", "other", secret_id="mine").ok
    long = logins.ask("custom-secret-id", secret_id="x" * 4_097)
    text = "failed to store secret_id: failed to create HMAC of secret ID: value is longer than maximum of 4096 bytes"
    assert refused(long, text)
    assert logins.ask("custom-secret-id", secret_id="x" * 4_096).ok
    for empty in ({}, {"secret_id": ""}, {"secret_id": None}):
        assert refused_bare(logins.ask("custom-secret-id", **empty), "missing secret_id")


def test_a_destroyed_one_is_gone_and_unknown_ones_are_ignored(logins) -> None:
    made = logins.make()
    for path in ("destroy", "destroy"):
        assert logins.ask(f"secret-id/{path}", secret_id=made["secret_id"]).status == 204
    assert logins.ask("secret-id/lookup", secret_id=made["secret_id"]).status == 204
    assert logins.stored() == []
    logins.ask("custom-secret-id", secret_id="a b")
    assert logins.vault.delete("auth/approle/role/app/secret-id/destroy?secret_id=a%20b").status == 204
    assert logins.stored() == []


@pytest.mark.parametrize("path", ["secret-id/lookup", "secret-id/destroy"])
def test_a_request_names_one(logins, path: str) -> None:
    assert refused_bare(logins.ask(path), "missing secret_id")
    assert refused(logins.ask(path, "none", secret_id="x"), 'role "none" does not exist')
    assert logins.ask(path, secret_id="x" * 4_097).status == 400
    assert logins.vault.delete("auth/approle/role/app/secret-id/destroy").status == 400


def test_a_role_that_is_not_there(logins) -> None:
    for path, fields in (("secret-id", {}), ("custom-secret-id", {"secret_id": "x"})):
        answer = logins.ask(path, "none", **fields)
        assert (answer.status, answer.errors) == (404, ['role "none" does not exist'])
    assert refused_bare(logins.vault.list("auth/approle/role/none/secret-id"), 'role "none" does not exist')


def test_accessors_are_listed_by_pages(logins) -> None:
    assert logins.vault.list("auth/approle/role/app/secret-id").status == 404
    made = sorted(logins.make()["secret_id_accessor"] for _ in range(3))
    logins.role("other")
    logins.make("other")
    assert logins.vault.list("auth/approle/role/APP/secret-id").data == {"keys": made}
    page = logins.vault.list(f"auth/approle/role/app/secret-id?after={made[0]}&limit=1").data
    assert page == {"keys": made[1:2]}


def test_a_wrapped_one_is_named_by_its_accessor(logins) -> None:
    path, wrap = "auth/approle/role/app/secret-id", {"X-Vault-Wrap-TTL": "60s"}
    wrapped = logins.vault.post(path, {}, headers=wrap)
    assert wrapped.data is None
    opened = logins.vault.post("sys/wrapping/unwrap", {}, token=wrapped.wrap_info["token"])
    assert opened.data["secret_id_accessor"] == wrapped.wrap_info["wrapped_accessor"]
    assert logins.login(opened.data["secret_id"]).ok
    assert "wrapped_accessor" not in logins.vault.get("auth/approle/role/app/role-id", headers=wrap).wrap_info
    logged_in = logins.login(headers=wrap)
    inside = logins.vault.post("sys/wrapping/unwrap", {}, token=logged_in.wrap_info["token"])
    assert inside.auth["accessor"] == logged_in.wrap_info["wrapped_accessor"]


def test_nothing_shows_a_secret_id_again(logins) -> None:
    secret_id = logins.make()["secret_id"]
    found = [logins.ask("secret-id/lookup", secret_id=secret_id), logins.vault.list("auth/approle/role/app/secret-id")]
    assert secret_id not in str([answer.body for answer in found])
