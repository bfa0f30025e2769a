"""A branch of a vault: it goes on from there, draws by itself, and neither notices what the other does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Cloud, Vault
from labkit.front.outside_lab import drawn_once
from labkit.vault.storage.memory import MemoryStorage

PLAIN = {"plaintext": "aGVsbG8="}


@pytest.fixture
def vault() -> Vault:
    made = Vault.dev(seed=7)
    made.post("secret/data/app", {"data": {"user": "ada"}})
    made.post("transit/keys/orders", {})
    return made


def test_it_holds_what_its_parent_held_and_is_opened_by_the_same_keys(vault: Vault) -> None:
    ciphertext = vault.post("transit/encrypt/orders", PLAIN).data["ciphertext"]
    branch = vault.branch("try")

    assert branch.get("secret/data/app").data["data"] == {"user": "ada"}
    assert branch.post("transit/decrypt/orders", {"ciphertext": ciphertext}).data == PLAIN
    assert (branch.root_token, branch.unseal_keys) == (vault.root_token, vault.unseal_keys)
    branch.put("sys/seal")
    branch.unseal_with(branch.unseal_keys[:3])
    assert branch.get("secret/data/app").ok
    assert not vault.sealed


def test_neither_notices_what_the_other_does(vault: Vault) -> None:
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    before = vault.files.read("/log")
    branch = vault.branch("try")
    branch.post("secret/data/app", {"data": {"user": "bob"}})
    branch.advance("2h")
    branch.files.block("/other")

    assert vault.get("secret/data/app").data["data"] == {"user": "ada"}
    assert (branch.now() - vault.now()) / 1e9 == 7_200
    assert (before or b"") in (branch.files.read("/log") or b"")
    assert vault.files.blocked == {}
    vault.post("secret/data/app", {"data": {"user": "eve"}})
    vault.post("secret/data/new", {"data": {}})
    assert branch.get("secret/data/app").data["data"] == {"user": "bob"}
    assert branch.get("secret/data/new").status == 404


def test_no_two_draw_the_same_and_each_draws_the_same_every_time(vault: Vault) -> None:
    branches = [vault.branch("a"), vault.branch("a"), vault.branch("b"), vault.branch("a").branch("a")]
    drawn = [one.post("transit/encrypt/orders", PLAIN).data["ciphertext"] for one in (vault, *branches)]

    assert len(set(drawn)) == 5
    again = Vault.dev(seed=7)
    again.post("secret/data/app", {"data": {"user": "ada"}})
    again.post("transit/keys/orders", {})
    assert again.branch("a").post("transit/encrypt/orders", PLAIN).data["ciphertext"] == drawn[1]


def test_a_parent_draws_as_if_it_had_no_branch(vault: Vault) -> None:
    twin = vault.branch("x")
    del twin
    alone = Vault.dev(seed=7)
    alone.post("secret/data/app", {"data": {"user": "ada"}})
    alone.post("transit/keys/orders", {})

    assert vault.post("transit/encrypt/orders", PLAIN).data == alone.post("transit/encrypt/orders", PLAIN).data


def test_one_of_real_time_draws_from_the_system() -> None:
    vault = Vault.dev()
    vault.post("transit/keys/orders", {})
    vault.advance("1h")
    branch = vault.branch("try")

    assert branch.post("transit/encrypt/orders", PLAIN).data != vault.post("transit/encrypt/orders", PLAIN).data
    assert abs(branch.now() - vault.now()) < 60 * 10**9


def test_its_cloud_is_a_copy_whose_machines_log_in(vault: Vault) -> None:
    machine = vault.cloud.vm("web-1")
    vault.post("auth/cloud/role/web", {"bound_locations": [machine.location]})
    branch = vault.branch("try")

    assert branch.cloud is not vault.cloud
    assert branch.cloud.vm("web-1").login(branch, role="web").ok
    branch.advance("30h")
    assert branch.cloud.clock() - vault.cloud.clock() == 30 * 3600 * 10**9
    branch.cloud.inventory.add_group("night", next(iter(branch.cloud.inventory.tenants.values())))
    assert len(branch.cloud.inventory.groups) == len(vault.cloud.inventory.groups) + 1
    assert vault.cloud.vm("web-1").login(vault, role="web").ok


def test_a_configuration_that_was_taken_away_stays_away(vault: Vault) -> None:
    assert vault.cloud.vm("web-1").name == "web-1"
    vault.delete("auth/cloud/config")
    branch = vault.branch("try")

    assert branch.cloud.vm("web-1").name == "web-1"
    assert branch.get("auth/cloud/config").status == 404


def test_a_cloud_that_nobody_asked_for_is_made_for_the_branch_only(vault: Vault) -> None:
    branch = vault.branch("try")

    assert branch.cloud.vm("web-1").name == "web-1"
    assert branch.get("auth/cloud/config").ok
    assert vault.get("auth/cloud/config").status == 404


def test_a_cloud_that_was_given_keeps_its_own_clock() -> None:
    cloud = Cloud.dev(seed=3, clock=lambda: 2 * 10**18)
    branch = Vault.dev(seed=7, cloud=cloud).branch("try")
    branch.advance("1h")

    assert branch.cloud is not cloud
    assert branch.cloud.clock() == 2 * 10**18


def test_its_key_store_is_a_copy(vault: Vault) -> None:
    vault.keystore.generate("orders")
    branch = vault.branch("try")
    branch.keystore.generate("more")

    assert (branch.keystore.labels, vault.keystore.labels) == (("more", "orders"), ("orders",))
    vault.keystore.generate("more")
    drawn = [one.keystore.state()["keys"]["more"] for one in (vault, branch)]
    assert drawn[0] != drawn[1]


def test_no_rsa_key_comes_twice_in_a_branch(vault: Vault) -> None:
    vault.post("transit/keys/r1", {"type": "rsa-2048"})
    branch = vault.branch("try")
    branch.post("transit/keys/r2", {"type": "rsa-2048"})
    keys = [next(iter(branch.get(f"transit/keys/{name}").data["keys"].values()))["public_key"] for name in ("r1", "r2")]

    assert keys[0] != keys[1]
    drawn = [drawn_once(one.core) for one in (vault, branch)]
    assert drawn[0] is not drawn[1] is not None


def test_one_of_a_file_is_in_memory(tmp_path: Path) -> None:
    vault = Vault.open(str(tmp_path / "lab.db"))
    vault.post("secret/data/app", {"data": {"user": "ada"}})
    branch = vault.branch("try")
    branch.post("secret/data/app", {"data": {"user": "bob"}})
    vault.close()

    assert branch.get("secret/data/app").data["data"] == {"user": "bob"}
    opened = Vault.open(str(tmp_path / "lab.db"))
    assert opened.get("secret/data/app").data["data"] == {"user": "ada"}
    opened.close()


def test_reset_brings_it_back_to_its_beginning(vault: Vault) -> None:
    branch = vault.branch("try")
    first = branch.post("transit/encrypt/orders", PLAIN).data
    branch.advance("1h")
    branch.reset()

    assert branch.now() == vault.now()
    assert branch.post("transit/encrypt/orders", PLAIN).data == first
    assert branch.get("secret/data/app").data["data"] == {"user": "ada"}


def test_it_begins_without_calls_and_failures_asked_for(vault: Vault) -> None:
    vault.fail_next(503)
    branch = vault.branch("try")

    assert len(branch.calls) == 0
    assert branch.get("secret/data/app").ok
    assert vault.get("secret/data/app").status == 503


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_name_is_asked_for(vault: Vault, name: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="a name for the branch"):
        vault.branch(name)


def test_one_on_a_clock_of_others_is_refused() -> None:
    environment = Vault.dev(seed=1).environment._replace(now=lambda: 0)
    vault = Vault(MemoryStorage(), environment)

    with pytest.raises(ValueError, match=r"branch the lab with lab\.branch"):
        vault.branch("try")
