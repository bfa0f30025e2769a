"""A role's settings at paths of their own: read, written, set back, and judged as the role as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.auth.approle.role_fields import SETTINGS
from tests.refusals import refused, refused_bare

WRITTEN: dict[str, tuple[str, Any, Any, Any]] = {
    "policies": ("token_policies", "b,A,b", ["a", "b"], []),
    "secret-id-bound-cidrs": ("secret_id_bound_cidrs", ["10.0.0.0/8"], ["10.0.0.0/8"], None),
    "token-bound-cidrs": ("token_bound_cidrs", "127.0.0.1/32", ["127.0.0.1"], None),
    "secret-id-num-uses": ("secret_id_num_uses", "4", 4, 0),
    "secret-id-ttl": ("secret_id_ttl", "1h", 3_600, 0),
    "period": ("token_period", 90, 90, 0),
    "token-num-uses": ("token_num_uses", 5, 5, 0),
    "token-ttl": ("token_ttl", "2m", 120, 0),
    "token-max-ttl": ("token_max_ttl", "1h", 3_600, 0),
}


def ask(logins, path: str, name: str = "app") -> Any:
    return logins.vault.get(f"auth/approle/role/{name}/{path}")


@pytest.mark.parametrize("path", WRITTEN)
def test_each_is_written_read_and_set_back(logins, path: str) -> None:
    name, sent, shown, at_first = WRITTEN[path]
    assert ask(logins, path).data == {name: at_first}
    assert logins.ask(path, **{name: sent}).status == 204
    assert ask(logins, path).data == {name: shown}
    assert logins.vault.get("auth/approle/role/app").data[name] == shown
    assert logins.vault.delete(f"auth/approle/role/app/{path}").status == 204
    assert ask(logins, path).data == {name: at_first}


def test_a_role_that_binds_no_secret_id(logins) -> None:
    nothing = "at least one constraint should be enabled on the role"
    assert refused(logins.ask("bind-secret-id", bind_secret_id=False), nothing)
    logins.ask("token-bound-cidrs", token_bound_cidrs="127.0.0.1")
    assert logins.ask("bind-secret-id", bind_secret_id="0").status == 204
    assert ask(logins, "bind-secret-id").data == {"bind_secret_id": False}
    assert refused(logins.vault.delete("auth/approle/role/app/token-bound-cidrs"), nothing)
    assert ask(logins, "token-bound-cidrs").data == {"token_bound_cidrs": ["127.0.0.1"]}
    assert logins.vault.delete("auth/approle/role/app/bind-secret-id").status == 204
    assert ask(logins, "bind-secret-id").data == {"bind_secret_id": True}


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.path for setting in SETTINGS])
def test_a_role_that_is_not_there(logins, setting) -> None:
    assert ask(logins, setting.path, "none").status == 404
    assert ask(logins, setting.path, "none").errors == []
    sent = {setting.field.name: 1}
    assert refused(logins.ask(setting.path, "none", **sent), "unsupported path", 404)
    assert logins.vault.delete(f"auth/approle/role/none/{setting.path}").status == 204


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.path for setting in SETTINGS])
def test_a_write_needs_the_setting_but_for_addresses(logins, setting) -> None:
    name = setting.field.name
    answer = logins.ask(setting.path, nonsense=1)
    if name.endswith("cidrs"):
        assert answer.status == 204
    else:
        assert refused_bare(answer, f"missing {'period' if name == 'token_period' else name}")
    wrong = {"x": [1]}
    assert (
        logins.ask(setting.path, **{name: wrong})
        .errors[0]
        .startswith(f'Field validation failed: error converting input for field "{name}": ')
    )


@pytest.mark.parametrize(
    ("path", "fields", "text"),
    [
        ("secret-id-bound-cidrs", {"secret_id_bound_cidrs": []}, "missing bound_cidr_list"),
        (
            "secret-id-bound-cidrs",
            {"secret_id_bound_cidrs": "10.0.0.1"},
            "failed to validate CIDR blocks: invalid CIDR address: 10.0.0.1",
        ),
        (
            "token-bound-cidrs",
            {"token_bound_cidrs": "x"},
            'failed to parse token_bound_cidrs: error parsing address "x": Unable to convert "x" to an IPv4 or IPv6 '
            "address, or a UNIX Socket",
        ),
        ("secret-id-num-uses", {"secret_id_num_uses": -1}, "secret_id_num_uses cannot be negative"),
        ("token-num-uses", {"token_num_uses": -1}, "'token_num_uses' cannot be negative"),
        (
            "period",
            {"period": "5000h"},
            'period of "5000h0m0s" is greater than the backend\'s maximum lease TTL of "768h0m0s"',
        ),
        (
            "period",
            {"token_period": "5000h"},
            'period of "0s" is greater than the backend\'s maximum lease TTL of "768h0m0s"',
        ),
    ],
)
def test_what_cannot_be_changes_nothing(logins, path: str, fields: dict[str, Any], text: str) -> None:
    before = logins.vault.get("auth/approle/role/app").data
    assert refused_bare(logins.ask(path, **fields), text)
    assert logins.vault.get("auth/approle/role/app").data == before


def test_both_lives_fit_together(logins) -> None:
    logins.role(token_ttl="10m", token_max_ttl="1h")
    assert refused_bare(logins.ask("token-ttl", token_ttl="2h"), "token_ttl should not be greater than token_max_ttl")
    text = "token_max_ttl should be greater than or equal to token_ttl"
    assert refused_bare(logins.ask("token-max-ttl", token_max_ttl="5m"), text)
    assert logins.ask("token-max-ttl", token_max_ttl=0).status == 204
    assert logins.ask("token-ttl", token_ttl="2h").status == 204
    assert "will be truncated" in logins.ask("token-max-ttl", token_max_ttl="5000h").warnings[0]


def test_what_a_batch_token_cannot_keep_is_refused_here_too(logins) -> None:
    logins.role(token_type="batch")
    for path, fields in (("period", {"token_period": 5}), ("token-num-uses", {"token_num_uses": 5})):
        assert logins.ask(path, **fields).status == 400


def test_old_names_are_written_shown_and_dropped(logins) -> None:
    logins.ask("period", period=90)
    assert ask(logins, "period").data == {"period": 90, "token_period": 90}
    logins.ask("period", period=30, token_period=60)
    assert ask(logins, "period").data == {"period": 60, "token_period": 60}
    logins.vault.delete("auth/approle/role/app/period")
    assert ask(logins, "period").data == {"token_period": 0}
    logins.ask("policies", policies="old")
    assert ask(logins, "policies").data == {"policies": ["old"], "token_policies": ["old"]}
    logins.ask("policies", token_policies="new")
    assert ask(logins, "policies").data == {"token_policies": ["new"]}


def test_the_old_list_of_addresses_is_written_and_shows_nothing(logins) -> None:
    assert logins.ask("bound-cidr-list", bound_cidr_list="10.0.0.0/8").status == 204
    shown = ask(logins, "bound-cidr-list")
    assert (shown.data, len(shown.warnings)) == ({"bound_cidr_list": None}, 1)
    assert "deprecated" in shown.warnings[0]
    assert logins.vault.delete("auth/approle/role/app/bound-cidr-list").status == 204
    assert ask(logins, "secret-id-bound-cidrs").data == {"secret_id_bound_cidrs": ["10.0.0.0/8"]}
    assert refused_bare(logins.ask("bound-cidr-list", bound_cidr_list=[]), "missing bound_cidr_list")
    assert logins.ask("bound-cidr-list").status == 204
    assert ask(logins, "bound-cidr-list", "none").status == 404


def test_where_secret_ids_are_kept_is_only_read(logins) -> None:
    assert ask(logins, "local-secret-ids").data == {"local_secret_ids": False}
    assert logins.ask("local-secret-ids", local_secret_ids=True).status == 405
    assert logins.vault.delete("auth/approle/role/app/local-secret-ids").status == 405


def test_an_unchanged_role_keeps_what_else_it_says(logins) -> None:
    logins.role(token_policies=["z", "a"], secret_id_ttl=60)
    logins.ask("token-ttl", token_ttl=5)
    found = logins.vault.get("auth/approle/role/app").data
    assert (found["token_policies"], found["secret_id_ttl"], found["token_ttl"]) == (["z", "a"], 60, 5)
