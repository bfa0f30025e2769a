"""Operation calls: one that is carried out without a valid token is found, whatever its check said."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import OPERATION_TOKEN
from labkit.vault.replication.trust import operation_token

DR = "sys/replication/dr/secondary/"
POLICY = 'path "sys/replication/dr/secondary/merkle-check" { capabilities = ["update"] }'


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[OPERATION_TOKEN]
    return "" if violation is None else violation.detail


def call(lab: Lab, operation: str, token: str | None):
    """Make a protected call of tokyo."""
    body = {} if token is None else {"dr_operation_token": token}
    return lab["tokyo"].post(DR + operation, body, token="")


@pytest.fixture
def unguarded(monkeypatch):
    """Plant a check that lets every token pass."""
    monkeypatch.setattr(operation_token, "check", lambda ctx, token: None)


def test_what_is_refused_is_no_occasion_and_what_is_allowed_holds(calm):
    assert call(calm, "merkle-check", "hvs.wrong").status == 403
    assert not calm.invariants.applies(OPERATION_TOKEN)
    token = calm["tokyo"].operation_token()
    for operation in ("merkle-check", "reindex", "recover", "promote", "operation-token/delete"):
        call(calm, operation, token).raise_for_status()
        calm.run("5s")

    assert calm.invariants.applies(OPERATION_TOKEN)
    assert not found(calm)


@pytest.mark.parametrize("operation", ["promote", "disable", "merkle-check", "reindex", "recover"])
@pytest.mark.parametrize(
    ("token", "why"), [(None, "without an operation token"), ("hvs.x", "with a token that is not its operation token")]
)
def test_a_call_that_no_token_allows_is_found(calm, unguarded, operation, token, why):
    call(calm, operation, token).raise_for_status()

    assert found(calm) == f"tokyo-1 of tokyo carried {operation} out {why}"


@pytest.mark.parametrize("path", ["//sys/replication//dr/secondary/%6derkle-check", "v1/" + DR + "merkle-check?a=b"])
def test_a_call_is_known_however_its_path_is_written(calm, unguarded, path):
    calm["tokyo"].request("POST", f"/{path}", json={}).raise_for_status()

    assert found(calm) == "tokyo-1 of tokyo carried merkle-check out without an operation token"


def test_a_token_that_was_deleted_or_replaced_is_found(calm, monkeypatch):
    first = calm["tokyo"].operation_token()
    second = calm["tokyo"].operation_token()
    call(calm, "operation-token/delete", second).raise_for_status()
    assert not found(calm)
    monkeypatch.setattr(operation_token, "check", lambda ctx, token: None)
    other = Lab.restore(calm.snapshot())
    call(calm, "merkle-check", first)
    call(other, "merkle-check", second)

    assert (
        found(calm)
        == found(other)
        == "tokyo-1 of tokyo carried merkle-check out " + ("with a token that is not its operation token")
    )


def test_a_batch_token_allows_what_its_policies_allow_until_it_expires(calm, monkeypatch):
    paris = calm["paris"]
    paris.put("sys/policies/acl/checks", {"policy": POLICY})
    made = {"type": "batch", "policies": ["checks"], "ttl": "10m"}
    token = paris.post("auth/token/create", made).auth["client_token"]
    calm.run("1s")
    call(calm, "merkle-check", token).raise_for_status()
    assert not found(calm)

    monkeypatch.setattr(operation_token, "check", lambda ctx, token: None)
    late = Lab.restore(calm.snapshot())
    call(calm, "recover", token).raise_for_status()
    assert found(calm).endswith("with a batch token whose policies do not allow it")
    late.run("11m")
    call(late, "merkle-check", token).raise_for_status()
    assert found(late).endswith("with a batch token that is not valid")


def test_a_cluster_that_left_its_set_has_no_token_any_more(calm, unguarded):
    token = calm["tokyo"].operation_token()
    call(calm, "disable", token).raise_for_status()
    assert not found(calm)
    calm.replicate("paris", "tokyo")
    call(calm, "merkle-check", token).raise_for_status()

    assert found(calm).endswith("with a token that is not its operation token")
