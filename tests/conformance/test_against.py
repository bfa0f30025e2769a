"""The recorded questions, asked of a server: what differs is printed, and what was made is removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from labkit import Vault
from tests.conformance import against
from tests.conformance.conftest import Verdict
from tests.conformance.test_replay import OTHERWISE_IN_A_LAB

CONTENTS = {
    "sys/mounts": "GET",
    "sys/auth": "GET",
    "sys/policies/acl": "LIST",
    "sys/namespaces": "LIST",
    "auth/token/roles": "LIST",
    "auth/token/accessors": "LIST",
    "identity/entity/id": "LIST",
}
FEW = ("core", "kv2", "logins.approle.namespace", "logins.userpass.namespace", "logins.approle.paths")


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Vault, str]]:
    """A vault and its address, for all tests of this file."""
    vault = Vault.dev(seed=7)
    with vault.serve() as url:
        yield vault, url


@pytest.fixture
def vault(served: tuple[Vault, str]) -> Vault:
    return served[0]


@pytest.fixture
def url(served: tuple[Vault, str]) -> str:
    return served[1]


def contents(vault: Vault) -> dict[str, Any]:
    """What a run could leave behind."""
    return {path: vault.request(method, f"/v1/{path}", headers=root(vault)).body for path, method in CONTENTS.items()}


def root(vault: Vault) -> dict[str, str]:
    return {"X-Vault-Token": vault.root_token}


def without_ids(bodies: dict[str, Any]) -> dict[str, Any]:
    return {path: body.get("data", body.get("errors")) for path, body in bodies.items()}


@pytest.mark.slow
def test_a_served_vault_answers_as_recorded_and_keeps_nothing(
    vault: Vault, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = without_ids(contents(vault))
    code = against.main([url, vault.root_token, *FEW])

    out = capsys.readouterr().out.splitlines()
    assert code == 0, out
    assert [line.partition(":")[0] for line in out] == ["server", "labkit"]
    assert without_ids(contents(vault)) == before


def test_what_differs_is_named_with_who_differs(vault: Vault, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    vault.fail_next(503, path="sys/seal-status", method="GET")
    code = against.main([f"{url}/", vault.root_token, "core.seal-status"])

    out = capsys.readouterr().out
    assert code == 1
    assert out.startswith("core.seal-status: server otherwise than recorded\n")
    assert "\n    server, step 0: GET /v1/sys/seal-status: status 503, not 200" in out
    assert "\nserver: 0 of 1 cases as recorded;" in out
    assert "\nlabkit: 1 of 1 cases as recorded;" in out


def test_a_difference_of_labkit_and_one_known_of_clusters_are_named() -> None:
    worse = Verdict(["step 1: status 400, not 200"], ["a text"])
    same = Verdict([], [])

    assert against.report([against.Answered("core.seal-status", same, worse), against.Answered("b", same, same)]) == [
        "core.seal-status: labkit otherwise than recorded",
        f"    (a cluster of a lab differs too: {OTHERWISE_IN_A_LAB['core.seal-status']})",
        "    labkit, step 1: status 400, not 200",
        "server: 2 of 2 cases as recorded; 0 texts and members differ softly",
        "labkit: 1 of 2 cases as recorded; 1 texts and members differ softly",
    ]


def test_what_is_left_is_named(vault: Vault, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    vault.fail_next(500, path="sys/mounts/*", method="DELETE", times=2)
    code = against.main([url, vault.root_token, "kv2.read"])

    assert code == 1
    assert "is left: its removal was answered 500" in capsys.readouterr().out


def test_an_entity_that_a_refused_login_made_is_removed() -> None:
    """A server makes the entity before it refuses the token, and names it in no answer."""
    alias = {"mount_accessor": "auth_approle_1", "canonical_id": "made"}
    others = {"x": {"mount_accessor": "auth_approle_2", "canonical_id": "before"}}
    bodies = {
        "/v1/sys/auth/a": {"data": {"accessor": "auth_approle_1"}},
        "/v1/identity/entity-alias/id": {"data": {"keys": ["x", "y"], "key_info": {**others, "y": alias}}},
    }
    sent: list[tuple[str, str]] = []

    def ask(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        sent.append((method, path))
        return (400, {"errors": ["no"]}) if path.endswith("login") else (200, bodies.get(path))

    remembering = against.Remembering(ask, "root")
    remembering("POST", "/v1/sys/auth/a", {"type": "approle"}, {})
    remembering("POST", "/v1/auth/a/login", {}, {})

    assert remembering.remove() == []
    assert [path for method, path in sent if method == "DELETE"] == ["/v1/sys/auth/a", "/v1/identity/entity/id/made"]


def test_a_mount_that_is_refused_is_a_difference_and_not_the_end(
    vault: Vault, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    vault.fail_next(400, path="sys/mounts/*", method="POST")
    code = against.main([url, vault.root_token, "kv2.read"])

    assert code == 1
    assert "server, could not be asked: AssertionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "expected a URL and a token: make conformance URL=http://127.0.0.1:8200 TOKEN=…"),
        (["", ""], "expected a URL and a token"),
        (["http://127.0.0.1:1", ""], "expected a URL and a token"),
        (["127.0.0.1:8200", "t"], "expected a URL and a token"),
        (["http://127.0.0.1:1", "t", "none."], "none begins with ['none.']"),
        (["http://127.0.0.1:1", "t"], "http://127.0.0.1:1 cannot be asked: ConnectionError"),
    ],
)
def test_who_cannot_be_asked_is_named_in_one_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert against.main(arguments) == 2

    shown = capsys.readouterr()
    assert text in shown.err
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def test_a_token_that_is_refused_ends_it(vault: Vault, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert against.main([url, "wrong"]) == 2

    assert capsys.readouterr().err == f"{url}: expected a token that may do anything, got one that is answered 403\n"
