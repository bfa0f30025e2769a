"""What stood beside a vault comes back at a reset: its own cloud, key store and files, as they were kept."""

from __future__ import annotations

import pytest

from labkit import Cloud, Vault
from labkit.front.keystore import KeyStore


@pytest.fixture
def vault() -> Vault:
    return Vault.dev(seed=7)


def add_machine(vault: Vault) -> None:
    """Add web-9 to a vault's cloud."""
    inventory = vault.cloud.inventory
    inventory.add_machine("web-9", inventory.machine("web-1").group, "westeurope")


def test_reset_brings_back_what_stood_beside_it(vault: Vault) -> None:
    vault.post("auth/cloud/role/web", {"bound_resource_groups": ["web"]})
    assert vault.cloud.vm("web-1").login(vault, role="web").ok
    vault.files.write("/mine", b"1")
    branch = vault.branch("try")
    add_machine(branch)
    branch.keystore.generate("k", "CKM_RSA_PKCS", 2048)
    branch.files.write("/other", b"2")
    names = [each.branch("same").post("auth/token/create").auth for each in (branch, branch)]

    for _ in range(2):
        branch.reset()
        assert branch.cloud.vm("web-1").login(branch, role="web").ok
        assert "web-9" not in [record.name for record in branch.cloud.inventory.machines.values()]
        assert branch.files.names() == ("/mine",)
        branch.keystore.generate("k", "CKM_RSA_PKCS", 2048)
        assert [each.branch("same").post("auth/token/create").auth for each in (branch, branch)] == names
    assert "web-9" not in [record.name for record in vault.cloud.inventory.machines.values()]
    assert vault.files.names() == ("/mine",)


def test_reset_of_one_leaves_alone_what_its_parent_was_given() -> None:
    cloud = Cloud.dev(seed=3)
    branch = Vault.dev(seed=7, cloud=cloud).branch("try")
    add_machine(branch)
    branch.reset()

    assert branch.cloud is not cloud
    assert len(branch.cloud.inventory.machines) == len(cloud.inventory.machines)


def test_what_is_kept_twice_is_not_made_between() -> None:
    vault = Vault.dev()
    add_machine(vault)
    vault.keystore.generate("k", "CKM_RSA_PKCS", 2048)
    tenant = vault.cloud.config["tenant_id"]
    for _ in range(3):
        vault.keep_for_reset()

    assert vault.cloud.config["tenant_id"] == tenant
    assert "web-9" in [record.name for record in vault.cloud.inventory.machines.values()]
    with pytest.raises(ValueError, match="a key named 'k' exists already"):
        vault.keystore.generate("k", "CKM_RSA_PKCS", 2048)


def test_a_cloud_of_a_seed_goes_on_where_it_was_kept() -> None:
    vault = Vault.dev(seed=7)
    add_machine(vault)
    vault.keep_for_reset()
    drawn = []
    for _ in range(2):
        drawn.append(vault.cloud.inventory.add_tenant().tenant_id)
        vault.reset()

    assert drawn[0] == drawn[1]
    assert drawn[0] not in vault.cloud.inventory.tenants


def test_what_was_given_stays_as_it_is() -> None:
    cloud, store = Cloud.dev(seed=3), KeyStore.dev(seed=3)
    vault = Vault.dev(seed=7, cloud=cloud, keystore=store)
    vault.keep_for_reset()

    assert (vault.cloud, vault.keystore) == (cloud, store)
