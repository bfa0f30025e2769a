"""Logging in with a role id and a secret id: what is judged in which order, what is spent, what the token says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import refused_bare

INVALID = "invalid role or secret ID"


def uses_left(logins, secret_id: str) -> Any:
    return logins.ask("secret-id/lookup", secret_id=secret_id).data["secret_id_num_uses"]


def test_the_token_is_as_the_role_says(logins) -> None:
    logins.role(token_policies=["b", "A"], token_ttl="10m", token_num_uses=4, token_explicit_max_ttl="1h")
    made = logins.make(metadata="team=blue,role_name=forged")
    auth = logins.login(f" {made['secret_id']}\n", f"\t{logins.role_id()} ").auth

    assert auth["policies"] == auth["token_policies"] == ["a", "b", "default"]
    assert auth["metadata"] == {"team": "blue", "role_name": "app"}
    assert (auth["lease_duration"], auth["num_uses"], auth["renewable"]) == (600, 4, True)
    assert (auth["orphan"], auth["token_type"], auth["mfa_requirement"]) == (True, "service", None)
    looked_up = logins.vault.post("auth/token/lookup-accessor", {"accessor": auth["accessor"]}).data
    assert (looked_up["path"], looked_up["display_name"]) == ("auth/approle/login", "approle")
    assert looked_up["entity_id"] == auth["entity_id"] == logins.login().auth["entity_id"] != ""


def test_another_role_id_is_another_entity(logins) -> None:
    first = logins.login().auth["entity_id"]
    logins.ask("role-id", role_id="new")
    assert logins.login().auth["entity_id"] != first


def test_no_policies_at_all_are_named_once(logins) -> None:
    logins.role(token_no_default_policy=True)
    auth = logins.login().auth
    assert (auth["policies"], "token_policies" in auth) == ([], False)


def test_a_batch_token_and_a_mount_that_forces_its_kind(logins) -> None:
    logins.role(token_type="batch", token_ttl="5m")
    auth = logins.login().auth
    assert (auth["accessor"], auth["renewable"], auth["token_type"]) == ("", False, "batch")
    logins.vault.post("sys/auth/approle/tune", {"token_type": "service"})
    assert logins.login().auth["token_type"] == "service"


@pytest.mark.parametrize(
    ("role_id", "secret_id", "text"),
    [
        ("", "x", "missing role_id"),
        (" ", "", "missing role_id"),
        ("none", "", INVALID),
        ("none", "x", INVALID),
        (None, "", "missing secret_id"),
        (None, "  ", "missing secret_id"),
        (None, "x", INVALID),
        (None, "x" * 4_097, "failed to create HMAC of secret_id: value is longer than maximum of 4096 bytes"),
    ],
)
def test_what_is_missing_or_wrong(logins, role_id: str | None, secret_id: str, text: str) -> None:
    before = logins.vault.core.commits
    assert refused_bare(logins.login(secret_id, role_id), text)
    assert logins.vault.core.commits == before


@pytest.mark.parametrize("body", [None, {}, {"role_id": None}, {"secret_id": "x"}])
def test_a_role_id_is_needed(logins, body: Any) -> None:
    assert refused_bare(logins.vault.post("auth/approle/login", body, token=""), "missing role_id")


def test_neither_is_a_list(logins) -> None:
    for body in ({"role_id": ["x"]}, {"role_id": "x", "secret_id": {"a": 1}}):
        answer = logins.vault.post("auth/approle/login", body, token="")
        assert answer.errors[0].startswith("Field validation failed: error converting input for field")


def test_a_token_is_ignored_and_other_paths_need_one(logins) -> None:
    body = {"role_id": logins.role_id(), "secret_id": logins.make()["secret_id"]}
    assert logins.vault.post("auth/approle/login", body, token="bogus").ok
    assert logins.vault.post("auth/approle/login/x", body, token="").status == 403
    assert logins.vault.post("auth/none/login", body, token="").status == 403
    assert logins.vault.get("auth/approle/login", token="").status == 405


def test_uses_are_counted_and_the_last_one_takes_it_away(logins) -> None:
    secret_id = logins.make(num_uses=2)["secret_id"]
    assert logins.login(secret_id).ok
    assert uses_left(logins, secret_id) == 1
    token = logins.login(secret_id).auth["client_token"]
    assert refused_bare(logins.login(secret_id), INVALID)
    assert logins.stored() == []
    assert logins.vault.get("auth/token/lookup-self", token=token).ok


def test_the_last_login_is_shown_as_an_update(logins, clock) -> None:
    secret_id = logins.make(num_uses=3)["secret_id"]
    clock.now_ns += 5_000_000_000
    logins.login(secret_id)
    found = logins.ask("secret-id/lookup", secret_id=secret_id).data
    assert (found["creation_time"], found["last_updated_time"]) == ("2030-01-01T00:00:00Z", "2030-01-01T00:00:05Z")


@pytest.mark.parametrize(
    ("role", "made", "text"),
    [
        ({}, {}, "unauthorized through CIDR restrictions on the secret ID"),
        ({}, {"num_uses": 2}, "unauthorized by CIDR restrictions on the secret ID"),
        ({"secret_id_bound_cidrs": "10.0.0.0/8"}, None, "unauthorized by CIDR restrictions on the role"),
    ],
)
def test_a_wrong_address_spends_nothing(logins, role: dict[str, Any], made: Any, text: str) -> None:
    logins.role(**role)
    made = {"num_uses": 1} if made is None else {"cidr_list": "10.0.0.0/8", **made}
    secret_id = logins.make(**made)["secret_id"]
    before = uses_left(logins, secret_id)
    refused = logins.login(secret_id, remote_address="192.168.0.1")
    assert refused_bare(refused, f'source address "192.168.0.1" {text}')
    assert uses_left(logins, secret_id) == before
    assert logins.login(secret_id, remote_address="10.9.9.9").ok


def test_the_secret_ids_blocks_are_judged_by_the_role_of_now(logins) -> None:
    secret_id = logins.make(cidr_list="127.0.0.0/8")["secret_id"]
    logins.role(secret_id_bound_cidrs="10.0.0.0/8")
    (text,) = logins.login(secret_id).errors
    assert text.startswith("failed to verify subset relationship between CIDR blocks on the role")


def test_a_role_that_binds_no_secret_id_ignores_any(logins) -> None:
    logins.role(bind_secret_id=False, secret_id_bound_cidrs="127.0.0.0/8")
    for secret_id in ("", "nonsense"):
        assert logins.login(secret_id).auth["metadata"] == {"role_name": "app"}
    assert logins.login("", remote_address="10.0.0.1").status == 400


def test_a_tokens_addresses_are_the_secret_ids_else_the_roles_and_judged_at_its_use(logins) -> None:
    logins.role(token_bound_cidrs="10.0.0.0/8")
    of_role = logins.login().auth["client_token"]
    of_secret_id = logins.login(logins.make(token_bound_cidrs="10.1.0.0/16")["secret_id"]).auth["client_token"]

    def looked_up(token: str, address: str) -> int:
        headers = {"X-Vault-Token": token}
        path = "/v1/auth/token/lookup-self"
        return int(logins.vault.request("GET", path, headers=headers, remote_address=address).status)

    assert [looked_up(of_role, address) for address in ("127.0.0.1", "10.2.0.1")] == [403, 200]
    assert [looked_up(of_secret_id, address) for address in ("10.2.0.1", "10.1.0.1")] == [403, 200]


def test_a_login_that_cannot_make_its_token_has_spent_a_use(logins) -> None:
    logins.role(token_policies="root")
    secret_id = logins.make(num_uses=2)["secret_id"]
    assert refused_bare(logins.login(secret_id), "auth methods cannot create root tokens")
    assert uses_left(logins, secret_id) == 1
    logins.login(secret_id)
    assert logins.stored() == []


def test_wrong_secret_ids_of_a_role_lock_it_out(logins, clock) -> None:
    for _ in range(5):
        assert refused_bare(logins.login("wrong"), INVALID)
    assert logins.login().status == 403
    other = logins.role("other")
    assert other.status == 204
    assert logins.login(logins.make("other")["secret_id"], logins.role_id("other")).ok
    clock.now_ns += 900_000_000_000
    assert logins.login().ok


def test_what_is_not_counted_locks_nobody_out(logins) -> None:
    far = logins.make(cidr_list="10.0.0.0/8")["secret_id"]
    for _ in range(9):
        logins.login("", None)
        logins.login("x", "unknown")
        logins.login(far)
    assert logins.login().ok
    assert logins.vault.get("sys/locked-users").data["total"] == 0


def test_a_refused_login_is_explained_to_the_trace_only(logins) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    logins.vault.core.observe = lambda kind, **fields: seen.append((kind, fields))
    logins.login("x", "unknown")
    logins.login("wrong")
    logins.login(logins.make(cidr_list="10.0.0.0/8")["secret_id"])
    assert [fields["reason"] for kind, fields in seen if kind == "login refused"] == ["role_id", "secret_id", "address"]


def test_a_foreign_mounts_secret_id_does_not_let_in(logins) -> None:
    logins.enable("second")
    logins.vault.post("auth/second/role/app", {"role_id": logins.role_id()})
    body = {"role_id": logins.role_id(), "secret_id": logins.make()["secret_id"]}
    assert logins.vault.post("auth/second/login", body, token="").status == 400


def test_a_success_ends_the_count_of_its_role(logins) -> None:
    for _ in range(3):
        for _ in range(4):
            assert refused_bare(logins.login("wrong"), INVALID)
        assert logins.login().ok
