"""Users: what is written is read back, field by field, never the password; what cannot be is refused unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import refused, refused_bare

PLAIN: dict[str, Any] = {
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
NEITHER = "must provide either password or password_hash"


def read(logins, name: str = "ada") -> Any:
    return logins.vault.get(f"auth/userpass/users/{name}").data


def test_what_is_sent_is_shown_and_what_is_not_stays(logins) -> None:
    assert read(logins) == PLAIN
    sent = {
        "token_bound_cidrs": ["127.0.0.1/32", "10.0.0.0/8"],
        "token_explicit_max_ttl": "3h",
        "token_max_ttl": "2h",
        "token_no_default_policy": True,
        "token_num_uses": "3",
        "token_period": 5,
        "token_policies": ["B", "a", "B"],
        "token_ttl": 60,
        "token_type": "service",
    }
    shown = sent | {
        "token_bound_cidrs": ["127.0.0.1", "10.0.0.0/8"],
        "token_explicit_max_ttl": 10_800,
        "token_max_ttl": 7_200,
        "token_num_uses": 3,
    }
    assert logins.user(**sent).status == 204
    assert read(logins) == shown
    assert logins.user(token_ttl="2m", nonsense=1).status == 204
    assert read(logins) == shown | {"token_ttl": 120}
    assert logins.user().status == 204


@pytest.mark.parametrize("sent", [{}, {"password": ""}, {"password": None}, {"password_hash": ""}])
def test_a_new_user_needs_a_password_and_one_who_is_there_does_not(logins, sent: dict[str, Any]) -> None:
    assert refused_bare(logins.user("bob", token_ttl=5, **sent), NEITHER)
    assert logins.user(**sent).status == 204
    assert logins.login().ok


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"token_type": "x"}, "invalid 'token_type' value \"x\"; expected one of default, service, batch"),
        ({"token_type": "default-service"}, None),
        ({"token_num_uses": -1}, "'token_num_uses' cannot be negative"),
        ({"token_ttl": 2, "token_max_ttl": 1}, "'token_ttl' cannot be greater than 'token_max_ttl'"),
        ({"token_type": "batch", "token_period": 1}, None),
        ({"token_type": "batch", "token_num_uses": 1}, None),
        (
            {"token_bound_cidrs": "x"},
            'error parsing address "x": Unable to convert "x" to an IPv4 or IPv6 address, or a UNIX Socket',
        ),
        ({"token_ttl": "x"}, 'error converting input for field "token_ttl": time: invalid duration "x"'),
        (
            {"password": ["a"]},
            "error converting input for field \"password\": '' expected type 'string', got unconvertible type "
            "'[]interface {}'",
        ),
    ],
)
def test_what_cannot_be_changes_nothing(logins, fields: dict[str, Any], text: str | None) -> None:
    answer = logins.user(**fields)
    assert answer.status == 400
    assert text is None or answer.errors == [text]
    assert read(logins) == PLAIN
    assert logins.user("bob", **{"password": "x", **fields}).status == 400
    assert logins.vault.get("auth/userpass/users/bob").status == 404


def test_what_is_stored_is_judged_with_what_is_sent(logins) -> None:
    logins.user(token_max_ttl="1h")
    answer = logins.user(token_ttl="2h", password="new")
    assert refused_bare(answer, "'token_ttl' cannot be greater than 'token_max_ttl'")
    assert logins.login().ok


def test_old_names_are_shown_until_only_the_new_one_is_written(logins) -> None:
    logins.user(policies=["z", "X", "z"], ttl="1m", max_ttl="2m", bound_cidrs="127.0.0.1")
    assert read(logins) == PLAIN | {
        "policies": ["x", "z"],
        "token_policies": ["x", "z"],
        "ttl": 60,
        "token_ttl": 60,
        "max_ttl": 120,
        "token_max_ttl": 120,
        "bound_cidrs": ["127.0.0.1"],
        "token_bound_cidrs": ["127.0.0.1"],
    }
    logins.user(token_ttl=30, policies="p", token_policies="q")
    found = read(logins)
    assert "ttl" not in found
    assert (found["policies"], found["token_policies"], found["max_ttl"]) == (["q"], ["q"], 120)


def test_users_are_listed_by_pages_in_lower_case_and_deleted(logins) -> None:
    for name in ("Bob", "c.d"):
        logins.user(name, password="x")
    assert logins.vault.list("auth/userpass/users").data == {"keys": ["ada", "bob", "c.d"]}
    assert logins.vault.list("auth/userpass/users?after=ada&limit=1").data == {"keys": ["bob"]}
    for name in ("ADA", "bob", "c.d", "c.d"):
        assert logins.vault.delete(f"auth/userpass/users/{name}").status == 204
    assert logins.vault.list("auth/userpass/users").status == 404
    assert logins.login().status == 400


@pytest.mark.parametrize("name", ["a b", "tail-", "a@b", "ü"])
def test_other_names_are_no_path(logins, name: str) -> None:
    assert refused(logins.user(name, password="x"), "unsupported path", 404)


def test_a_password_is_changed_in_any_case_of_the_name(logins) -> None:
    token = logins.login().auth["client_token"]
    assert logins.vault.post("auth/userpass/users/ADA/password", {"password": 12}).status == 204
    assert [logins.login(password).status for password in ("right", "12", 12)] == [400, 200, 200]
    assert logins.vault.get("auth/token/lookup-self", token=token).ok
    assert logins.vault.list("auth/userpass/users").data == {"keys": ["ada"]}


@pytest.mark.parametrize("sent", [None, {}, {"password": ""}, {"password": None}])
def test_a_change_of_the_password_needs_one(logins, sent: Any) -> None:
    assert refused_bare(logins.vault.post("auth/userpass/users/ada/password", sent), NEITHER)


@pytest.mark.parametrize("path", ["password", "policies"])
def test_an_unknown_user_has_neither(logins, path: str) -> None:
    answer = logins.vault.post(f"auth/userpass/users/bob/{path}", {"password": "x", "token_policies": "x"})
    assert refused(answer, "username does not exist")
    assert logins.vault.get(f"auth/userpass/users/ada/{path}").status == 405
    assert logins.vault.delete(f"auth/userpass/users/ada/{path}").status == 405


def test_policies_are_changed_cleaned(logins) -> None:
    path = "auth/userpass/users/ada/policies"
    for sent, found in (
        ({"token_policies": "A, b ,,B"}, {"token_policies": ["a", "b"]}),
        ({}, {"token_policies": ["a", "b"]}),
        ({"policies": "old"}, {"token_policies": ["old"], "policies": ["old"]}),
        ({"policies": "b1", "token_policies": "b2"}, {"token_policies": ["b2"], "policies": ["b2"]}),
        ({"token_policies": []}, {"token_policies": []}),
    ):
        assert logins.vault.post(path, sent).status == 204
        assert read(logins) == PLAIN | found


def test_who_may_create_may_not_change(logins) -> None:
    rule = 'path "auth/userpass/users/*" { capabilities = ["create"] }'
    logins.vault.post("sys/policies/acl/maker", {"policy": rule})
    token = logins.vault.post("auth/token/create", {"policies": ["maker"]}).auth["client_token"]
    path = "auth/userpass/users/new"
    assert logins.vault.post(path, {"password": "x"}, token=token).status == 204
    assert logins.vault.post(path, {"password": "y"}, token=token).status == 403
    assert logins.login("x", "new").ok


def test_a_counted_token_loses_one_use_for_one_user(logins) -> None:
    """The request is in two steps, as its password is hashed between them."""
    rule = 'path "auth/userpass/users/*" { capabilities = ["create", "update"] }'
    logins.vault.post("sys/policies/acl/maker", {"policy": rule})
    token = logins.vault.post("auth/token/create", {"policies": ["maker"], "num_uses": 2}).auth["client_token"]
    found = [logins.vault.post("auth/userpass/users/new", {"password": "x"}, token=token).status for _ in range(3)]
    assert found == [204, 204, 403]
