"""What pages of other origins may do: preflights, answers that they may read, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.vault.cors import CONFIG

OURS = "https://app.example.org"
PREFLIGHT = {"Origin": OURS, "Access-Control-Request-Method": "LIST"}


@pytest.fixture
def vault() -> Vault:
    """A vault that one origin may use."""
    made = Vault.dev(seed=7)
    assert made.put("sys/config/cors", {"allowed_origins": OURS, "allowed_headers": "X-Team"}).ok
    return made


def ask(vault: Any, method: str, path: str, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return vault.request(method, path, headers={"X-Vault-Token": vault.root_token, **named})


def test_a_page_of_an_allowed_origin_may_read_answers_and_refusals(vault: Vault) -> None:
    for method, path, status in (("GET", "sys/mounts", 200), ("GET", "secret/data/no", 404), ("GET", "no/mount", 404)):
        answer = ask(vault, method, path, Origin=OURS.upper())
        assert answer.status == status
        assert answer.headers["Access-Control-Allow-Origin"] == OURS.upper()
        assert answer.headers["Vary"] == "Origin"
    assert vault.request("GET", "sys/mounts", headers={"origin": OURS}).headers["Vary"] == "Origin"  # 403: no token


def test_a_preflight_is_answered_without_token_and_route(vault: Vault) -> None:
    answer = vault.request("OPTIONS", "/v1/secret/data/app", headers=PREFLIGHT)

    assert (answer.status, answer.body) == (204, None)
    assert answer.headers["Access-Control-Allow-Origin"] == OURS
    assert {"LIST", "PATCH", "PUT"} <= set(answer.headers["Access-Control-Allow-Methods"].split(", "))
    assert {"X-Vault-Token", "X-Team"} <= set(answer.headers["Access-Control-Allow-Headers"].split(", "))
    assert answer.headers["Access-Control-Max-Age"] == "300"
    for method in ("TRACE", ""):
        refused = vault.request("OPTIONS", "sys/mounts", headers={**PREFLIGHT, "Access-Control-Request-Method": method})
        assert refused.status == 405


def test_a_page_of_another_origin_is_refused_before_its_token_is_looked_at(vault: Vault) -> None:
    token = vault.post("auth/token/create", {"num_uses": 1}).auth["client_token"]
    for origin in ("https://evil.example.org", "null", "", "https://app.example.org.evil.org"):
        answer = vault.request("GET", "sys/mounts", headers={"X-Vault-Token": token, "Origin": origin})
        assert (answer.status, answer.errors) == (403, ["origin not allowed"])
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert vault.post("auth/token/lookup", {"token": token}).data["num_uses"] == 1


def test_the_server_s_own_pages_are_never_foreign(vault: Vault) -> None:
    answer = ask(vault, "GET", "sys/mounts", Origin="http://127.0.0.1:8200", Host="127.0.0.1:8200")

    assert (answer.status, "Access-Control-Allow-Origin" in answer.headers) == (200, False)
    assert ask(vault, "GET", "sys/mounts", Origin="http://127.0.0.1:8201", Host="127.0.0.1:8200").status == 403
    assert ask(vault, "GET", "sys/mounts", Origin="http://", Host="").status == 403


def test_all_origins_may_be_allowed(vault: Vault) -> None:
    vault.put("sys/config/cors", {"allowed_origins": "*"})

    assert ask(vault, "GET", "sys/mounts", Origin="null").headers["Access-Control-Allow-Origin"] == "null"


def test_without_a_configuration_and_while_sealed_origins_mean_nothing(vault: Vault) -> None:
    plain = Vault.dev(seed=7)
    assert ask(plain, "GET", "sys/mounts", Origin=OURS).status == 200
    assert "Vary" not in ask(plain, "GET", "sys/mounts", Origin=OURS).headers
    assert plain.request("OPTIONS", "sys/mounts", headers=PREFLIGHT).status == 405
    vault.put("sys/seal")
    assert ask(vault, "GET", "sys/health", Origin="https://evil.example.org").status == 503


def test_a_damaged_configuration_refuses_nothing(vault: Vault) -> None:
    vault.core.storage.apply({CONFIG: b"damaged"}, 0)

    assert ask(vault, "GET", "sys/health", Origin="https://evil.example.org").status == 200


def test_it_holds_in_namespaces_and_beside_their_header(vault: Vault) -> None:
    vault.post("sys/namespaces/team")
    answer = ask(vault, "GET", "sys/mounts", Origin=OURS, X_Vault_Namespace="team")

    assert (answer.headers["X-Vault-Namespace"], answer.headers["Vary"]) == ("team/", "Origin")


def test_the_answer_to_a_request_that_fetched_names_the_origin_too() -> None:
    lab = Lab.pair(seed=7)
    paris, tokyo = lab["paris"], lab["tokyo"]
    paris.post("sys/replication/dr/primary/enable")
    token = paris.post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    tokyo.put("sys/config/cors", {"allowed_origins": OURS})
    enable = {"token": token, "primary_api_addr": "http://nowhere:8200"}
    sent = {"X-Vault-Token": tokyo.root_token, "Origin": OURS}
    answer = tokyo.request("POST", "sys/replication/dr/secondary/enable", enable, sent)

    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (503, OURS)
