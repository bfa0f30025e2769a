"""Help of a path is what its routes declare, for any valid token."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab, Vault


def replicating() -> Lab:
    """A pair of which one is the other's secondary."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab


def body_of(service: Vault, path: str) -> dict[str, Any]:
    """What a request for help answers."""
    answer = service.get(f"{path}?help=1")
    assert answer.status == 200, answer.errors
    assert answer.body is not None
    return answer.body


def test_a_path_is_described_with_its_operations_and_what_they_take(service: Vault) -> None:
    body = body_of(service, "transit/keys/orders")

    assert set(body) == {"help", "see_also", "openapi"}
    assert body["help"].startswith("Request:        transit/keys/orders\nMatching Route: ^keys/<name>$\n\n")
    for part in (
        "write: Create a key",
        "read: Return what a key is",
        "    name (name, required)\n",
        "    derived (boolean)\n",
    ):
        assert part in body["help"]
    assert list(body["openapi"]["paths"]) == ["/transit/keys/{name}"]
    assert set(body["openapi"]["paths"]["/transit/keys/{name}"]) >= {"get", "post", "delete"}


@pytest.mark.parametrize("path", ["secret", "transit", "auth/token", "sys/mounts", "sys/wrapping/wrap", "auth/approle"])
def test_no_help_has_marks_of_code(service: Vault, path: str) -> None:
    service.post("sys/auth/approle", {"type": "approle"})

    assert "``" not in body_of(service, path)["help"]


def test_what_answers_every_wrong_path_is_no_help(service: Vault) -> None:
    assert list(body_of(service, "secret/data/app")["openapi"]["paths"]) == ["/secret/data/{path}"]
    assert service.get("secret/nonsense?help=1").errors == ["1 error occurred:\n\t* unsupported path\n\n"]


def test_a_folder_has_the_help_of_its_listing(service: Vault) -> None:
    assert "list: " in body_of(service, "transit/keys")["help"]


@pytest.mark.parametrize("path", ["transit/", "transit"])
def test_a_mount_lists_its_paths(path: str, service: Vault) -> None:
    text = body_of(service, path)["help"]

    assert "The transit mount at transit/" in text
    assert "    ^keys/<name>$\n        write: Create a key" in text


def test_whoever_has_a_valid_token_is_helped(service: Vault) -> None:
    token = service.post("auth/token/create", {"policies": ["default"], "num_uses": 2}).auth["client_token"]

    assert service.get("secret/data/app", token=token).status == 403
    assert service.get("secret/data/app?help=1", token=token).status == 200
    assert service.get("secret/data/app?help=1", token=token).status == 403  # its uses are spent, as for any request
    assert service.get("secret/data/app?help=1", token="").status == 403


def test_what_is_blank_or_written_asks_for_no_help(service: Vault) -> None:
    assert service.get("secret/data/app?help=").status == 404
    assert service.post("secret/data/app?help=1", {"data": {"a": 1}}).data["version"] == 1


@pytest.mark.parametrize(
    ("path", "why"), [("nowhere/x", "no handler for route"), ("transit/no/such/path", "unsupported path")]
)
def test_a_path_that_nothing_answers_has_none(path: str, why: str, service: Vault) -> None:
    answer = service.get(f"{path}?help=1")

    assert answer.status == 404
    assert why in answer.errors[0]


def test_a_sealed_node_and_a_secondary_give_none(service: Vault) -> None:
    calm = replicating()
    assert calm["tokyo"].get("secret/data/app?help=1").status == 400
    assert calm["paris"].get("secret/data/app?help=1").status == 200
    service.post("sys/seal")
    assert service.get("secret/data/app?help=1", token=service.root_token).status == 503


def test_a_namespace_has_its_own_mounts_only(service: Vault) -> None:
    service.post("sys/namespaces/team")
    service.post("team/sys/mounts/kv", {"type": "kv", "options": {"version": "2"}})

    assert "data/<path>" in body_of(service, "team/kv/data/app")["help"]
    assert service.get("team/transit/keys/x?help=1").status == 404
    assert service.get("team/sys/rotate?help=1").status == 400


def test_records_name_the_operation(service: Vault) -> None:
    service.post("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
    body_of(service, "secret/data/app")

    assert '"operation":"help"' in service.files.lines["/audit.log"][-1].decode()
