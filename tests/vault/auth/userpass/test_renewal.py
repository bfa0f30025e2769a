"""Renewing a user's tokens: by what the user's record says now, while the policies are the same."""

from __future__ import annotations

from tests.refusals import refused

RENEW = "auth/token/renew-self"


def test_the_record_of_now_decides(logins) -> None:
    logins.user(token_ttl="10m", token_policies="a")
    token = logins.login().auth["client_token"]
    logins.user(token_ttl="20m", token_policies="default,a")
    assert logins.vault.post(RENEW, {}, token=token).auth["lease_duration"] == 1_200
    logins.user(token_period="2m")
    assert logins.vault.post(RENEW, {}, token=token).auth["lease_duration"] == 120


def test_other_policies_end_renewals_and_the_same_revive_them(logins) -> None:
    logins.user(token_policies="a")
    token = logins.login().auth["client_token"]
    logins.user(token_policies="a,b")
    text = "failed to renew entry: policies have changed, not renewing"
    assert refused(logins.vault.post(RENEW, {}, token=token), text)
    logins.user(token_policies="a")
    assert logins.vault.post(RENEW, {}, token=token).ok


def test_a_deleted_users_token_is_silently_not_renewed(logins, clock) -> None:
    logins.user(token_ttl="10m")
    token = logins.login().auth["client_token"]
    logins.vault.delete("auth/userpass/users/ada")
    clock.now_ns += 60_000_000_000
    assert logins.vault.post(RENEW, {}, token=token).status == 204
    assert logins.vault.get("auth/token/lookup-self", token=token).data["ttl"] == 540
