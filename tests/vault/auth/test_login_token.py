"""Tokens of a login: kind, life, uses and policies as the role says, and what a renewal and an unmount do to them."""

from __future__ import annotations

import pytest

HOUR_NS = 3_600_000_000_000
DEFAULT_S = 2_764_800
LOOKUP = "auth/token/lookup-self"
RENEW = "auth/token/renew-self"


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({}, DEFAULT_S),
        ({"token_ttl": 60}, 60),
        ({"token_ttl": 60, "token_max_ttl": 90}, 60),
        ({"token_max_ttl": 90}, 90),
        ({"token_ttl": 60, "token_period": 30}, 30),
        ({"token_ttl": 60, "token_explicit_max_ttl": 20}, 20),
        ({"token_type": "batch", "token_ttl": 60}, 60),
    ],
)
def test_how_long_it_lives(stand, fields, seconds) -> None:
    stand.role("sp", **fields)
    auth = stand.login().auth

    assert (auth["lease_duration"], auth["renewable"]) == (seconds, fields.get("token_type") != "batch")


def test_a_renewal_consults_the_role_as_it_is_now(stand) -> None:
    stand.role("sp", token_ttl=60)
    token = stand.login().auth["client_token"]
    stand.role("sp", token_ttl=600, token_max_ttl=630, bound_service_principal_ids="somebody-else")
    assert stand.vault.post(RENEW, token=token).auth["lease_duration"] == 600
    assert stand.vault.post(RENEW, {"increment": 30}, token=token).auth["lease_duration"] == 30
    stand.clock.now_ns += 10_000_000_000
    assert stand.vault.post(RENEW, {"increment": "1h"}, token=token).auth["lease_duration"] == 620
    stand.role("sp", token_period=45)
    assert stand.vault.post(RENEW, {"increment": 5}, token=token).auth["lease_duration"] == 45
    stand.vault.delete("auth/cloud/role/sp")
    refused = stand.vault.post(RENEW, token=token)

    assert (refused.status, refused.errors[0]) == (400, 'original token role "sp" could not be found, not renewing')
    assert stand.vault.get(LOOKUP, token=token).ok


def test_the_explicit_maximum_is_the_one_that_it_was_issued_with(stand) -> None:
    stand.role("sp", token_period=60, token_explicit_max_ttl=100)
    token = stand.login().auth["client_token"]
    stand.role("sp", token_explicit_max_ttl=0)
    stand.clock.now_ns += 50_000_000_000
    renewed = stand.vault.post(RENEW, token=token)

    assert renewed.auth["lease_duration"] == 50
    assert "capped accordingly" in renewed.warnings[0]


@pytest.mark.parametrize(
    ("tuned", "role", "kind"),
    [
        ("default-service", "default", "service"),
        ("default-service", "batch", "batch"),
        ("default-batch", "default", "batch"),
        ("default-batch", "service", "service"),
        ("batch", "service", "batch"),
        ("service", "batch", "service"),
    ],
)
def test_its_kind_is_the_roles_unless_the_mount_forces_one(stand, tuned, role, kind) -> None:
    assert stand.vault.post("sys/auth/cloud/tune", {"token_type": tuned}).ok
    stand.role("sp", token_type=role)
    auth = stand.login().auth

    assert (auth["token_type"], auth["client_token"][:4]) == (kind, "hvs." if kind == "service" else "hvb.")
    assert stand.vault.get(LOOKUP, token=auth["client_token"]).data["entity_id"] == auth["entity_id"]


def test_uses_and_addresses_are_counted_and_checked(stand) -> None:
    stand.role("sp", token_num_uses=2, token_bound_cidrs=["127.0.0.0/8"])
    token = stand.login().auth["client_token"]
    headers = {"X-Vault-Token": token}
    elsewhere = stand.vault.request("GET", f"/v1/{LOOKUP}", headers=headers, remote_address="10.0.0.1")

    assert [elsewhere.status, *[stand.vault.get(LOOKUP, token=token).status for _ in range(2)]] == [403, 200, 403]


def test_policies_are_the_roles(stand) -> None:
    stand.role("sp", token_policies=" B ,a,a", token_no_default_policy=True)
    assert stand.login().auth["policies"] == ["a", "b"]
    stand.role("sp", token_policies="a, ROOT ")
    refused = stand.login()

    assert (refused.status, refused.errors) == (400, ["auth methods cannot create root tokens"])


def test_whoever_logs_in_twice_is_one_entity_and_leaves_no_more_than_two_tokens(stand) -> None:
    first = stand.login().auth
    storage = stand.vault.core.storage
    folders = ("token/id/", "token/accessor/", "token/child/", "identity/alias/", "node/", "node/mount/", "core/")
    before = [len(storage.list(folder)) for folder in folders]
    second = stand.login().auth

    assert first["entity_id"] == second["entity_id"]
    more = [len(storage.list(folder)) - count for folder, count in zip(folders, before, strict=True)]
    assert more == [1, 0, 0, 0, 0, 0, 0]


def test_unmounting_the_method_ends_its_tokens_and_no_others(stand) -> None:
    stand.vault.post("sys/auth/elsewhere", {"type": "cloud"})
    stand.vault.post("auth/elsewhere/config", stand.cloud.config)
    stand.vault.post("auth/elsewhere/role/sp", {"bound_service_principal_ids": stand.cloud.vm("web-1").principal_id})
    other = stand.login(mount="auth/elsewhere").auth
    own = stand.login().auth
    assert other["entity_id"] != own["entity_id"]
    assert stand.vault.list("sys/leases/lookup/auth").data == {"keys": ["cloud/", "elsewhere/"]}
    assert stand.vault.delete("sys/auth/cloud").status == 204

    assert stand.vault.get(LOOKUP, token=own["client_token"]).status == 403
    assert stand.vault.get(LOOKUP, token=other["client_token"]).ok
    assert stand.login().status == 403  # without a mount, as without a token


def test_a_login_is_made_in_a_namespace_and_its_token_belongs_there(stand) -> None:
    headers = {"X-Vault-Namespace": "team"}
    stand.vault.post("sys/namespaces/team")
    for path, body in (
        ("sys/auth/cloud", {"type": "cloud"}),
        ("auth/cloud/config", stand.cloud.config),
        ("auth/cloud/role/sp", {"bound_service_principal_ids": stand.cloud.vm("web-1").principal_id}),
    ):
        assert stand.vault.post(path, body, headers=headers).status == 204
    token = stand.login(mount="team/auth/cloud").auth["client_token"]

    assert token.rpartition(".")[2] == stand.vault.get("sys/namespaces/team").data["id"]
    assert stand.vault.get(LOOKUP, token=token, headers=headers).data["namespace_path"] == "team/"
    assert stand.vault.post(RENEW, token=token, headers=headers).ok
    assert stand.vault.delete("sys/namespaces/team").ok
    assert stand.vault.core.storage.list("node/mount/") == []


def test_moving_the_method_ends_its_tokens_as_they_stand_at_its_path(stand) -> None:
    stand.vault.post("sys/namespaces/team")
    token, other = stand.login().auth["client_token"], stand.vault.post("auth/token/create").auth["client_token"]
    assert stand.vault.post("sys/remount", {"from": "auth/cloud", "to": "team/auth/moved"}).ok

    assert [stand.vault.get(LOOKUP, token=each).status for each in (token, other)] == [403, 200]
    below = stand.login(mount="team/auth/moved").auth["client_token"]
    assert stand.vault.post("sys/remount", {"from": "team/auth/moved", "to": "auth/back"}).ok
    assert stand.vault.get(LOOKUP, token=below, headers={"X-Vault-Namespace": "team"}).status == 403
    assert stand.login(mount="auth/back").ok
