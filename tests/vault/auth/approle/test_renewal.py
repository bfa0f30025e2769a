"""Renewing a role's tokens: by what the role says now, not at all without it."""

from __future__ import annotations

from tests.refusals import refused

RENEW = "auth/token/renew-self"


def test_the_role_of_now_decides_and_the_rest_stays(logins) -> None:
    logins.role(token_ttl="10m", token_policies="a")
    token = logins.login().auth["client_token"]
    logins.role(token_ttl="20m", token_policies="b")
    renewed = logins.vault.post(RENEW, {}, token=token).auth
    assert (renewed["lease_duration"], renewed["policies"]) == (1_200, ["a", "default"])
    logins.role(token_period="2m")
    assert logins.vault.post(RENEW, {}, token=token).auth["lease_duration"] == 120


def test_without_the_role_there_is_no_renewal_and_one_of_its_name_revives_it(logins) -> None:
    logins.role(token_ttl="10m")
    token = logins.login().auth["client_token"]
    logins.vault.delete("auth/approle/role/app")
    answer = logins.vault.post(RENEW, {}, token=token)
    assert refused(answer, 'failed to renew entry: role "app" does not exist during renewal')
    logins.role(token_ttl="1m")
    assert logins.vault.post(RENEW, {}, token=token).auth["lease_duration"] == 60
