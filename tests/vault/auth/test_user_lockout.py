"""User lock-out: how failures are counted, when they lock, what ends a lock, and where count and lock are kept."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.errors import BadRequest
from labkit.vault.auth.user_lockout import MAX_THRESHOLD, LockoutConfig, config_of, described, tuned
from labkit.vault.mounts import Mount
from labkit.vault.vault_node import VaultNode

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS


@pytest.fixture
def vault(clock: Any) -> Vault:
    """A seeded vault with users ada and bob, and a mount that other users log in at."""
    made = Vault.dev(seed=3, clock=clock)
    for mount in ("userpass", "other"):
        made.post(f"sys/auth/{mount}", {"type": "userpass"})
        made.post(f"auth/{mount}/users/ada", {"password": "right"})
    made.post("auth/userpass/users/bob", {"password": "right"})
    return made


def login(vault: Any, password: str = "right", name: str = "ada", mount: str = "userpass") -> int:
    return int(vault.post(f"auth/{mount}/login/{name}", {"password": password}, token="").status)


def fail(vault: Any, times: int, name: str = "ada") -> None:
    for _ in range(times):
        assert login(vault, "wrong", name) == 400


def test_the_fifth_failure_locks_for_a_quarter_of_an_hour_from_the_last(vault, clock) -> None:
    fail(vault, 4)
    clock.now_ns += MINUTE_NS
    fail(vault, 1)
    clock.now_ns += 15 * MINUTE_NS - 1
    assert (login(vault), login(vault, "wrong")) == (403, 403)
    clock.now_ns += 1
    assert login(vault) == 200


def test_a_locked_aliass_failures_are_not_counted_and_do_not_prolong(vault, clock) -> None:
    fail(vault, 5)
    clock.now_ns += 14 * MINUTE_NS
    assert [login(vault, "wrong") for _ in range(9)] == [403] * 9
    clock.now_ns += MINUTE_NS
    assert login(vault) == 200


def test_a_failure_counts_with_the_one_before_it_for_a_quarter_of_an_hour(vault, clock) -> None:
    for _ in range(4):
        fail(vault, 1)
        clock.now_ns += 15 * MINUTE_NS - 1
    clock.now_ns += 1
    fail(vault, 4)
    assert login(vault) == 200

    for _ in range(5):
        fail(vault, 1)
        clock.now_ns += 10 * MINUTE_NS
    assert login(vault) == 403


def test_a_success_ends_the_count(vault) -> None:
    for _ in range(3):
        fail(vault, 4)
        assert login(vault) == 200


def test_others_and_other_mounts_are_not_locked(vault) -> None:
    fail(vault, 5)

    assert (login(vault, name="bob"), login(vault, mount="other"), login(vault, name="ADA")) == (200, 200, 403)


def test_neither_a_new_password_nor_a_new_user_of_the_name_unlocks(vault) -> None:
    fail(vault, 5)
    vault.post("auth/userpass/users/ada/password", {"password": "right"})
    assert login(vault) == 403
    vault.delete("auth/userpass/users/ada")
    vault.post("auth/userpass/users/ada", {"password": "right"})
    assert login(vault) == 403


def test_what_is_tuned_holds_from_then_on(vault, clock) -> None:
    tune = "sys/auth/userpass/tune"
    assert vault.post(tune, {"user_lockout_config": {"lockout_threshold": "2", "lockout_duration": "1m"}}).status == 204
    fail(vault, 2)
    assert login(vault) == 403
    clock.now_ns += MINUTE_NS
    assert login(vault) == 200

    vault.post(tune, {"user_lockout_config": {"lockout_disable": True}})
    fail(vault, 9)
    assert login(vault) == 200


def test_a_disabled_lock_out_lets_in_whoever_was_locked(vault) -> None:
    fail(vault, 5)
    vault.post("sys/auth/userpass/tune", {"user_lockout_config": {"lockout_disable": True}})
    assert login(vault) == 200


def test_a_failure_soon_after_a_short_lock_goes_on_with_the_count(vault, clock) -> None:
    vault.post("sys/auth/userpass/tune", {"user_lockout_config": {"lockout_duration": "1m"}})
    fail(vault, 5)
    clock.now_ns += MINUTE_NS
    fail(vault, 1)
    assert login(vault) == 403


def test_what_is_tuned_is_shown_once_anything_was_set(vault) -> None:
    assert "user_lockout_threshold" not in vault.get("sys/auth/userpass/tune").data
    vault.post("sys/mounts/auth/userpass/tune", {"user_lockout_config": {"lockout_duration": 60}})
    shown = vault.get("sys/auth/userpass/tune").data
    config = vault.get("sys/auth").data["userpass/"]["config"]["user_lockout_config"]

    assert {name: value for name, value in shown.items() if name.startswith("user_")} == {
        "user_lockout_counter_reset_duration": 0,
        "user_lockout_disable": False,
        "user_lockout_duration": 60,
        "user_lockout_threshold": 0,
    }
    assert config == {
        "lockout_counter_reset_duration": 0,
        "lockout_disable": False,
        "lockout_duration": 60,
        "lockout_threshold": 0,
    }


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"lockout_threshold": "x"}, 'unable to parse user lockout threshold: strconv.ParseUint: parsing "x": '),
        ({"lockout_threshold": str(MAX_THRESHOLD + 1)}, "unable to parse user lockout threshold"),
        ({"lockout_threshold": "²"}, "unable to parse user lockout threshold"),
        ({"lockout_threshold": [3]}, "unable to convert given user lockout config information"),
        ({"lockout_threshold": True}, "unable to convert given user lockout config information"),
        ({"lockout_duration": "x"}, 'time: invalid duration "x"'),
        ({"lockout_duration": -1}, "cannot provide negative value '-1'"),
        ({"lockout_counter_reset_duration": []}, ""),
        ({"lockout_disable": "true"}, "unable to convert given user lockout config information"),
        ({"lockout_disable": 1}, "unable to convert given user lockout config information"),
    ],
)
def test_what_cannot_be_tuned_changes_nothing(vault, sent, text: str) -> None:
    refused = vault.post("sys/auth/userpass/tune", {"user_lockout_config": sent, "description": "d"})

    assert (refused.status, refused.errors[0][: len(text)]) == (400, text)
    assert vault.get("sys/auth/userpass/tune").data["description"] == ""


@pytest.mark.parametrize(("path", "kind"), [("auth/token", "token"), ("auth/cloud", "cloud"), ("mounts/secret", "kv")])
def test_other_kinds_lock_nobody_out(vault, path: str, kind: str) -> None:
    refused = vault.post(f"sys/{path}/tune", {"user_lockout_config": {"lockout_threshold": "3"}})
    assert refused.errors == [f'tuning of user lockout configuration for auth type "{kind}" not allowed']


def test_it_is_not_configured_while_enabling(vault) -> None:
    refused = vault.post("sys/auth/x", {"type": "approle", "config": {"user_lockout_config": {"lockout_threshold": 3}}})
    assert refused.status == 400
    assert refused.errors[0].startswith("unable to convert given auth config information")
    assert vault.get("sys/auth/x").status == 400


def test_nothing_sent_changes_nothing_and_zero_is_what_every_mount_has() -> None:
    assert tuned((), {}) == tuned((), {"nonsense": 1}) == ()
    assert tuned((3, 60, 60, 1), {"lockout_threshold": "0", "lockout_duration": "system"}) == (0, 0, 60, 1)
    assert config_of(Mount("auth/u/", "userpass", "u", "a")) == config_of(None) == LockoutConfig(5, 900, 900, 0)
    assert described((), "x") == {}


def test_the_count_is_the_nodes_and_the_lock_is_stored(vault) -> None:
    """A node that is built again from its state goes on; one that only has the store knows the lock, not the count."""
    fail(vault, 5)
    fail(vault, 4, "bob")
    state = vault.state()
    assert len(state["login_failures"]) == 2
    restored = VaultNode(vault.core.storage, vault.environment, state=state)
    assert restored.state()["login_failures"] == state["login_failures"]

    vault.post("sys/seal")
    vault.unseal_with(tuple(vault.unseal_keys[:3]))
    assert vault.state()["login_failures"] == {}
    assert login(vault) == 403
    fail(vault, 4, "bob")
    assert login(vault, name="bob") == 200


def test_what_is_counted_has_a_limit(vault, monkeypatch) -> None:
    monkeypatch.setattr("labkit.vault.auth.user_lockout.MAX_COUNTED", 1)
    fail(vault, 4)
    fail(vault, 1, "bob")
    fail(vault, 4)
    assert login(vault) == 200


def test_a_refused_login_is_reported_without_who_it_was(vault) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    vault.core.observe = lambda kind, **fields: seen.append((kind, fields))
    fail(vault, 5)
    login(vault)

    assert [fields["reason"] for kind, fields in seen if kind == "login refused"] == ["password"] * 5 + ["locked_out"]
    assert ("user locked out", {"mount": "auth/userpass/"}) in seen
    assert "ada" not in str(seen)


def test_a_threshold_is_read_as_text_or_number() -> None:
    assert tuned((), {"lockout_threshold": 3}) == tuned((), {"lockout_threshold": "3"}) == (3, 0, 0, 0)
    with pytest.raises(BadRequest):
        tuned((), {"lockout_threshold": 3.0})
