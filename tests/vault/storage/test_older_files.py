"""SQLite files that an earlier version made: they open, unseal and hold what they held, also those of a DR pair.

``tests/vectors/older_files`` has a vault by itself, and the primary and secondary of a pair, each packed, and what was
asked of them when they were made.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "older_files"
FACTS = json.loads((FOLDER / "facts.json").read_text())
CLOCKS = {"alone": 1_795_416_160, "paris": 1_893_456_600, "tokyo": 1_893_456_600}  # soon after each was made

Opens = Callable[[str], Vault]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opens]:
    """Opens a file by its name, again where it was opened before."""
    vaults: dict[str, Vault] = {}

    def open_file(name: str) -> Vault:
        path = tmp_path / f"{name}.db"
        if name in vaults:
            vaults.pop(name).close()
        else:
            path.write_bytes(lzma.decompress((FOLDER / f"{name}.db.xz").read_bytes()))
        vaults[name] = Vault.open(str(path), clock=lambda: CLOCKS[name] * 1_000_000_000)
        return vaults[name]

    yield open_file
    for vault in vaults.values():
        vault.close()


def check(vault: Vault, facts: dict[str, Any]) -> None:
    """Ask for everything that was put into a file."""
    assert not vault.sealed
    assert vault.root_token == facts["root"]
    assert vault.get("secret/data/app").data["data"] == {"user": "ada", "n": 2}
    assert vault.get("secret/data/app?version=1").data["data"] == {"user": "ada", "n": 1}
    assert vault.get("secret/data/folder/other").status == 404
    assert vault.list("secret/metadata").data["keys"] == ["app", "folder/"]
    assert vault.get("kv1/a").data == {"x": "y"}
    assert vault.get("secret/data/t", namespace="team").data["data"] == {"t": 1}
    assert vault.post("transit/decrypt/k", {"ciphertext": facts["ciphertext"]}).data == {"plaintext": "aGk="}
    assert vault.get("transit/keys/k").data["latest_version"] == 2
    policies = ["default", "reader", "writer", "root"]
    assert vault.list("sys/policies/acl").data["keys"] == policies
    assert vault.list("sys/policies/acl", namespace="team").data["keys"] == ["default", "mine", "root"]
    assert vault.get("sys/policies/acl/gone").status == 404
    assert facts["accessor"] in vault.list("auth/token/accessors").data["keys"]
    assert vault.get("secret/data/app", token=facts["token"]).ok
    assert vault.post("secret/data/app", {"data": {}}, token=facts["token"]).status == 403
    assert vault.get("sys/quotas/rate-limit/g").data["rate"] == 1_000
    assert vault.get("auth/token/roles/r").data["allowed_policies"] == ["reader"]


def change(vault: Vault) -> None:
    """Write to what has earlier forms."""
    vault.put("sys/policies/acl/new", {"policy": 'path "x" { capabilities = ["read"] }'})
    vault.put("sys/policies/acl/mine", {"policy": 'path "x" { capabilities = ["read"] }'}, namespace="team")
    vault.delete("sys/policies/acl/new")
    assert not [key for key in vault.core.storage.keys() if key.endswith("policy/index")]  # noqa: SIM118  # no dict
    assert vault.post("sys/mounts/later", {"type": "kv"}).status == 204
    assert vault.delete("sys/mounts/later").status == 204


@pytest.mark.parametrize(("name", "facts"), [("alone", "alone"), ("paris", "pair")])
def test_a_file_of_an_earlier_version_holds_what_it_held(opened: Opens, name: str, facts: str) -> None:
    check(opened(name), FACTS[facts])
    change(opened(name))
    check(opened(name), FACTS[facts])


def test_the_files_of_a_pair_are_a_pair(opened: Opens) -> None:
    primary, secondary = opened("paris"), opened("tokyo")
    assert primary.get("sys/replication/dr/status").data["mode"] == "primary"
    assert list(primary.get("sys/replication/dr/status").data["known_secondaries"]) == ["tokyo"]
    assert secondary.get("sys/replication/dr/status").data["mode"] == "secondary"
    assert secondary.get("sys/health").status == 472
    assert secondary.get("secret/data/app").status == 400
    assert merkle_root(primary) == merkle_root(secondary) != ""

    change(primary)
    assert merkle_root(primary) != merkle_root(secondary)


def merkle_root(vault: Vault) -> str:
    root: str = vault.get("sys/replication/dr/status").data["merkle_root"]
    return root
