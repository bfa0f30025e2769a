"""Expired secret ids: they log in and are listed until the next minute begins, or somebody tidies."""

from __future__ import annotations

import pytest

from labkit import Vault

SECOND_NS = 1_000_000_000


@pytest.mark.parametrize("local", [False, True])
def test_one_goes_with_its_accessor_when_the_minute_after_its_end_begins(logins, clock, local: bool) -> None:
    logins.role("of", local_secret_ids=local)
    secret_id = logins.make("of", ttl="70s")["secret_id"]
    kept = logins.make("of", ttl="1h")["secret_id_accessor"]
    clock.now_ns += 120 * SECOND_NS - 1
    assert logins.login(secret_id, logins.role_id("of")).ok
    assert len(logins.vault.list("auth/approle/role/of/secret-id").data["keys"]) == 2
    clock.now_ns += 1
    assert logins.login(secret_id, logins.role_id("of")).status == 400
    assert logins.vault.list("auth/approle/role/of/secret-id").data == {"keys": [kept]}
    assert len(logins.stored()) == 2


def test_tidy_deletes_what_has_expired_at_once(logins, clock) -> None:
    logins.role("local", local_secret_ids=True)
    for role in ("app", "local"):
        logins.make(role, ttl="10s")
        logins.make(role)
        logins.make(role, ttl="30s")
    clock.now_ns += 10 * SECOND_NS
    answer = logins.vault.post("auth/approle/tidy/secret-id")
    assert (answer.status, answer.warnings[0][:36]) == (202, "Tidy operation successfully started.")
    assert len(logins.stored()) == 8
    for method in ("GET", "DELETE"):
        headers = {"X-Vault-Token": logins.vault.root_token}
        assert logins.vault.request(method, "/v1/auth/approle/tidy/secret-id", headers=headers).status == 405


def test_when_one_falls_due_is_derived_again_after_an_unseal(logins, clock) -> None:
    logins.make(ttl="70s")
    logins.vault.post("sys/seal")
    logins.vault.unseal_with(tuple(logins.vault.unseal_keys[:3]))
    assert logins.vault.next_due() == clock.now_ns + 120 * SECOND_NS
    clock.now_ns += 120 * SECOND_NS
    assert logins.vault.tick() == 1
    assert logins.stored() == []


def test_one_that_was_destroyed_before_falls_due_no_more(logins) -> None:
    made = logins.make(ttl="70s")
    assert logins.vault.next_due()
    logins.ask("secret-id/destroy", secret_id=made["secret_id"])
    logins.vault.core.next_due_ns = None
    assert logins.vault.next_due() is None


def test_after_a_restart_all_is_as_before(tmp_path, clock) -> None:
    path = str(tmp_path / "vault.db")
    first = Vault.open(path, clock=clock)
    first.post("sys/auth/approle", {"type": "approle"})
    first.post("auth/approle/role/app", {"secret_id_ttl": "70s", "secret_id_num_uses": 2})
    role_id = first.get("auth/approle/role/app/role-id").data["role_id"]
    body = {"role_id": role_id, "secret_id": first.post("auth/approle/role/app/secret-id").data["secret_id"]}
    assert first.post("auth/approle/login", body, token="").ok
    first.close()

    second = Vault.open(path, clock=clock)
    assert second.post("auth/approle/login", body, token="").ok
    assert second.post("auth/approle/login", body, token="").status == 400
    expiring = second.post("auth/approle/role/app/secret-id").data["secret_id"]
    clock.now_ns += 120 * SECOND_NS
    assert second.post("auth/approle/login", {**body, "secret_id": expiring}, token="").status == 400
    second.close()
