"""Logging in with a name and a password: what is judged in which order, and what is judged again after hashing."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Fetch, Request, Response, Suspended
from labkit.vault import password_hashing
from tests.refusals import refused_bare

WRONG = "invalid username or password"


def test_the_token_is_as_the_user_says(logins) -> None:
    logins.user(token_policies=["b", "A"], token_ttl="10m", token_num_uses=4)
    auth = logins.login(name="ADA").auth

    assert auth["policies"] == auth["token_policies"] == ["a", "b", "default"]
    assert auth["metadata"] == {"username": "ada"}
    assert (auth["lease_duration"], auth["num_uses"], auth["renewable"], auth["orphan"]) == (600, 4, True, True)
    found = logins.vault.post("auth/token/lookup-accessor", {"accessor": auth["accessor"]}).data
    assert (found["path"], found["display_name"]) == ("auth/userpass/login/ADA", "userpass-ada")


def test_a_user_who_is_made_again_is_the_same_entity(logins) -> None:
    first = logins.login().auth["entity_id"]
    logins.vault.delete("auth/userpass/users/ada")
    logins.user(password="right")
    logins.user("bob", password="right")
    assert logins.login().auth["entity_id"] == first != logins.login(name="bob").auth["entity_id"]


@pytest.mark.parametrize(
    ("password", "name", "text"),
    [
        ("", "ada", "missing password"),
        (None, "ada", "missing password"),
        ("", "none", "missing password"),
        ("wrong", "ada", WRONG),
        ("right ", "ada", WRONG),
        ("x" * 9_000, "ada", WRONG),
        ("right", "none", WRONG),
        ("x" * 9_000, "none", WRONG),
    ],
)
def test_what_is_missing_or_wrong(logins, password: Any, name: str, text: str) -> None:
    before = logins.vault.core.commits
    assert refused_bare(logins.login(password, name), text)
    assert logins.vault.core.commits == before


@pytest.mark.parametrize("password", [["right"], {"a": 1}])
def test_a_password_is_text(logins, password: Any) -> None:
    assert logins.login(password).errors[0].startswith("Field validation failed: error converting input for field")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "login/ada", 405),
        ("DELETE", "login/ada", 405),
        ("LIST", "login", 404),
        ("POST", "login/ada/x", 404),
        ("POST", "login/a@b", 404),
        ("POST", "login", 403),
        ("GET", "users/ada", 403),
    ],
)
def test_other_paths_without_a_token(logins, method: str, path: str, status: int) -> None:
    assert logins.vault.request(method, f"/v1/auth/userpass/{path}").status == status


def test_a_right_password_from_elsewhere_is_refused_and_not_counted(logins) -> None:
    logins.user(token_bound_cidrs="10.0.0.0/8")
    for _ in range(6):
        assert logins.login(remote_address="127.0.0.1").errors == ["permission denied"]
    assert logins.login("wrong", remote_address="127.0.0.1").status == 400
    assert logins.login(remote_address="10.0.0.1").ok


def test_no_login_makes_a_root_token(logins) -> None:
    logins.user(token_policies="Root ,x")
    assert refused_bare(logins.login(), "auth methods cannot create root tokens")


def test_an_unknown_user_is_hashed_for_too(logins, monkeypatch) -> None:
    asked: list[str] = []
    answer = password_hashing.answer

    def noted(fetch: Fetch) -> Response:
        asked.append(fetch.request.path)
        return answer(fetch)

    monkeypatch.setattr(password_hashing, "answer", noted)
    logins.login("right", "none")
    logins.login("wrong")
    assert asked == ["scrypt", "scrypt"]


def suspended(logins, password: str = "right") -> Suspended:
    request = Request("POST", "/v1/auth/userpass/login/ada", {}, {"password": password})
    outcome = logins.vault.handle(request)
    assert isinstance(outcome, Suspended)
    return outcome


def finished(logins, outcome: Any) -> Any:
    while isinstance(outcome, Suspended):
        outcome = logins.vault.resume(outcome, password_hashing.answer(outcome.fetch))
    return outcome


def test_a_password_that_changed_meanwhile_is_judged_again(logins) -> None:
    old, new = suspended(logins), suspended(logins, "new")
    logins.vault.post("auth/userpass/users/ada/password", {"password": "new"})
    assert finished(logins, old).status == 400
    assert finished(logins, new).status == 200


def test_a_user_who_went_or_was_locked_meanwhile_is_refused(logins) -> None:
    waits = suspended(logins)
    for _ in range(5):
        logins.login("wrong")
    assert finished(logins, waits).status == 403
    waits = suspended_of_other(logins)
    logins.vault.delete("auth/userpass/users/bob")
    assert finished(logins, waits).status == 400


def suspended_of_other(logins) -> Suspended:
    logins.user("bob", password="right")
    outcome = logins.vault.handle(Request("POST", "/v1/auth/userpass/login/bob", {}, {"password": "right"}))
    assert isinstance(outcome, Suspended)
    return outcome


def test_many_guesses_at_once_are_counted_one_by_one(logins) -> None:
    """Five are hashed at the same time as a right one: what comes behind them finds the lock."""
    guesses = [suspended(logins, "wrong") for _ in range(5)]
    right = suspended(logins)
    assert [finished(logins, guess).status for guess in guesses] == [400] * 5
    assert finished(logins, right).status == 403


def test_a_waiting_request_is_plain_data_from_which_it_goes_on(logins) -> None:
    """Without the live generator it is replayed from its tape (R2)."""
    waits = suspended(logins)
    logins.vault.core.caches.generators.clear()
    assert finished(logins, waits).status == 200
    assert "right" not in repr(waits)


def test_a_wrapped_answer_is_named_by_its_token(logins) -> None:
    wrapped = logins.login(headers={"X-Vault-Wrap-TTL": "60s"})
    inside = logins.vault.post("sys/wrapping/unwrap", {}, token=wrapped.wrap_info["token"])
    assert inside.auth["accessor"] == wrapped.wrap_info["wrapped_accessor"]


def test_in_a_namespace_the_token_is_named_after_it(logins) -> None:
    logins.vault.post("sys/namespaces/team")
    team = {"X-Vault-Namespace": "team"}
    logins.vault.post("sys/auth/people", {"type": "userpass"}, headers=team)
    logins.vault.post("auth/people/users/ada", {"password": "x"}, headers=team)
    auth = logins.vault.post("team/auth/people/login/ada", {"password": "x"}, token="").auth
    found = logins.vault.post("auth/token/lookup-accessor", {"accessor": auth["accessor"]}, headers=team).data
    assert found["display_name"] == "team-auth-people-ada"
    assert logins.vault.post("auth/people/login/ada", {"password": "x"}, token="").status == 403


def test_unknown_names_are_not_counted(logins) -> None:
    for _ in range(9):
        assert refused_bare(logins.login("x", "later"), WRONG)
    logins.user("later", password="right")
    assert logins.login(name="later").ok
    assert logins.vault.state()["login_failures"] == {}
