"""The API of what is mounted now: who is told of what, and that every documented operation is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from labkit import Vault

SPECS = "sys/internal/specs/openapi"
NO_ROUTE = "1 error occurred:\n\t* unsupported path\n\n"
UNSUPPORTED = "1 error occurred:\n\t* unsupported operation\n\n"

DESCRIBED: Any = Vault.dev().get(SPECS).body
OPERATIONS = [(method, path) for path, item in DESCRIBED["paths"].items() for method in item if method != "parameters"]


def roots(document: dict) -> list[str]:
    """The first segments of all paths."""
    return sorted({path.split("/")[1] for path in document["paths"]})


def test_what_is_mounted_now_is_described(service) -> None:
    answer = service.get(SPECS)
    assert (answer.status, answer.body["openapi"]) == (200, "3.0.3")
    assert answer.body["info"]["version"] == service.core.settings.version
    assert roots(answer.body) == ["auth", "cubbyhole", "secret", "sys", "transit"]
    validate(answer.body)

    service.post("sys/mounts/old", {"type": "kv"})
    service.delete("sys/mounts/transit")
    assert roots(service.get(SPECS).body) == ["auth", "cubbyhole", "old", "secret", "sys"]


def test_no_token_is_needed_for_what_is_no_secret(service) -> None:
    answer = service.get(SPECS, token="")
    assert answer.status == 200
    assert roots(answer.body) == ["auth", "cubbyhole", "sys"]
    service.post("sys/mounts/secret/tune", {"listing_visibility": "unauth"})
    assert roots(service.get(SPECS, token="").body) == ["auth", "cubbyhole", "secret", "sys"]
    assert service.get(SPECS, token="nonsense").status == 403


def test_a_token_is_told_what_its_policies_reach(service) -> None:
    service.put("sys/policies/acl/p", {"policy": 'path "transit/encrypt/app" { capabilities = ["update"] }'})
    token = service.post("auth/token/create", {"policies": ["p"], "no_default_policy": True}).auth["client_token"]
    assert roots(service.get(SPECS, token=token).body) == ["auth", "cubbyhole", "sys", "transit"]


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{method} {path}" for method, path in OPERATIONS])
@pytest.mark.slow
def test_every_documented_operation_is_there(service, method: str, path: str) -> None:
    parameters = DESCRIBED["paths"][path][method].get("parameters", [])
    listing = any(told["name"] == "list" and told["required"] for told in parameters)
    asked = re.sub(r"{\w+}", "x", path) + ("?list=true" if listing else "")
    headers = {"X-Vault-Token": service.root_token}
    if method == "patch":
        headers["Content-Type"] = "application/merge-patch+json"
    answer = service.request(method.upper(), f"/v1{asked}", json={}, headers=headers)
    assert answer.status != 405
    assert not {NO_ROUTE, UNSUPPORTED} & set(answer.errors)
    for text in answer.errors + answer.warnings:
        assert not text.startswith(("no handler for route", "Invalid path for a versioned")), text


def test_a_sealed_node_describes_nothing(service) -> None:
    service.put("sys/seal")
    assert service.get(SPECS).status == 503


def test_the_manual_is_loaded_when_it_is_asked_for(checkout: Path) -> None:
    code = (
        "import sys\nfrom labkit import Vault\nvault = Vault.dev()\nvault.get('sys/internal/ui/mounts')\n"
        "print('labkit.service.openapi' in sys.modules)\nvault.get('sys/internal/specs/openapi')\n"
        "print('labkit.service.openapi' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]


def test_a_namespace_is_described_without_what_is_about_the_cluster(service) -> None:
    service.post("sys/namespaces/team")
    service.post("sys/mounts/kv", {"type": "kv"}, namespace="team")
    inside = set(service.get("sys/internal/specs/openapi", namespace="team").body["paths"])
    root = set(service.get("sys/internal/specs/openapi").body["paths"])

    assert {"/sys/namespaces/{name}", "/kv/{path}", "/sys/health", "/auth/token/create"} <= inside
    assert not {path for path in inside if path.startswith(("/transit", "/secret", "/sys/audit", "/sys/unseal"))}
    assert {"/sys/audit", "/sys/unseal", "/sys/replication/dr/status"} <= root
    assert "/sys/replication/dr/status" in inside


def test_what_is_about_the_cluster_takes_no_namespace() -> None:
    namespace = {"$ref": "#/components/parameters/Namespace"}
    taking = {path for path, item in DESCRIBED["paths"].items() if namespace in item.get("parameters", [])}
    assert {"/secret/data/{path}", "/sys/mounts", "/auth/token/create"} <= taking
    assert not {"/sys/rotate", "/sys/audit", "/sys/replication/dr/primary/enable"} & taking
